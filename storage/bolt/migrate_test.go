package bolt_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/innsigli/innsigli/storage/bolt"
)

// earlier unpacks a store of an earlier version, testdata/earlier/schemaN.db.gz.
//
// That of version 3 has documents in its file: one of several chunks with a revision and hash states, and an empty one, whose ids
// are in the name of the account; one that was never kept; one whose Create did not end; and what was left of one that was deleted,
// with the text deletedText.
func earlier(t *testing.T, version int) (path string) {
	t.Helper()
	packed, err := os.Open(fmt.Sprintf("testdata/earlier/schema%d.db.gz", version))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	return written(t, content)
}

const deletedText = "the text of a deleted document."

// movedStore opens a store of version 3 that was migrated, and compares its documents with those that it had before.
func movedStore(t *testing.T, path string) *bolt.DB {
	t.Helper()
	db := open(t, path)
	accounts, err := db.Accounts().Accounts(t.Context())
	if err != nil || len(accounts) != 1 {
		t.Fatalf("Accounts: %v, %v", accounts, err)
	}
	large, empty, _ := strings.Cut(accounts[0].Name, " ")
	want := chunked(t, earlier(t, 3), large)
	if !bytes.HasSuffix(want, []byte(strings.Repeat("a revision. ", 8000))) {
		t.Fatal("the large document has no revision")
	}
	for id, want := range map[string][]byte{large: want, empty: nil} {
		if got := readDocument(t, db, id); !bytes.Equal(got, want) {
			t.Errorf("document %s has %d bytes of %d, or others", id, len(got), len(want))
		}
	}
	blob, err := db.Documents().Open(t.Context(), large)
	if err != nil {
		t.Fatal(err)
	}
	defer blob.Close()
	if states := blob.Hashed(); len(states) != 2 || states[0].Offset != 700_000 || states[1].Offset != 700_000 {
		t.Errorf("hash states: %v", states)
	}
	if ids, err := db.DocumentIDs(); err != nil || len(ids) != 3 {
		t.Errorf("documents: %v, %v", ids, err)
	}
	return db
}

