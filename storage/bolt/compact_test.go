package bolt_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/internal/durable"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
)

// What was deleted is nowhere any more: of a document neither in the store nor in a backup, and of a record not
// after Compact.
func TestNothingIsLeftOfWhatWasDeleted(t *testing.T) {
	const text, name = "the text of a deleted document. ", "a deleted name. "
	folder, copied := t.TempDir(), t.TempDir()
	db := openIn(t, folder)
	kept := stored(t, db, "another document")
	deleted := stored(t, db, strings.Repeat(text, 10_000))
	appendTo(t, db, deleted.ID, storage.Revision{Base: deleted.Size, Bytes: []byte(text)})
	put(t, db, strings.Repeat(name, 1000), nil)
	deleteDocument(t, db, deleted.ID)
	drop(t, db, strings.Repeat(name, 1000))
	has := func(folder, what string) bool {
		t.Helper()
		found := false
		err := fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				found = found || bytes.Contains(read(t, filepath.Join(folder, path)), []byte(what))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if has(folder, text) {
		t.Error("the store has the document")
	}
	if !has(folder, name) {
		t.Error("the store has nothing of the record before it is compacted: the test sees nothing")
	}
	var archive bytes.Buffer
	if err := db.Backup(t.Context(), &archive); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{text, name} {
		if bytes.Contains(archive.Bytes(), []byte(what)) {
			t.Errorf("the backup has %q", what)
		}
	}
	if archive.Len() > 1<<20 {
		t.Errorf("the backup has %d bytes", archive.Len())
	}
	extract(t, &archive, copied)
	readDocument(t, openIn(t, copied), kept.ID)
	if _, _, err := db.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if has(folder, name) {
		t.Error("the store has the record after it was compacted")
	}
	readDocument(t, db, kept.ID)
}

// Compact makes the file small, and the store goes on, alone as before. FileSize says what it will come to.
func TestCompact(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "store.db")
	db := open(t, path)
	put(t, db, "kept", []byte("a record"))
	put(t, db, "large", make([]byte, 20<<20))
	drop(t, db, "large")
	put(t, db, "last", nil) // which frees the pages of the one before
	db.Close()
	db = open(t, path) // which finds the free pages
	size, free, err := db.FileSize()
	if err != nil || free < 20<<20 || size-free > 1<<20 {
		t.Errorf("FileSize before: %d, %d, %v", size, free, err)
	}
	if err := os.WriteFile(path+".compact", []byte("what a crash left"), 0o600); err != nil {
		t.Fatal(err)
	}
	before, after, err := db.Compact(t.Context())
	if err != nil || before != size || after > size-free+64<<10 {
		t.Errorf("Compact: %d, %d, %v", before, after, err)
	}
	if stat, err := os.Stat(path); err != nil || stat.Size() != after || stat.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v, want %d bytes", stat, err, after)
	}
	if _, err := os.Stat(path + ".compact"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the new file's first name: %v", err)
	}
	if size, free, err := db.FileSize(); err != nil || size != after || free > 64<<10 {
		t.Errorf("FileSize after: %d, %d, %v", size, free, err)
	}
	if _, err := bolt.Open(path, bolt.Options{LockTimeout: time.Millisecond}); !errors.Is(err, bolt.ErrLocked) {
		t.Errorf("another Open: %v, want ErrLocked", err)
	}
	put(t, db, "later", []byte("another"))
	db.Close()
	db = open(t, path)
	for _, key := range []string{"kept", "later"} {
		if r, err := db.Pages().Record(t.Context(), []byte(key)); err != nil || len(r.Value) == 0 {
			t.Errorf("%s: %v, %v", key, r, err)
		}
	}
	if faults := db.Check(); len(faults) > 0 {
		t.Error(errors.Join(faults...))
	}
}

