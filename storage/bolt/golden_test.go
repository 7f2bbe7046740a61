package bolt_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"go.etcd.io/bbolt"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/storagetest"
)

// golden is what a store of this version has on the disk, and earlierGolden what stores of versions 3 to 5 have. Documents of
// version 3 were in the file or in a folder. In those with "order" in their names, participants have their members in another order.
//
// A golden file has a block for each bucket, and one for the folder of documents. The first line
// of a block has the names of the bucket, from the outermost one on, and its sequence. Each other
// line is a key and its value. Names, keys and values are quoted as in Go, but JSON is as it is
// stored. The block of a folder has the names of files and their content.
const golden = "testdata/records-6.golden"

// goldenBeforeChain is that of version 4.
const goldenBeforeChain = "testdata/earlier/records-4.golden"

// goldenJSON is that of version 5, whose records of the evidence log are JSON.
const goldenJSON = "testdata/earlier/records-5.golden"

var earlierGolden = []string{
	"testdata/earlier/records-3.golden", "testdata/earlier/records-3-order.golden",
	"testdata/earlier/records-3-folder.golden", "testdata/earlier/records-3-folder-order.golden",
	goldenBeforeChain, goldenJSON,
}

// TestGoldenRecordsAreWritten fails when a record is stored in another way than before.
func TestGoldenRecordsAreWritten(t *testing.T) {
	folder := t.TempDir()
	var renamed []string
	synctest.Test(t, func(t *testing.T) { // where the time is always the same
		renamed = storagetest.WriteExamples(t, backend(t, folder))
	})
	blocks := append(dumpFile(t, filepath.Join(folder, "store.db")), dumpFolder(t, inDocuments(folder)))
	mark := string(read(t, inDocuments(folder, "store-id")))
	renamed = append(renamed, mark, "00000000-0000-0000-0000-000000000000")
	testenv.SameAsGolden(t, golden, []byte(joined(t, blocks, strings.NewReplacer(renamed...))))
}

// TestGoldenRecordsAreRead fails when a record that was stored before is not read as it was.
func TestGoldenRecordsAreRead(t *testing.T) {
	for _, file := range append([]string{golden}, earlierGolden...) {
		t.Run(file, func(t *testing.T) {
			folder := t.TempDir()
			restore(t, string(read(t, file)), folder)
			want, readExamples := 3, storagetest.ReadEarlierExamples
			switch file {
			case golden:
				want, readExamples = 6, storagetest.ReadExamples
			case goldenJSON:
				want, readExamples = 5, storagetest.ReadExamples
			case goldenBeforeChain:
				want, readExamples = 4, storagetest.ReadExamplesBeforeChain
			}
			if from, to, err := bolt.Migrate(filepath.Join(folder, "store.db"), bolt.Options{}); from != want || to != 6 || err != nil {
				t.Fatalf("Migrate: %d -> %d, %v", from, to, err)
			}
			readExamples(t, backend(t, folder))
		})
	}
}

// dumpFile returns the blocks of all buckets in a store's file, each as its lines.
func dumpFile(t *testing.T, path string) (blocks [][]string) {
	t.Helper()
	file := openFile(t, path)
	err := file.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			blocks = append(blocks, dumpBucket(b, strconv.QuoteToASCII(string(name)))...)
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

// openFile opens a file with bbolt until the end of the test.
func openFile(t *testing.T, path string) *bbolt.DB {
	t.Helper()
	file, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

// dumpBucket returns the blocks of a bucket and of the buckets in it.
func dumpBucket(b *bbolt.Bucket, name string) (blocks [][]string) {
	lines := []string{fmt.Sprintf("bucket %s sequence %d", name, b.Sequence())}
	_ = b.ForEach(func(k, v []byte) error {
		key := strconv.QuoteToASCII(string(k))
		if v == nil {
			blocks = append(blocks, dumpBucket(b.Bucket(k), name+" "+key)...)
			return nil
		}
		value := strconv.QuoteToASCII(string(v))
		if json.Valid(v) && v[0] == '{' && !slices.Contains(v, '\n') {
			value = string(v)
		}
		lines = append(lines, key+" = "+value)
		return nil
	})
	return append(blocks, lines)
}

// dumpFolder returns the block of a folder of documents.
func dumpFolder(t *testing.T, folder string) []string {
	t.Helper()
	lines := []string{"folder"}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		content := read(t, filepath.Join(folder, entry.Name()))
		lines = append(lines, fmt.Sprintf("%+q = %+q", entry.Name(), content))
	}
	return lines
}

// joined returns the text of a golden file. It replaces the values that are never the same, and
// then sorts the blocks and the lines in them. A bucket without an example fails the test.
func joined(t *testing.T, blocks [][]string, rename *strings.Replacer) string {
	t.Helper()
	var texts []string
	for _, lines := range blocks {
		if len(lines) == 1 {
			t.Errorf("no example is in: %s", lines[0])
		}
		for i := range lines {
			lines[i] = rename.Replace(lines[i])
		}
		slices.Sort(lines[1:])
		texts = append(texts, strings.Join(lines, "\n"))
	}
	slices.Sort(texts)
	return strings.Join(texts, "\n\n") + "\n"
}

// restore makes a store of the text of a golden file.
func restore(t *testing.T, golden, folder string) {
	t.Helper()
	file := openFile(t, filepath.Join(folder, "store.db"))
	defer file.Close()
	err := file.Update(func(tx *bbolt.Tx) error {
		for block := range strings.SplitSeq(strings.TrimSuffix(golden, "\n"), "\n\n") {
			lines := strings.Split(block, "\n")
			if lines[0] == "folder" {
				restoreFolder(t, inDocuments(folder), lines[1:])
			} else if err := restoreBucket(t, tx, lines); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// restoreFolder makes a folder of documents.
func restoreFolder(t *testing.T, folder string, lines []string) {
	t.Helper()
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		name, content := parsed(t, line)
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// restoreBucket makes a bucket of its block.
func restoreBucket(t *testing.T, tx *bbolt.Tx, lines []string) error {
	t.Helper()
	names, sequence, _ := strings.Cut(strings.TrimPrefix(lines[0], "bucket "), " sequence ")
	var b *bbolt.Bucket
	create := tx.CreateBucketIfNotExists
	for name := range strings.FieldsSeq(names) {
		var err error
		if b, err = create([]byte(unquoted(t, name))); err != nil {
			return err
		}
		create = b.CreateBucketIfNotExists
	}
	n, err := strconv.ParseUint(sequence, 10, 64)
	if err != nil {
		return err
	}
	for _, line := range lines[1:] {
		key, value := parsed(t, line)
		if err := b.Put([]byte(key), []byte(value)); err != nil {
			return err
		}
	}
	return b.SetSequence(n)
}

// parsed returns the key and the value of a line.
func parsed(t *testing.T, line string) (key, value string) {
	t.Helper()
	quoted, err := strconv.QuotedPrefix(line)
	if err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	value = strings.TrimPrefix(line[len(quoted):], " = ")
	if strings.HasPrefix(value, `"`) {
		value = unquoted(t, value)
	}
	return unquoted(t, quoted), value
}

// unquoted returns what was quoted.
func unquoted(t *testing.T, quoted string) string {
	t.Helper()
	text, err := strconv.Unquote(quoted)
	if err != nil {
		t.Fatalf("%v: %s", err, quoted)
	}
	return text
}