// chunked reads a document of a store of version 3 from its chunks.
func chunked(t *testing.T, path, id string) (content []byte) {
	t.Helper()
	file := openFile(t, path)
	defer file.Close()
	err := file.View(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("document.chunks")).Bucket([]byte(id)).ForEach(func(_, chunk []byte) error {
			content = append(content, chunk...)
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// Documents move to the folder, and the file has nothing of them afterwards. Deleted ones are nowhere.
func TestDocumentsInTheFileAreMoved(t *testing.T) {
	path := earlier(t, 3)
	if !bytes.Contains(read(t, path), []byte(deletedText)) {
		t.Fatal("the file has nothing of the deleted document")
	}
	if from, to, err := bolt.Migrate(path, bolt.Options{}); from != 3 || to != 6 || err != nil {
		t.Fatalf("Migrate: %d -> %d, %v", from, to, err)
	}
	db := movedStore(t, path)
	if n, err := db.Documents().Sweep(t.Context(), time.Now().Add(time.Hour)); n != 1 || err != nil { // the one that was not kept
		t.Errorf("Sweep: %d, %v", n, err)
	}
	db.Close()
	for _, text := range []string{deletedText, "a revision."} {
		if bytes.Contains(read(t, path), []byte(text)) {
			t.Errorf("the file has %q", text)
		}
	}
	if size := len(read(t, path)); size > 1<<20 {
		t.Errorf("the file has %d bytes", size)
	}
	before := sums(t, filepath.Dir(path))
	if from, to, err := bolt.Migrate(path, bolt.Options{}); from != 6 || to != 6 || err != nil {
		t.Errorf("Migrate again: %d -> %d, %v", from, to, err)
	}
	if after := sums(t, filepath.Dir(path)); after != before {
		t.Errorf("a store that needed no migration has changed:\n%s\n%s", before, after)
	}
}

// A migration that broke off is gone on with. What it left in part is written anew.
func TestAMigrationThatBrokeOff(t *testing.T) {
	path := earlier(t, 3)
	folder := path + ".documents"
	if err := bolt.CopyDocuments(path); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 4 { // with the mark
		t.Fatalf("%v, %v", entries, err)
	}
	for i, entry := range entries {
		name := filepath.Join(folder, entry.Name())
		content := read(t, name)
		switch {
		case entry.Name() == "store-id":
			continue
		case len(content) > 100_000: // what a crash may leave of what was not flushed
			content = bytes.Repeat([]byte{0}, len(content)+i)
		case len(content) > 0:
			content = content[:3]
		}
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := bolt.Open(path, bolt.Options{}); !errors.Is(err, bolt.ErrSchema) {
		t.Errorf("Open in between: %v", err)
	}
	if from, to, err := bolt.Migrate(path, bolt.Options{}); from != 3 || to != 6 || err != nil {
		t.Fatalf("Migrate: %d -> %d, %v", from, to, err)
	}
	movedStore(t, path)
}

// A migration that was killed between its last transaction and the compaction is ended by the next one.
func TestACompactionThatAMigrationOwes(t *testing.T) {
	path := earlier(t, 3)
	if err := bolt.Upgrade(path); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(read(t, path), []byte("a revision.")) {
		t.Fatal("the file has nothing of the moved document before it is compacted: the test sees nothing")
	}
	movedStore(t, path).Close() // it can be used in between
	if from, to, err := bolt.Migrate(path, bolt.Options{}); from != 6 || to != 6 || err != nil {
		t.Fatalf("Migrate: %d -> %d, %v", from, to, err)
	}
	if bytes.Contains(read(t, path), []byte("a revision.")) {
		t.Error("the file has the moved document")
	}
	db := movedStore(t, path)
	if faults := db.Check(); len(faults) > 0 {
		t.Error(errors.Join(faults...))
	}
	db.Close()
	before := sums(t, filepath.Dir(path))
	if from, to, err := bolt.Migrate(path, bolt.Options{}); from != 6 || to != 6 || err != nil {
		t.Errorf("Migrate again: %d -> %d, %v", from, to, err)
	}
	if after := sums(t, filepath.Dir(path)); after != before {
		t.Errorf("a compacted store has changed:\n%s\n%s", before, after)
	}
}

// Compact, and a backup, end what a migration left too.
func TestCompactEndsAMigration(t *testing.T) {
	path := earlier(t, 3)
	if err := bolt.Upgrade(path); err != nil {
		t.Fatal(err)
	}
	db, copied := open(t, path), t.TempDir()
	backUp(t, db, copied, func() {})
	if _, _, err := db.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	db.Close()
	for _, folder := range []string{filepath.Dir(path), copied} {
		before := sums(t, folder)
		if from, to, err := bolt.Migrate(filepath.Join(folder, "store.db"), bolt.Options{}); from != 6 || to != 6 || err != nil {
			t.Errorf("Migrate: %d -> %d, %v", from, to, err)
		}
		if after := sums(t, folder); after != before {
			t.Errorf("Migrate has changed a compacted store:\n%s\n%s", before, after)
		}
	}
}

// If the file cannot be compacted, Migrate returns the version that the store has all the same, and the store can be used.
func TestAMigrationThatCannotCompact(t *testing.T) {
	path := earlier(t, 3)
	obstacle := path + ".compact"
	opts := bolt.Options{}.WithSyncParent(func(string) error { // when the file is open
		return os.MkdirAll(filepath.Join(obstacle, "folder"), 0o700)
	})
	if from, to, err := bolt.Migrate(path, opts); from != 3 || to != 6 || !errors.Is(err, bolt.ErrNotCompacted) {
		t.Errorf("Migrate: %d -> %d, %v", from, to, err)
	}
	if err := os.RemoveAll(obstacle); err != nil {
		t.Fatal(err)
	}
	movedStore(t, path).Close()
	if from, to, err := bolt.Migrate(path, opts); from != 6 || to != 6 || !errors.Is(err, bolt.ErrNotCompacted) {
		t.Errorf("Migrate again: %d -> %d, %v", from, to, err)
	}
	if err := os.RemoveAll(obstacle); err != nil {
		t.Fatal(err)
	}
	if from, to, err := bolt.Migrate(path, bolt.Options{}); from != 6 || to != 6 || err != nil {
		t.Errorf("Migrate without the obstacle: %d -> %d, %v", from, to, err)
	}
	if bytes.Contains(read(t, path), []byte(deletedText)) {
		t.Error("the file has the deleted document")
	}
}

// A document that lacks its last bytes stops the migration, each time, and the version before can use the store.
func TestADocumentWithoutItsEndIsNotMoved(t *testing.T) {
	path := earlier(t, 3)
	file := openFile(t, path)
	err := file.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("document.chunks")).ForEachBucket(func(id []byte) error {
			chunks := tx.Bucket([]byte("document.chunks")).Bucket(id)
			if last, _ := chunks.Cursor().Last(); last != nil {
				return chunks.Delete(last)
			}
			return nil
		})
	})
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if from, to, err := bolt.Migrate(path, bolt.Options{}); from != 3 || to != 3 || !errors.Is(err, bolt.ErrDamaged) {
			t.Errorf("Migrate: %d -> %d, %v", from, to, err)
		}
	}
}

