package sandbox_test

import (
	"crypto"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/storage/bolt"
)

const account = "an account"

func openStore(t testing.TB) *bolt.DB {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "store.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func open(t *testing.T) (*sandbox.Sandbox, *bolt.DB) {
	t.Helper()
	db := openStore(t)
	s, err := sandbox.Open(t.Context(), db.Sandbox(), db, sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s, db
}

// person makes a user who answers after the delay.
func person(t *testing.T, s *sandbox.Sandbox, delay time.Duration) idp.Person {
	t.Helper()
	name, kennitala, phone := "Sandbox Signer", "0101302989", "5550101"
	_, err := s.Create(t.Context(), account, sandbox.Profile{FullName: &name, Kennitala: &kennitala, Phone: &phone, Delay: &delay})
	if err != nil {
		t.Fatal(err)
	}
	return idp.Person{Account: account, Kennitala: kennitala, Phone: phone}
}

// What is left of the delay is what nobody need ask for (spec 6.2). The app's
// first poll has the code, and is to be made whatever the delay.
func TestRetryAfter(t *testing.T) {
	second := time.Second
	for _, test := range []struct {
		method idp.Method
		delay  time.Duration
		want   []string // of the start, and of polls three seconds apart
	}{
		{idp.App, 0, []string{"waiting 0s", "waiting 1234 0s", "digest"}},
		{idp.App, 4 * second, []string{"waiting 0s", "waiting 1234 1s", "digest"}},
		{idp.App, 10 * second, []string{"waiting 0s", "waiting 1234 7s", "waiting 1234 4s", "waiting 1234 1s", "digest"}},
		{idp.SIM, 0, []string{"waiting 1234 0s", "signed"}},
		{idp.SIM, 3 * second, []string{"waiting 1234 3s", "signed"}},
		{idp.SIM, 7 * second, []string{"waiting 1234 7s", "waiting 1234 4s", "waiting 1234 1s", "signed"}},
	} {
		t.Run(fmt.Sprint(test.method, " ", test.delay), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := open(t)
				p := person(t, s, test.delay)
				p.Method = test.method
				state, event, err := s.Begin(t.Context(), "key", p, idp.Text{}, nil)
				if _, known := event.(idp.NeedDigest); known && err == nil { // the SIM's certificate is
					state, event, err = s.Sign(t.Context(), state, []ades.Digest{ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}.Digest(nil)})
				}
				got := []string{named(event)}
				for range len(test.want) - 1 {
					if err != nil {
						t.Fatal(err)
					}
					time.Sleep(3 * time.Second)
					state, event, err = s.Poll(t.Context(), state)
					got = append(got, named(event))
				}
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func named(e idp.Event) string {
	switch e := e.(type) {
	case idp.Waiting:
		if e.Code == "" {
			return fmt.Sprint("waiting ", e.RetryAfter)
		}
		return fmt.Sprint("waiting ", e.Code, " ", e.RetryAfter)
	case idp.NeedDigest:
		return "digest"
	case idp.Signed:
		return "signed"
	}
	return fmt.Sprintf("%#v", e)
}
