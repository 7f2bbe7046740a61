package sealed_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/sealed"
)

// What the signing page remembers is not to be read in the store. What does not open, because its key is
// gone or because it is another record's, is as if it were not there, and makes room for what comes next.
func TestPageRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	d, old, k := deployment{open(t, path), path}, newKey(), newKey()
	was, both, is := keys(t, old), keys(t, k, old), keys(t, k)
	put := func(store storage.Records, key, value string) {
		t.Helper()
		r := storage.Record{Key: []byte(key), Value: []byte(value), Expires: expires}
		if err := d.db.InTx(t.Context(), func(ctx context.Context) error { return store.PutRecord(ctx, r) }); err != nil {
			t.Fatal(err)
		}
	}
	has := func(with *sealed.Keys, key, want string) {
		t.Helper()
		got, err := sealed.Pages(d.db.Pages(), with).Record(t.Context(), []byte(key))
		if want == "" {
			if !errors.Is(err, storage.ErrNotFound) || got.Value != nil {
				t.Errorf("%s: %q, %v", key, got.Value, err)
			}
			return
		}
		if diff := cmp.Diff(storage.Record{Key: []byte(key), Value: []byte(want), Expires: expires}, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", key, err, diff)
		}
	}
	put(sealed.Pages(d.db.Pages(), was), "jon", "0101302399")
	has(was, "jon", "0101302399")
	has(both, "jon", "0101302399")
	has(is, "jon", "")
	stored, err := d.db.Pages().Record(t.Context(), []byte("jon"))
	if err != nil || !sealed.Is(stored.Value) || bytes.Contains(stored.Value, []byte("0101302399")) {
		t.Errorf("%q, %v", stored.Value, err)
	}
	put(d.db.Pages(), "anna", string(stored.Value))
	has(both, "anna", "")
	put(sealed.Pages(d.db.Pages(), both), "jon", "again")
	has(is, "jon", "again")
}
