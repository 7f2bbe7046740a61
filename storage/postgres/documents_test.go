package postgres_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/postgres"
)

// migrated returns a store in a new database, and another connection to the database.
func migrated(t testing.TB) (*postgres.DB, *pgx.Conn) {
	t.Helper()
	url := postgrestest.Database(t)
	if _, _, err := postgres.Migrate(t.Context(), url, postgres.Options{}); err != nil {
		t.Fatal(err)
	}
	db, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return db, conn
}

// ask returns the result of a query of one value.
func ask[T any](t testing.TB, conn *pgx.Conn, question string) (answer T) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), question).Scan(&answer); err != nil {
		t.Fatalf("%s: %v", question, err)
	}
	return answer
}

func create(t testing.TB, db *postgres.DB, p []byte) storage.Ref {
	t.Helper()
	ref, err := db.Documents().Create(t.Context(), bytes.NewReader(p), int64(len(p)), crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// do runs fn in a transaction that must succeed.
func do(t testing.TB, db *postgres.DB, fn func(ctx context.Context) error) {
	t.Helper()
	if err := db.InTx(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// checkError fails the test unless err is the one wanted.
func checkError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("the error is %v, want %v", err, want)
	}
}

func remove(t testing.TB, db *postgres.DB, id string) {
	t.Helper()
	do(t, db, func(ctx context.Context) error { return db.Documents().Delete(ctx, id) })
}

// TestChunkFillsPage checks that a chunk fills a page of the table, and is neither compressed nor moved to a TOAST table.
func TestChunkFillsPage(t *testing.T) {
	db, conn := migrated(t)
	const rows = 100
	create(t, db, make([]byte, rows*8096))
	for question, want := range map[string]int64{
		"SELECT count(*) FROM document_chunks":                                                                           rows,
		"SELECT count(DISTINCT (ctid::text::point)[0]) FROM document_chunks":                                             rows, // pages with rows; the server may allocate more
		"SELECT sum(pg_column_size(content)) FROM document_chunks":                                                       rows * (8096 + 4),
		"SELECT coalesce(pg_relation_size(nullif(reltoastrelid, 0)), 0) FROM pg_class WHERE relname = 'document_chunks'": 0,
	} {
		if got := ask[int64](t, conn, question); got != want {
			t.Errorf("%s: %d, want %d", question, got, want)
		}
	}
}

// TestReadFromWithinChunk checks reads of windows that begin at various bytes of a chunk.
func TestReadFromWithinChunk(t *testing.T) {
	const window, chunk = 256 << 10, 8096
	db, _ := migrated(t)
	for _, before := range []int{1, 2, chunk - 2, chunk - 1, chunk, chunk + 1} {
		p := make([]byte, window+3*chunk)
		rand.NewChaCha8([32]byte{}).Read(p)
		base := window - before // where a chunk begins
		ref := create(t, db, p[:base])
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			return db.Documents().Append(ctx, ref.ID, storage.Revision{Base: ref.Size, Bytes: p[base:]})
		})
		if err != nil {
			t.Fatal(err)
		}
		blob, err := db.Documents().Open(t.Context(), ref.ID)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(p)-window)
		if _, err := blob.ReadAt(got, window); err != nil || !bytes.Equal(got, p[window:]) {
			t.Errorf("a chunk that begins %d bytes before: %v", before, err)
		}
		blob.Close()
	}
}

// TestSpaceIsReused checks that a new document uses the disk space of a deleted one.
func TestSpaceIsReused(t *testing.T) {
	db, conn := migrated(t)
	p := bytes.Repeat([]byte("x"), 2<<20)
	size := func() int64 { return ask[int64](t, conn, "SELECT pg_relation_size('document_chunks')") }
	ref := create(t, db, p)
	first := size()
	for range 3 {
		remove(t, db, ref.ID)
		if n := ask[int64](t, conn, "SELECT count(*) FROM document_chunks"); n != 0 {
			t.Fatalf("%d chunks are left", n)
		}
		if _, err := conn.Exec(t.Context(), "VACUUM document_chunks"); err != nil {
			t.Fatal(err)
		}
		ref = create(t, db, p)
	}
	if now := size(); now > first {
		t.Errorf("the table has grown from %d to %d bytes", first, now)
	}
}

