package postgres_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/postgres"
)

// crash kills a process of the server, which then gives up what it had in memory and goes
// on from what it had written.
func crash(t *testing.T, url string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	itself := ask[int](t, conn, "SELECT pg_backend_pid()")
	if _, err := conn.Exec(t.Context(), fmt.Sprintf("COPY (SELECT 1) TO PROGRAM 'kill -KILL %d'", itself)); err == nil {
		t.Fatal("the server goes on as if nothing had happened")
	}
}

// A document is durable when Create has returned, although only its last bytes were waited
// for; one that was coming in when the server crashed is stored whole or not at all.
func TestDocumentsAndACrash(t *testing.T) {
	url := postgrestest.Cluster(t).URL("postgres")
	if _, _, err := postgres.Migrate(t.Context(), url); err != nil {
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
		again(t, func() error { return holds(t, db, created.ID, make([]byte, 3<<20)) })
	}
	swept := -1
	again(t, func() (err error) {
		swept, err = db.Documents().Sweep(t.Context(), time.Now().Add(time.Hour))
		return err
	})
	if swept > 1 {
		t.Errorf("%d documents were swept", swept)
	}

	p := bytes.Repeat([]byte("whole"), 1<<20)
	var ref storage.Ref
	again(t, func() (err error) {
		ref, err = db.Documents().Create(t.Context(), bytes.NewReader(p), int64(len(p)))
		return err
	})
	crash(t, url)
	again(t, func() error { return holds(t, db, ref.ID, p) })
}

// The last commits of a document that is coming in do not wait for the disk, and a crash
// may undo them. What is added then would leave a hole.
func TestALostStepIsNoticed(t *testing.T) {
	db, conn := migrated(t)
	for name, lose := range map[string]string{
		"bytes":                   "UPDATE documents SET size = size - 1",
		"all of it":               "DELETE FROM documents",
		"all, and its number too": "UPDATE documents SET id = gen_random_uuid()",
	} {
		t.Run(name, func(t *testing.T) {
			half := io.MultiReader(bytes.NewReader(make([]byte, 3<<20)), readerFunc(func([]byte) (int, error) {
				_, err := conn.Exec(t.Context(), lose)
				return 0, cmp.Or(err, io.EOF)
			}))
			if ref, err := db.Documents().Create(t.Context(), half, 1<<30); err == nil {
				t.Errorf("a document with a hole was stored, of %d bytes", ref.Size)
			}
		})
	}
}

// holds reads a document.
func holds(t *testing.T, db *postgres.DB, id string, want []byte) error {
	t.Helper()
	blob, err := db.Documents().Open(t.Context(), id)
	if err != nil {
		return err
	}
	defer blob.Close()
	got, err := io.ReadAll(io.NewSectionReader(blob, 0, blob.Size()))
	if err == nil && !bytes.Equal(got, want) {
		t.Errorf("the document has %d bytes, or others", len(got))
	}
	return err
}

// again calls fn until the server is back.
func again(t *testing.T, fn func() error) {
	t.Helper()
	testenv.Wait(t, "the server after its crash", func() bool {
		err := fn()
		if err != nil && !errors.Is(err, storage.ErrUnavailable) {
			t.Fatal(err)
		}
		return err == nil
	})
}
