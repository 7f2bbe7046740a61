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

	"go.etcd.io/bbolt"

	"github.com/innsigli/innsigli/storage/bolt"
)

// crashPath tells the test's own program, run again, to be the one that is killed.
const crashPath = "INNSIGLI_BOLT_CRASH"

func TestMain(m *testing.M) {
	if path := os.Getenv(crashPath); path != "" {
		if err := receiveForEver(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// receiveForEver creates a document whose end never comes, and says on stdout
// when the first 5 MiB have been asked for.
func receiveForEver(path string) error {
	db, err := bolt.Open(path, bolt.Options{})
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

// What a process that was killed left of a document is swept, and the store
// takes new ones.
func TestSweepAfterACrash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	kill(t, path)
	db := open(t, path)
	for _, want := range []int{1, 0} {
		if n, err := db.Documents().Sweep(t.Context(), time.Now()); err != nil || n != want {
			t.Errorf("Sweep: %d, %v, want %d", n, err, want)
		}
	}
	if n := documentsWithChunks(t, db, path); n != 0 {
		t.Errorf("%d documents have chunks", n)
	}
	db = open(t, path)
	if _, err := db.Documents().Create(t.Context(), &pattern{size: 1 << 20}, 1<<20); err != nil {
		t.Errorf("Create: %v", err)
	}
}

// kill runs the test's own program until it is stuck and kills it.
func kill(t *testing.T, path string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), crashPath+"="+path)
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

// documentsWithChunks closes the store and counts.
func documentsWithChunks(t *testing.T, db *bolt.DB, path string) (n int) {
	t.Helper()
	db.Close()
	file, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	err = file.View(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("document.chunks")).ForEachBucket(func([]byte) error { n++; return nil })
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
