package bolt_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/storage/bolt"
)

func TestOpenIsRefused(t *testing.T) {
	folder := t.TempDir()
	for name, test := range map[string]struct {
		path string
		want error
	}{
		"no folder":    {filepath.Join(folder, "none", "store.db"), fs.ErrNotExist},
		"not a store":  {written(t, []byte("%PDF-1.7, and a good deal of it")), bolt.ErrDamaged},
		"no bolt file": {written(t, bytes.Repeat([]byte{0}, 1<<16)), bolt.ErrDamaged},
		"later schema": {laterSchema(t), bolt.ErrSchema},
		"in use":       {inUse(t), bolt.ErrLocked},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 { // a refused file is not locked
				if _, err := bolt.Open(test.path, bolt.Options{LockTimeout: time.Millisecond}); !errors.Is(err, test.want) || !strings.Contains(err.Error(), filepath.Dir(test.path)) {
					t.Errorf("Open: %v, want %v", err, test.want)
				}
			}
		})
	}
}

// A copy that broke off is refused wherever it ends, and never a panic.
func TestATruncatedFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	db := open(t, path)
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		for i := range 3000 {
			if err := db.Accounts().AddAccount(ctx, account.Account{ID: fmt.Sprint(i), Name: strings.Repeat("n", 1000)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	whole := read(t, path)
	for _, size := range []int{100, 4096, 8192, 8193, 16384, 100_000, 1 << 20, 2 << 20, 3 << 20} {
		if db, err := bolt.Open(written(t, whole[:size]), bolt.Options{}); !errors.Is(err, bolt.ErrDamaged) {
			t.Errorf("of %d bytes %d: Open: %v", len(whole), size, err)
			if err == nil {
				db.Close()
			}
		}
	}
	copied := written(t, whole)
	if err := os.Rename(path+".documents", copied+".documents"); err != nil {
		t.Fatal(err)
	}
	open(t, copied)
}

func TestAClosedStoreSaysSo(t *testing.T) {
	db := openIn(t, t.TempDir())
	for range 2 {
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	_, read := db.Accounts().Accounts(t.Context())
	_, created := db.Documents().Create(t.Context(), &pattern{size: 1}, 1)
	_, _, compacted := db.Compact(t.Context())
	_, _, room := db.FileSize()
	for call, err := range map[string]error{
		"InTx":     db.InTx(t.Context(), func(context.Context) error { return nil }),
		"Accounts": read,
		"Create":   created,
		"Backup":   db.Backup(t.Context(), io.Discard),
		"Compact":  compacted,
		"FileSize": room,
	} {
		if !errors.Is(err, bolt.ErrClosed) {
			t.Errorf("%s: %v", call, err)
		}
	}
}

// written is a file with this content.
func written(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// laterSchema is a store of a version to come.
func laterSchema(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	open(t, path).Close()
	setVersion(t, path, 1000)
	return path
}

// inUse is a store that is open.
func inUse(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	open(t, path)
	return path
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
