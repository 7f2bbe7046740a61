package postgres

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/storage"
)

// TestFullDisk fills the file system of a database. It checks that writes fail with storage.ErrFull, that nothing stored is lost, and
// that writes succeed again when there is free space.
func TestFullDisk(t *testing.T) {
	db, filler := openOnSmallDisk(t)
	documents := map[string][]byte{}
	refused := 0
	for i := range 200 {
		content := bytes.Repeat([]byte{byte(i), 1}, 200_000)
		ref, err := db.Documents().Create(t.Context(), bytes.NewReader(content), 1<<20)
		if err == nil {
			documents[ref.ID] = content
			err = db.InTx(t.Context(), func(ctx context.Context) error { return db.Documents().Keep(ctx, ref.ID) })
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, storage.ErrFull) {
			t.Fatalf("the error is %v, want storage.ErrFull", err)
		}
		if refused++; refused == 3 {
			break
		}
	}
	if refused == 0 || len(documents) == 0 {
		t.Fatalf("%d documents stored, %d refused: the disk has not the size that the test expects", len(documents), refused)
	}
	checkDocuments(t, db, documents)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	ref, err := db.Documents().Create(t.Context(), bytes.NewReader([]byte("free space")), 100)
	if err != nil {
		t.Fatalf("with free space again: %v", err)
	}
	documents[ref.ID] = []byte("free space")
	checkDocuments(t, db, documents)
	addAccounts(t, db, "a")
}

// openOnSmallDisk opens a store on a file system of 64 MB, and returns the path of a file that takes up most of it.
func openOnSmallDisk(t *testing.T) (db *DB, filler string) {
	t.Helper()
	folder, err := os.MkdirTemp("", "innsigli") // the server's user may not enter t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(folder) })
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=64m"); err != nil {
		testenv.Absent(t, "the test needs the right to mount a file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmounting %s: %v", folder, err)
		}
	})
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	space := filepath.Join(folder, "space")
	if err := os.Mkdir(space, 0o700); err != nil {
		t.Fatal(err)
	}
	cluster := postgrestest.Cluster(t)
	cluster.Give(t, space)
	execute(t, cluster.URL("postgres"), "CREATE TABLESPACE small LOCATION '"+space+"'")
	execute(t, cluster.URL("postgres"), "CREATE DATABASE small TABLESPACE small")
	filler = filepath.Join(folder, "filler")
	if err := os.WriteFile(filler, make([]byte, 40<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	url := cluster.URL("small")
	if _, _, err := Migrate(t.Context(), url, Options{}); err != nil {
		t.Fatal(err)
	}
	return openedAt(t, url, Options{}), filler
}

// checkDocuments reads all documents that were stored.
func checkDocuments(t *testing.T, db *DB, documents map[string][]byte) {
	t.Helper()
	for id, want := range documents {
		blob, err := db.Documents().Open(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(io.NewSectionReader(blob, 0, blob.Size()))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("document %s: %d bytes, %v, want %d", id, len(got), err, len(want))
		}
		blob.Close()
	}
}
