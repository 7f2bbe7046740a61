package postgres_test

import (
	"bytes"
	"context"
	"crypto"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/postgres"
)

// migrated is a store with its tables and nothing in them, and a connection besides its
// own.
func migrated(t testing.TB) (*postgres.DB, *pgx.Conn) {
	t.Helper()
	url := postgrestest.Database(t)
	if _, _, err := postgres.Migrate(t.Context(), url); err != nil {
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

// ask is the answer to a question of one value.
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

func remove(t testing.TB, db *postgres.DB, id string) {
	t.Helper()
	err := db.InTx(t.Context(), func(ctx context.Context) error { return db.Documents().Delete(ctx, id) })
	if err != nil {
		t.Fatal(err)
	}
}

// A row of bytes fills a page, and nothing tries to make it smaller, also when that would
// be easy.
func TestAChunkFillsAPage(t *testing.T) {
	db, conn := migrated(t)
	const rows = 100
	create(t, db, make([]byte, rows*8096))
	for question, want := range map[string]int64{
		"SELECT count(*) FROM document_chunks":                                                                           rows,
		"SELECT count(DISTINCT (ctid::text::point)[0]) FROM document_chunks":                                             rows, // pages; the server may add some ahead of need
		"SELECT sum(pg_column_size(content)) FROM document_chunks":                                                       rows * (8096 + 4),
		"SELECT coalesce(pg_relation_size(nullif(reltoastrelid, 0)), 0) FROM pg_class WHERE relname = 'document_chunks'": 0,
	} {
		if got := ask[int64](t, conn, question); got != want {
			t.Errorf("%s: %d, want %d", question, got, want)
		}
	}
}

// Documents are read window by window, and one may begin with any byte of a chunk.
func TestAChunkIsReadFromAnyByte(t *testing.T) {
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

// The room of a document that was deleted is the next one's.
func TestRoomIsUsedAgain(t *testing.T) {
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

// A document that is coming in does not exist for anybody who knows its id.
func TestADocumentIsNotThereBeforeItIsComplete(t *testing.T) {
	db, conn := migrated(t)
	looked := false
	look := readerFunc(func([]byte) (int, error) {
		looked = true
		id := ask[string](t, conn, "SELECT id::text FROM documents")
		_, err := db.Documents().Open(t.Context(), id)
		refused(t, err, storage.ErrNotFound)
		err = db.InTx(t.Context(), func(ctx context.Context) error { return db.Documents().Keep(ctx, id) })
		refused(t, err, storage.ErrNotFound)
		return 0, io.EOF
	})
	r := io.MultiReader(strings.NewReader(strings.Repeat("x", 1<<20)), look)
	if _, err := db.Documents().Create(t.Context(), r, 1<<30); err != nil || !looked {
		t.Fatalf("Create: %v", err)
	}
}

func TestADocumentIsNotCreatedWithinATransaction(t *testing.T) {
	db, _ := migrated(t)
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		_, err := db.Documents().Create(ctx, bytes.NewReader(nil), 0)
		return err
	})
	if err == nil {
		t.Error("Create took no notice")
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
