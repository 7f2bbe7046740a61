package bolt_test

import (
	"context"
	"crypto"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/innsigli/innsigli/storage/bolt"
)

// crashFolder tells the test's own program, run again, to be the one that is killed, and where
// its store is.
const crashFolder = "INNSIGLI_BOLT_CRASH"

func TestMain(m *testing.M) {
	if folder := os.Getenv(crashFolder); folder != "" {
		if err := receiveForEver(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// receiveForEver creates a document whose end never comes, and says on stdout
// when the first 5 MiB have been asked for.
func receiveForEver(folder string) error {
	db, err := bolt.Open(filepath.Join(folder, "store.db"), bolt.Options{})
	if err != nil {
		return err
	}
	_, err = db.Documents().Create(context.Background(), io.MultiReader(&pattern{size: 5 << 20}, stuck{}), 1<<30, crypto.SHA256)
	return err
}

// stuck is a sender that has gone silent without hanging up.
type stuck struct{}

func (stuck) Read([]byte) (int, error) {
	fmt.Println("stuck")
	time.Sleep(time.Hour)
	return 0, io.EOF
}

// What a process that was killed left of a document, and of one that it had just deleted, is
// swept when the store is opened again, however young it is.
func TestSweepAfterACrash(t *testing.T) {
	folder := t.TempDir()
	db := openIn(t, folder)
	ref := stored(t, db, "a document")
	content := read(t, inDocuments(folder, ref.ID))
	deleteDocument(t, db, ref.ID)
	empty := documentBytes(t, db)
	db.Close()
	if err := os.WriteFile(inDocuments(folder, ref.ID), content, 0o600); err != nil {
		t.Fatal(err)
	}
	kill(t, folder)
	db = openIn(t, folder)
	if n := documentBytes(t, db); n < 4<<20 {
		t.Errorf("the process left %d bytes", n)
	}
	for _, want := range []int{2, 0} {
		if n, err := db.Documents().Sweep(t.Context(), time.Now().Add(-time.Hour)); err != nil || n != want {
			t.Errorf("Sweep: %d, %v, want %d", n, err, want)
		}
	}
	if n := documentBytes(t, db); n != empty {
		t.Errorf("there are %d bytes of documents, before there were %d", n, empty)
	}
	if _, err := db.Documents().Create(t.Context(), &pattern{size: 1 << 20}, 1<<20); err != nil {
		t.Errorf("Create: %v", err)
	}
}

// kill runs the test's own program until it is stuck and kills it.
func kill(t *testing.T, folder string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), crashFolder+"="+folder)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("stuck"))); err != nil {
		t.Fatalf("the program ended by itself: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
}

func documentBytes(t testing.TB, db *bolt.DB) int64 {
	t.Helper()
	n, err := db.DocumentBytes()
	if err != nil {
		t.Fatal(err)
	}
	return n
}