// If the name of the compacted file cannot be flushed, the store goes on with that file, and makes no transaction
// that a crash could undo, until the name is flushed.
func TestACompactionWhoseNameIsNotFlushed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	var failure error
	db := openWith(t, path, bolt.Options{}.WithSyncParent(func(path string) error {
		return cmp.Or(failure, durable.SyncParent(path))
	}))
	put(t, db, "kept", make([]byte, 1<<20))
	put(t, db, "dropped", make([]byte, 20<<20))
	drop(t, db, "dropped")
	failure = syscall.EIO
	before, after, err := db.Compact(t.Context())
	if before < 20<<20 || after == 0 || after > 2<<20 || !errors.Is(err, failure) || !strings.Contains(err.Error(), "the compacted file is in use") {
		t.Errorf("Compact: %d, %d, %v", before, after, err)
	}
	if size, _, err := db.FileSize(); size != after || err != nil {
		t.Errorf("FileSize: %d, %v, want %d", size, err, after)
	}
	if r, err := db.Pages().Record(t.Context(), []byte("kept")); err != nil || len(r.Value) != 1<<20 {
		t.Errorf("reading: %d bytes, %v", len(r.Value), err)
	}
	err = db.InTx(t.Context(), func(context.Context) error { return errors.New("it runs") })
	if !errors.Is(err, storage.ErrUnavailable) || !errors.Is(err, failure) {
		t.Errorf("a transaction: %v", err)
	}
	failure = nil
	put(t, db, "later", nil)
	db.Close()
	if _, err := open(t, path).Pages().Record(t.Context(), []byte("later")); err != nil {
		t.Errorf("what was stored later: %v", err)
	}
}

