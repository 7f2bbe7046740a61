package sealed_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/storage/sealed"
)

// After a rotation all values are sealed with the new key, and open without the old one. A missing key is an error.
func TestReseal(t *testing.T) {
	d := newDeployment(t)
	a, b := newKey(), newKey()
	onlyA, both, onlyB := keys(t, a), keys(t, b, a), keys(t, b)
	old := d.addUser(t, d.sandbox(t, onlyA), "0101302989")
	d.reseal(t, onlyA, 0)
	added := d.addUser(t, d.sandbox(t, onlyA), "0101302990")
	d.wantUsers(t, onlyA, old, added)
	for _, err := range []error{d.open(t, onlyB), d.read(t, onlyB)} {
		if !errors.Is(err, sealed.ErrKey) {
			t.Errorf("with another key: %v", err)
		}
	}
	if _, err := sealed.Reseal(t.Context(), d.db, d.db.Sandbox(), onlyB, []string{owner}); !errors.Is(err, sealed.ErrKey) {
		t.Errorf("resealing with another key: %v", err)
	}

	d.reseal(t, both, 3) // the authority and two users
	d.wantUsers(t, both, old, added)
	d.reseal(t, onlyB, 0)
	d.wantUsers(t, onlyB, old, added)
	if err := d.open(t, onlyB); err != nil {
		t.Error(err)
	}
	if err := d.read(t, onlyA); !errors.Is(err, sealed.ErrKey) {
		t.Errorf("with the old key: %v", err)
	}
}

func (d deployment) reseal(t *testing.T, k *sealed.Keys, want int) {
	t.Helper()
	n, err := sealed.Reseal(t.Context(), d.db, d.db.Sandbox(), k, []string{"unknown", owner})
	if err != nil || n != want {
		t.Fatalf("%d values were sealed, want %d: %v", n, want, err)
	}
}

// open and read read the authority and the users as a server does.
func (d deployment) open(t *testing.T, k *sealed.Keys) error {
	_, err := sandbox.Open(t.Context(), sealed.Sandbox(d.db.Sandbox(), k), d.db, sandbox.Options{})
	return err
}

func (d deployment) read(t *testing.T, k *sealed.Keys) error {
	_, err := sealed.Sandbox(d.db.Sandbox(), k).Users(t.Context(), owner)
	return err
}

func (d deployment) wantUsers(t *testing.T, k *sealed.Keys, want ...sandbox.User) {
	t.Helper()
	got, err := sealed.Sandbox(d.db.Sandbox(), k).Users(t.Context(), owner)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