// The copy that was made before can be put back, and be migrated once the folder of the abandoned store is out of the way.
func TestTheWayBack(t *testing.T) {
	path := earlier(t, 3)
	before := read(t, path)
	if _, _, err := bolt.Migrate(path, bolt.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, before, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := bolt.Migrate(path, bolt.Options{}); !errors.Is(err, bolt.ErrFolder) || !strings.Contains(err.Error(), path+".documents") {
		t.Errorf("Migrate into the folder of another store: %v", err)
	}
	if err := os.Rename(path+".documents", path+".abandoned"); err != nil {
		t.Fatal(err)
	}
	if from, to, err := bolt.Migrate(path, bolt.Options{}); from != 3 || to != 6 || err != nil {
		t.Fatalf("Migrate again: %d -> %d, %v", from, to, err)
	}
	movedStore(t, path)
}

// Open changes nothing of a store of another version, nor of one of its own when nothing is written.
func TestOpenDoesNotMigrate(t *testing.T) {
	for version := range 7 {
		path := filepath.Join(t.TempDir(), "store.db")
		switch version {
		case 1, 3:
			path = earlier(t, version)
		case 2, 4, 5, 6:
			db := open(t, path)
			stored(t, db, "a document")
			db.Close()
			setVersion(t, path, version)
		default:
			path = laterSchema(t)
		}
		before := sums(t, filepath.Dir(path))
		db, err := bolt.Open(path, bolt.Options{})
		switch {
		case version == 6 && err == nil:
			_, err = db.Accounts().Accounts(t.Context())
			if err := errors.Join(err, db.Close()); err != nil {
				t.Error(err)
			}
		case version == 6 || !errors.Is(err, bolt.ErrSchema):
			t.Errorf("version %d: Open: %v", version, err)
		case version > 0 && !strings.HasSuffix(err.Error(), fmt.Sprintf("it is at %d, but this program needs 6: run innsigli migrate", version)):
			t.Errorf("version %d: Open does not say what to do: %v", version, err)
		}
		if after := sums(t, filepath.Dir(path)); after != before {
			t.Errorf("version %d: before and after Open:\n%s\n%s", version, before, after)
		}
	}
}

// setVersion has a store be of a version.
func setVersion(t *testing.T, path string, version int) {
	t.Helper()
	file := openFile(t, path)
	defer file.Close()
	err := file.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("meta")).Put([]byte("schema"), []byte(fmt.Sprint(version)))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sums has a line for each file below a folder, with a hash of its content.
func sums(t *testing.T, folder string) string {
	t.Helper()
	var lines []string
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			lines = append(lines, fmt.Sprintf("%x %s", sha256.Sum256(read(t, filepath.Join(folder, name))), name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
