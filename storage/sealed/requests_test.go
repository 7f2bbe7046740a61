package sealed_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/sealed"
)

var expires = time.Date(2030, 3, 1, 12, 30, 15, 0, time.UTC)

func (d deployment) keep(t *testing.T, store signing.Store, person string, certificate []byte) {
	t.Helper()
	err := d.db.InTx(t.Context(), func(ctx context.Context) error {
		return store.KeepCertificate(ctx, signing.KeptCertificate{Person: person, Certificate: certificate, Expires: expires})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// has fails the test unless the store has the person's certificate, or none for nil.
func (d deployment) has(t *testing.T, store signing.Store, person string, want []byte) {
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

// A certificate whose key is gone, or that is another person's, is as if there were none;
// the next one takes its place.
func TestCertificatesThatDoNotOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	d, k := deployment{open(t, path), path}, keys(t, newKey())
	was, is := sealed.Requests(d.db.Requests(), keys(t, newKey())), sealed.Requests(d.db.Requests(), k)
	d.keep(t, was, "jon", []byte("old"))
	d.keep(t, is, "anna", []byte("anna's"))
	d.has(t, is, "jon", nil)
	d.keep(t, is, "jon", []byte("new"))
	d.has(t, is, "jon", []byte("new"))

	stored, err := d.db.Requests().KeptCertificate(t.Context(), "anna")
	if err != nil {
		t.Fatal(err)
	}
	d.keep(t, d.db.Requests(), "jon", stored.Certificate)
	d.has(t, is, "jon", nil)
	d.has(t, is, "anna", []byte("anna's"))
}

// With a new key first all certificates are sealed with it, so that the old one can be
// dropped; those of a key that is gone hold up none of the others.
func TestCertificatesOutliveTheirKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	d := deployment{open(t, path), path}
	a, b := newKey(), newKey()
	old, both, onlyB := keys(t, a), keys(t, b, a), keys(t, b)
	d.keep(t, sealed.Requests(d.db.Requests(), keys(t, newKey())), "lost", []byte("lost"))
	d.keep(t, d.db.Requests(), "unsealed", []byte("unsealed"))
	const many = 250
	for i := range many {
		name := fmt.Sprint(i)
		d.keep(t, sealed.Requests(d.db.Requests(), old), name, []byte(name))
	}
	d.keep(t, sealed.Requests(d.db.Requests(), both), "new", []byte("new"))
	for _, want := range []int{many + 1, 0} {
		n, err := sealed.ResealCertificates(t.Context(), d.db, d.db.Requests(), d.db.AllCertificates(t.Context()), both)
		if err != nil || n != want {
			t.Errorf("%d certificates were sealed, want %d: %v", n, want, err)
		}
	}
	store := sealed.Requests(d.db.Requests(), onlyB)
	d.has(t, store, "lost", nil)
	for _, name := range []string{"unsealed", "new", "0", fmt.Sprint(many / 2), fmt.Sprint(many - 1)} {
		d.has(t, store, name, []byte(name))
	}
	if raw, err := d.db.Requests().KeptCertificate(t.Context(), "unsealed"); err != nil || !sealed.Is(raw.Certificate) {
		t.Errorf("unsealed: %q, %v", raw.Certificate, err)
	}
	d.db.Close()
	if _, err := sealed.ResealCertificates(t.Context(), d.db, d.db.Requests(), d.db.AllCertificates(t.Context()), onlyB); err == nil {
		t.Error("a closed store was gone through")
	}
}