// Files that were left by compactions and backups that a crash ended are gone when the store is opened again, and no
// others.
func TestWhatACrashLeftIsRemoved(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, path := range []string{"store.db", filepath.Join(t.TempDir(), "[a-z]*.db")} {
		folder, name := filepath.Split(path)
		open(t, path).Close()
		for _, suffix := range []string{".compact", ".123456789.tmp", ".18446744073709551615.tmp", ".old.tmp", ".12.old.tmp", ".tmp", "..tmp", "1.tmp"} {
			if err := os.WriteFile(path+suffix, []byte("what a crash left"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		open(t, path)
		want := []string{name, name + "..tmp", name + ".12.old.tmp", name + ".documents", name + ".old.tmp", name + ".tmp", name + "1.tmp"}
		if left := names(t, cmp.Or(folder, ".")); !slices.Equal(left, want) {
			t.Errorf("left are %v, want %v", left, want)
		}
	}
}

// Open removes the temporary file of a backup that was cut off by the end of the process.
func TestABackupThatACrashEnded(t *testing.T) {
	folder, crashed := t.TempDir(), t.TempDir()
	db := openIn(t, folder)
	put(t, db, "key", nil)
	temporary := 0
	err := db.Backup(t.Context(), &pausing{Writer: io.Discard, still: func() {
		if err := os.CopyFS(crashed, os.DirFS(folder)); err != nil {
			t.Error(err)
		}
		temporary = len(names(t, crashed)) - 2
	}})
	if err != nil || temporary != 1 {
		t.Errorf("Backup: %v, with %d temporary files", err, temporary)
	}
	openIn(t, crashed)
	for _, folder := range []string{folder, crashed} {
		if left := names(t, folder); !slices.Equal(left, []string{"store.db", "store.db.documents"}) {
			t.Errorf("left are %v", left)
		}
	}
}

// Who waits for the lock of a file that is compacted meanwhile gets that of the file in its place.
func TestOpenWaitsForACompaction(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	for range 10 {
		db := open(t, path)
		var group errgroup.Group
		group.Go(func() error {
			again, err := bolt.Open(path, bolt.Options{LockTimeout: time.Minute})
			if err != nil {
				return err
			}
			put(t, again, "key", []byte("value"))
			return again.Close()
		})
		if _, _, err := db.Compact(t.Context()); err != nil {
			t.Error(err)
		}
		db.Close()
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		db = open(t, path)
		if _, err := db.Pages().Record(t.Context(), []byte("key")); err != nil {
			t.Errorf("what the other stored: %v", err)
		}
		drop(t, db, "key")
		db.Close()
	}
}

// countdown is a context that ends when its error was asked for so many times.
type countdown struct {
	context.Context
	left int
}

// Err implements [context.Context].
func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// A compaction or a backup whose context ends at any moment leaves the store as it was, and no other file.
func TestCompactAndBackupEndWithTheirContext(t *testing.T) {
	folder := t.TempDir()
	db := openIn(t, folder)
	ref := stored(t, db, strings.Repeat("a document. ", 1000))
	for i := range 6 { // each of which takes a transaction to copy
		put(t, db, fmt.Sprint("kept ", i), bytes.Repeat([]byte{byte(i)}, 5<<18))
	}
	put(t, db, "later", nil)
	before := names(t, folder)
	for name, work := range map[string]func(context.Context) error{
		"compact": func(ctx context.Context) error { _, _, err := db.Compact(ctx); return err },
		"backup":  func(ctx context.Context) error { return db.Backup(ctx, io.Discard) },
	} {
		const many = 1 << 30
		whole := &countdown{t.Context(), many}
		if err := work(whole); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		asked := many - whole.left
		if asked < 50 { // one for each page and for each step: a table or a large record
			t.Errorf("%s: the context was looked at %d times", name, asked)
		}
		unchanged, err := os.Stat(filepath.Join(folder, "store.db"))
		if err != nil {
			t.Fatal(err)
		}
		for after := 0; after < asked*9/10; after += 1 + asked/8 {
			if err := work(&countdown{t.Context(), after}); !errors.Is(err, context.Canceled) || errors.Is(err, bolt.ErrDamaged) {
				t.Errorf("%s, ended after %d of %d: %v", name, after, asked, err)
			}
			if left := names(t, folder); !slices.Equal(left, before) {
				t.Errorf("%s, ended after %d of %d: the files are %v, and were %v", name, after, asked, left, before)
			}
			if file, err := os.Stat(filepath.Join(folder, "store.db")); err != nil || !os.SameFile(file, unchanged) {
				t.Errorf("%s, ended after %d of %d: the store has another file, %v", name, after, asked, err)
			}
			put(t, db, "later", fmt.Appendf(nil, "%s %7d", name, after)) // as long each time, so that all calls do the same
		}
	}
	db.Close()
	db = openIn(t, folder)
	for i := range 6 {
		if r, err := db.Pages().Record(t.Context(), []byte(fmt.Sprint("kept ", i))); err != nil || !bytes.Equal(r.Value, bytes.Repeat([]byte{byte(i)}, 5<<18)) {
			t.Errorf("record %d: %d bytes, %v", i, len(r.Value), err)
		}
	}
	if r, err := db.Pages().Record(t.Context(), []byte("later")); err != nil || len(r.Value) == 0 {
		t.Errorf("what was stored in between: %q, %v", r.Value, err)
	}
	readDocument(t, db, ref.ID)
}

// names returns the names of the files in a folder.
func names(t *testing.T, folder string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		list = append(list, entry.Name())
	}
	return list
}

// put stores a record.
func put(t testing.TB, db *bolt.DB, key string, value []byte) {
	t.Helper()
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		return db.Pages().PutRecord(ctx, storage.Record{Key: []byte(key), Value: value, Expires: time.Now().Add(time.Hour)})
	})
	if err != nil {
		t.Error(err)
	}
}

// drop deletes a record.
func drop(t testing.TB, db *bolt.DB, key string) {
	t.Helper()
	if err := db.InTx(t.Context(), func(ctx context.Context) error { return db.Pages().DeleteRecord(ctx, []byte(key)) }); err != nil {
		t.Error(err)
	}
}
