package postgres

import (
	"context"
	"crypto/rand"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/storage/storagetest"
)

func TestMain(m *testing.M) { postgrestest.Main(m) }

// TestBackend runs the suite on this version's tables, as a role that has what [GrantServer] grants, and what erasing and
// copying the evidence log needs beyond it. With INNSIGLI_FULL=1 it also runs the suite on tables as the next version may
// migrate them, which this version must be able to use.
func TestBackend(t *testing.T) {
	tables := map[string]fs.FS{"this version's tables": embedded}
	if testenv.Full() {
		tables["the next version's"] = versions(t, current(t)+1)
	}
	for name, files := range tables {
		t.Run(name, func(t *testing.T) {
			cluster := postgrestest.Database(t)
			servers, _ := serverRole(t, cluster)
			role, as := serverRole(t, cluster)
			database := postgrestest.Database(t)
			execute(t, database, fmt.Sprintf(`DO $$ BEGIN CREATE ROLE innsigli_evidence; EXCEPTION WHEN duplicate_object OR unique_violation THEN END $$;
				GRANT %s, innsigli_evidence TO %s`, servers, role))
			storagetest.Run(t, func(t *testing.T) storagetest.Backend {
				url := schema(t, database)
				if _, _, err := migrate(t.Context(), url, Options{}, files); err != nil {
					t.Fatal(err)
				}
				if err := GrantServer(t.Context(), url, servers, Options{}); err != nil {
					t.Fatal(err)
				}
				execute(t, url, "GRANT UPDATE ON SEQUENCE evidence_seq_seq TO "+role)
				return backendFor(t, as(url), url)
			})
		})
	}
}

// schema creates a schema in the database and returns its URL. That is faster than creating a database.
func schema(t testing.TB, database string) string {
	t.Helper()
	name := "s_" + strings.ToLower(rand.Text())
	execute(t, database, "CREATE SCHEMA "+name)
	return with(t, database, "search_path", name)
}

// with returns the URL with additional settings, each a name and a value.
func with(t testing.TB, database string, settings ...string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	for pair := range slices.Chunk(settings, 2) {
		query.Set(pair[0], pair[1])
	}
	u.RawQuery = query.Encode()
	return u.String()
}

func backend(t *testing.T, url string) storagetest.Backend { return backendFor(t, url, url) }

// backendFor opens the store at url. owner is the URL for the owner of its tables.
func backendFor(t *testing.T, url, owner string) storagetest.Backend {
	t.Helper()
	db := openedAt(t, url, Options{})
	return storagetest.Backend{
		Transactor:  db,
		Documents:   db.Documents(),
		Accounts:    db.Accounts(),
		BusySignals: db.BusySignals(),
		Requests:    db.Requests(),
		Sandbox:     db.Sandbox(),
		Jobs:        db.Jobs(),
		EvidenceLog: db.EvidenceLog(),
		Webhooks:    db.Webhooks(),
		Processes:   db.Processes(),
		Pages:       db.Pages(),
		Buckets:     db.Buckets(),
		Bytes:       func(t testing.TB) int64 { return documentBytes(t, owner) },
		Reopen: func(t *testing.T) storagetest.Backend {
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			return backendFor(t, url, owner)
		},
	}
}

// documentBytes returns the size of the tables of documents after a VACUUM.
func documentBytes(t testing.TB, url string) (n int64) {
	t.Helper()
	execute(t, url, "VACUUM documents, document_chunks")
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	const size = "SELECT pg_total_relation_size('documents') + pg_total_relation_size('document_chunks')"
	if err := conn.QueryRow(t.Context(), size).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
