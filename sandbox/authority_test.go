package sandbox_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/storage/bolt"
)

// stale is a store that another server changes after the first read of the authority.
type stale struct {
	sandbox.Store
	before []byte // returned by the first read
}

func (s *stale) Authority(ctx context.Context) ([]byte, error) {
	if before := s.before; before != nil {
		s.before = nil
		return before, nil
	}
	return s.Store.Authority(ctx)
}

// Servers that complete the authority of an earlier version at the same time use the same keys.
func TestAuthorityOfAnEarlierVersion(t *testing.T) {
	old, err := os.ReadFile("ca/testdata/version1.json")
	if err != nil {
		t.Fatal(err)
	}
	db, err := bolt.Open(filepath.Join(t.TempDir(), "store.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.InTx(t.Context(), func(ctx context.Context) error { return db.Sandbox().SaveAuthority(ctx, old) }); err != nil {
		t.Fatal(err)
	}
	stored := func(s sandbox.Store) []byte {
		t.Helper()
		if _, err := sandbox.Open(t.Context(), s, db, sandbox.Options{}); err != nil {
			t.Fatal(err)
		}
		b, err := db.Sandbox().Authority(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	first := stored(db.Sandbox())
	if bytes.Equal(first, old) {
		t.Fatal("the authority was not completed")
	}
	if !bytes.Equal(stored(&stale{db.Sandbox(), old}), first) {
		t.Error("the second server generated other keys")
	}
}