// TestIncompleteDocument checks that a document does not exist for other callers while it is created.
func TestIncompleteDocument(t *testing.T) {
	db, conn := migrated(t)
	looked := false
	look := readerFunc(func([]byte) (int, error) {
		looked = true
		id := ask[string](t, conn, "SELECT id::text FROM documents")
		_, err := db.Documents().Open(t.Context(), id)
		checkError(t, err, storage.ErrNotFound)
		err = db.InTx(t.Context(), func(ctx context.Context) error { return db.Documents().Keep(ctx, id) })
		checkError(t, err, storage.ErrNotFound)
		return 0, io.EOF
	})
	r := io.MultiReader(strings.NewReader(strings.Repeat("x", 1<<20)), look)
	if _, err := db.Documents().Create(t.Context(), r, 1<<30); err != nil || !looked {
		t.Fatalf("Create: %v", err)
	}
}

func TestCreateInTransaction(t *testing.T) {
	db, _ := migrated(t)
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		_, err := db.Documents().Create(ctx, bytes.NewReader(nil), 0)
		return err
	})
	if err == nil {
		t.Error("Create succeeded")
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// crash kills a process of the server, which then restarts and recovers from its write-ahead log.
func crash(t *testing.T, url string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	backend := ask[int](t, conn, "SELECT pg_backend_pid()")
	if _, err := conn.Exec(t.Context(), fmt.Sprintf("COPY (SELECT 1) TO PROGRAM 'kill -KILL %d'", backend)); err == nil {
		t.Fatal("the connection survived")
	}
}

// TestCrash checks that a document is durable when Create has returned, although only the last commit waits for the disk, and
// that a document which was being created during a crash is stored completely or not at all.
func TestCrash(t *testing.T) {
	url := postgrestest.Cluster(t).URL("postgres")
	if _, _, err := postgres.Migrate(t.Context(), url, postgres.Options{}); err != nil {
		t.Fatal(err)
	}
	db, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()

	half := io.MultiReader(bytes.NewReader(make([]byte, 3<<20)), readerFunc(func([]byte) (int, error) {
		crash(t, url)
		return 0, io.EOF
	}))
	created, err := db.Documents().Create(t.Context(), half, 1<<30)
	if err == nil {
		retry(t, func() error { return checkDocument(t, db, created.ID, make([]byte, 3<<20)) })
	}
	swept := -1
	retry(t, func() (err error) {
		swept, err = db.Documents().Sweep(t.Context(), time.Now().Add(time.Hour))
		return err
	})
	if swept > 1 {
		t.Errorf("%d documents were swept", swept)
	}

	p := bytes.Repeat([]byte("whole"), 1<<20)
	var ref storage.Ref
	retry(t, func() (err error) {
		ref, err = db.Documents().Create(t.Context(), bytes.NewReader(p), int64(len(p)))
		return err
	})
	crash(t, url)
	retry(t, func() error { return checkDocument(t, db, ref.ID, p) })
}

// TestLostCommit checks that Create fails if the server has lost commits of the document in a crash: content that is added then
// would leave a gap.
func TestLostCommit(t *testing.T) {
	db, conn := migrated(t)
	for name, lose := range map[string]string{
		"a part":                            "UPDATE documents SET size = size - 1",
		"the document":                      "DELETE FROM documents",
		"the document, whose seq is reused": "UPDATE documents SET id = gen_random_uuid()",
	} {
		t.Run(name, func(t *testing.T) {
			half := io.MultiReader(bytes.NewReader(make([]byte, 3<<20)), readerFunc(func([]byte) (int, error) {
				_, err := conn.Exec(t.Context(), lose)
				return 0, cmp.Or(err, io.EOF)
			}))
			if ref, err := db.Documents().Create(t.Context(), half, 1<<30); err == nil {
				t.Errorf("a document with a gap was stored, of %d bytes", ref.Size)
			}
		})
	}
}

// checkDocument returns an error if the document cannot be read, and fails the test if it has other content.
func checkDocument(t *testing.T, db *postgres.DB, id string, want []byte) error {
	t.Helper()
	blob, err := db.Documents().Open(t.Context(), id)
	if err != nil {
		return err
	}
	defer blob.Close()
	got, err := io.ReadAll(io.NewSectionReader(blob, 0, blob.Size()))
	if err == nil && !bytes.Equal(got, want) {
		t.Errorf("the document has %d bytes, want %d, or other content", len(got), len(want))
	}
	return err
}

// retry calls fn until the server is available.
func retry(t *testing.T, fn func() error) {
	t.Helper()
	testenv.Wait(t, "the server after its crash", func() bool {
		err := fn()
		if err != nil && !errors.Is(err, storage.ErrUnavailable) {
			t.Fatal(err)
		}
		return err == nil
	})
}
