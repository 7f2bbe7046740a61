package bolt_test

import (
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

// A file of an earlier version is brought to this one when it is opened, so that the program of then
// does not take what is sealed for keys, nor the document of several for a request's own.
func TestAnOlderFileIsUpgraded(t *testing.T) {
	for _, older := range []string{"1", "2", "3"} {
		path := filepath.Join(t.TempDir(), "store.db")
		open(t, path).Close()
		meta(t, path, func(b *bbolt.Bucket) error { return b.Put([]byte("schema"), []byte(older)) })
		for range 2 {
			open(t, path).Close()
			meta(t, path, func(b *bbolt.Bucket) error {
				if version := b.Get([]byte("schema")); string(version) != "4" {
					t.Errorf("the schema is %s, want 4", version)
				}
				return nil
			})
		}
	}
}

// meta is what a store's file says of itself.
func meta(t *testing.T, path string, f func(*bbolt.Bucket) error) {
	t.Helper()
	file, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Update(func(tx *bbolt.Tx) error { return f(tx.Bucket([]byte("meta"))) }); err != nil {
		t.Fatal(err)
	}
}
