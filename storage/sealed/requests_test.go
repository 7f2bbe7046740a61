package sealed_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/sealed"
)

var expires = time.Date(2030, 3, 1, 12, 30, 15, 0, time.UTC)

// request returns a request in a phase, with a secret.
func request(id string, phase signing.Phase, secret []byte) signing.Request {
	now := time.Now().UTC().Truncate(time.Microsecond)
	return signing.Request{ID: id, Account: owner, CreatedAt: now, UpdatedAt: now, Expires: now, Phase: phase, State: idp.State{Provider: "other", Secret: secret}}
}

func (d deployment) create(t *testing.T, store signing.Store, r signing.Request) {
	t.Helper()
	if err := d.db.InTx(t.Context(), func(ctx context.Context) error { return store.CreateRequest(ctx, r) }); err != nil {
		t.Fatal(err)
	}
}

func (d deployment) keep(t *testing.T, store signing.Store, person string, certificate []byte) {
	t.Helper()
	err := d.db.InTx(t.Context(), func(ctx context.Context) error {
		return store.KeepCertificate(ctx, signing.KeptCertificate{Person: person, Certificate: certificate, Expires: expires})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wantCertificate fails the test unless the store returns the person's certificate, or storage.ErrNotFound for nil.
func (d deployment) wantCertificate(t *testing.T, store signing.Store, person string, want []byte) {
	t.Helper()
	got, err := store.KeptCertificate(t.Context(), person)
	if want == nil {
		if !errors.Is(err, storage.ErrNotFound) || got.Certificate != nil {
			t.Errorf("%s: %q, %v", person, got.Certificate, err)
		}
		return
	}
	if diff := cmp.Diff(signing.KeptCertificate{Person: person, Certificate: want, Expires: expires}, got); err != nil || diff != "" {
		t.Errorf("%s: %v\n%s", person, err, diff)
	}
}

// A certificate that does not open, since its key is missing or it was copied from another person, is not found,
// and can be replaced.
func TestCertificatesThatDoNotOpen(t *testing.T) {
	d, k := newDeployment(t), keys(t, newKey())
	before, now := sealed.Requests(d.db.Requests(), keys(t, newKey())), sealed.Requests(d.db.Requests(), k)
	d.keep(t, before, "jon", []byte("old"))
	d.keep(t, now, "anna", []byte("anna's"))
	d.wantCertificate(t, now, "jon", nil)
	d.keep(t, now, "jon", []byte("new"))
	d.wantCertificate(t, now, "jon", []byte("new"))

	stored, err := d.db.Requests().KeptCertificate(t.Context(), "anna")
	if err != nil {
		t.Fatal(err)
	}
	d.keep(t, d.db.Requests(), "jon", stored.Certificate)
	d.wantCertificate(t, now, "jon", nil)
	d.wantCertificate(t, now, "anna", []byte("anna's"))
}

// After a rotation all certificates are sealed with the new key, and open without the old one. Certificates of a
// missing key do not prevent it.
func TestResealCertificates(t *testing.T) {
	d := newDeployment(t)
	a, b := newKey(), newKey()
	old, both, onlyB := keys(t, a), keys(t, b, a), keys(t, b)
	d.keep(t, sealed.Requests(d.db.Requests(), keys(t, newKey())), "lost", []byte("lost"))
	const many = 250
	for i := range many {
		name := fmt.Sprint(i)
		d.keep(t, sealed.Requests(d.db.Requests(), old), name, []byte(name))
	}
	d.keep(t, sealed.Requests(d.db.Requests(), both), "new", []byte("new"))
	for _, want := range []int{many, 0} {
		n, err := sealed.ResealCertificates(t.Context(), d.db, d.db.Requests(), d.db.AllCertificates(t.Context()), both)
		if err != nil || n != want {
			t.Errorf("%d certificates were sealed, want %d: %v", n, want, err)
		}
	}
	store := sealed.Requests(d.db.Requests(), onlyB)
	d.wantCertificate(t, store, "lost", nil)
	for _, name := range []string{"new", "0", fmt.Sprint(many / 2), fmt.Sprint(many - 1)} {
		d.wantCertificate(t, store, name, []byte(name))
	}
	d.db.Close()
	if _, err := sealed.ResealCertificates(t.Context(), d.db, d.db.Requests(), d.db.AllCertificates(t.Context()), onlyB); err == nil {
		t.Error("ResealCertificates of a closed store returned no error")
	}
}

// Requests that have ended or are listed for cleanup are returned without their key; others are an error.
func TestRequestsWithoutTheirKey(t *testing.T) {
	d := newDeployment(t)
	before := sealed.Requests(d.db.Requests(), keys(t, newKey()))
	d.create(t, before, request("ended", signing.Ended, []byte("secret")))
	d.create(t, before, request("waiting", signing.Waiting, []byte("secret")))
	d.create(t, before, request("without", signing.Waiting, nil))
	now := sealed.Requests(d.db.Requests(), keys(t, newKey()))
	for id, want := range map[string]error{"ended": nil, "waiting": sealed.ErrKey, "without": nil} {
		r, err := now.Request(t.Context(), id)
		if !errors.Is(err, want) || (err == nil) != (want == nil) || len(r.State.Secret) != 0 {
			t.Errorf("%s: %q, %v, want %v", id, r.State.Secret, err, want)
		}
	}
	later := time.Now().Add(time.Hour)
	all, err := now.RequestsBefore(t.Context(), later, 10)
	if err != nil || len(all) != 3 {
		t.Errorf("%d requests, %v", len(all), err)
	}
	live, err := now.Abandoned(t.Context(), owner, later, 10)
	if err != nil || len(live) != 2 {
		t.Errorf("%d requests, %v", len(live), err)
	}
	unfinished, err := now.Unfinished(t.Context(), later, 10)
	if err != nil || len(unfinished) != 2 {
		t.Errorf("%d requests, %v", len(unfinished), err)
	}
	for _, r := range slices.Concat(all, live, unfinished) {
		if len(r.State.Secret) != 0 {
			t.Errorf("%s has the secret %q", r.ID, r.State.Secret)
		}
	}
}
