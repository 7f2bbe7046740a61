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

// stale is a store that another server changes just after the authority was first read.
type stale struct {
	sandbox.Store
	before []byte // as it was read first
}

func (s *stale) Authority(ctx context.Context) ([]byte, error) {
	if before := s.before; before != nil {
		s.before = nil
		return before, nil
	}
	return s.Store.Authority(ctx)
}

// Servers of a new version that open the authority of an old one at once agree on the keys
// that the old one did not have.
func TestOldAuthorityOnSeveralServers(t *testing.T) {
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
		t.Fatal("the old authority was not completed")
	}
	if !bytes.Equal(stored(&stale{db.Sandbox(), old}), first) {
		t.Error("the second server made other keys")
	}
}
