package main

import (
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
)

// A test user signs when asked who has action Success and no delay, for the user's own account
// (service.md 4.4 item 11).
func TestTestPeople(t *testing.T) {
	s := openServer(t, place{path: filepath.Join(t.TempDir(), "store.db")}, slog.New(slog.DiscardHandler))
	people := testPeople{s.db.Sandbox()}
	name, kennitala, phone := "Sandbox Signer", "010130-2989", "5550101"
	u, err := s.signers.users.Create(t.Context(), sandboxAccount, sandbox.Profile{FullName: &name, Kennitala: &kennitala, Phone: &phone})
	if err != nil {
		t.Fatal(err)
	}
	want := idp.Person{Account: sandboxAccount, Method: idp.App, Kennitala: "0101302989", Phone: "5550101"}
	success, cancel, none, second := sandbox.Success, sandbox.Cancel, time.Duration(0), time.Second
	for _, test := range []struct {
		action *sandbox.Action
		delay  *time.Duration
		ready  bool
	}{{&success, &none, true}, {&cancel, &none, false}, {&success, &second, false}, {&cancel, &second, false}} {
		if err := s.signers.users.Update(t.Context(), sandboxAccount, u.ID, sandbox.Profile{Action: test.action, Delay: test.delay}); err != nil {
			t.Fatal(err)
		}
		got, ready, err := people.TestPerson(t.Context(), sandboxAccount, u.ID)
		if diff := cmp.Diff(want, got); diff != "" || ready != test.ready || err != nil {
			t.Errorf("%s after %v: ready %t, %v\n%s", *test.action, *test.delay, ready, err, diff)
		}
	}
	for owner, id := range map[string]string{sandboxAccount: "nobody", "another account": u.ID} {
		if _, ready, err := people.TestPerson(t.Context(), owner, id); !errors.Is(err, portal.ErrNotFound) || ready {
			t.Errorf("%s of %s: %t, %v", id, owner, ready, err)
		}
	}
}

// Signatures to order are those of the Portal API.
func TestLedgerOfBothAPIs(t *testing.T) {
	s := openServer(t, place{path: filepath.Join(t.TempDir(), "store.db")}, slog.New(slog.DiscardHandler))
	owner, err := s.accounts.CreateAccount(t.Context(), "owner")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, time.November, 14, 12, 0, 0, 0, time.UTC)
	for request, ordered := range map[string]bool{"a": false, "b": true, "c": true} {
		if err := (ledger{s.accounts}).Signed(t.Context(), owner.ID, request, ordered, at); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.accounts.Statement(t.Context(), owner.ID, at); err != nil || got.Signing != 1 || got.Portal != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := (terms{s.accounts}).Terms(t.Context(), owner.ID); err != nil || got != (portal.Terms{Quota: owner.Quota}) {
		t.Errorf("%+v, %v", got, err)
	}
}
