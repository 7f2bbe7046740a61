package bolt_test

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/storage/bolt"
)

// A transaction writes as little after gigabytes were deleted as it does in an empty store: at most twice as much. With
// INNSIGLI_FULL that is 3 GB of documents and 1 GB of records.
func TestTransactionsStaySmall(t *testing.T) {
	documents, records := int64(100<<20), int64(100<<20)
	if os.Getenv("INNSIGLI_FULL") != "" {
		documents, records = 3<<30, 1<<30
	}
	db := openIn(t, t.TempDir())
	empty := bytesPerTransaction(t, db)
	var ids []string
	for range documents / (10 << 20) {
		ref, err := db.Documents().Create(t.Context(), &pattern{size: 10 << 20}, 10<<20)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, ref.ID)
	}
	for _, id := range ids {
		deleteDocument(t, db, id)
	}
	afterDocuments := bytesPerTransaction(t, db)
	for i := range records / (10 << 20) {
		put(t, db, fmt.Sprint(i), make([]byte, 10<<20))
	}
	for i := range records / (10 << 20) {
		drop(t, db, fmt.Sprint(i))
	}
	afterRecords := bytesPerTransaction(t, db)
	size, free, err := db.FileSize()
	if err != nil || free < records {
		t.Errorf("FileSize: %d, %d, %v", size, free, err)
	}
	t.Logf("bytes a transaction writes: %d in an empty store, %d after %d MB of documents, %d after %d MB of records",
		empty, afterDocuments, documents>>20, afterRecords, records>>20)
	if afterDocuments > 2*empty || afterRecords > 2*empty {
		t.Errorf("a transaction writes %d and %d bytes, and %d in an empty store", afterDocuments, afterRecords, empty)
	}
	if n := documentBytes(t, db); n > 0 {
		t.Errorf("the folder has %d bytes", n)
	}
}

// bytesPerTransaction makes small transactions, and returns how many bytes this process wrote for each.
func bytesPerTransaction(t *testing.T, db *bolt.DB) int64 {
	t.Helper()
	const number = 50
	before := bytesWritten(t)
	for i := range number {
		put(t, db, fmt.Sprint("small ", i), bytes.Repeat([]byte{1}, 500))
	}
	for i := range number {
		drop(t, db, fmt.Sprint("small ", i))
	}
	return (bytesWritten(t) - before) / (2 * number)
}

// bytesWritten returns how many bytes this process has given to write calls.
func bytesWritten(t *testing.T) int64 {
	t.Helper()
	for line := range strings.Lines(string(read(t, "/proc/self/io"))) {
		if text, ok := strings.CutPrefix(line, "wchar: "); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatal("/proc/self/io has no wchar")
	return 0
}
