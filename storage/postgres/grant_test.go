package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
)

// serverRole makes a role for the servers of a database, and returns its name and the URL for it. It must be called
// before the database is made: the role cannot be dropped before the database is.
func serverRole(t testing.TB, cluster string) (name string, as func(database string) string) {
	t.Helper()
	name, password := "innsigli_test_"+strings.ToLower(rand.Text()), rand.Text()
	execute(t, cluster, fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD '%s'", name, password))
	t.Cleanup(func() { execute(t, cluster, "DROP ROLE "+name) })
	return name, func(database string) string {
		u, err := url.Parse(database)
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.UserPassword(name, password)
		return u.String()
	}
}

// TestGrantServer checks what the role of servers may do, and that it may do nothing else.
func TestGrantServer(t *testing.T) {
	cluster := postgrestest.Cluster(t).URL("postgres")
	execute(t, cluster, `CREATE ROLE owner LOGIN PASSWORD 'o'; CREATE ROLE "ser""ver; DROP" LOGIN PASSWORD 's';
		CREATE ROLE apprentice LOGIN IN ROLE owner; CREATE ROLE chief LOGIN SUPERUSER; CREATE ROLE creator LOGIN CREATEROLE;
		DO $$ BEGIN CREATE ROLE innsigli_evidence; EXCEPTION WHEN duplicate_object OR unique_violation THEN END $$;
		CREATE ROLE pruner LOGIN IN ROLE innsigli_evidence`)
	execute(t, cluster, "CREATE DATABASE service OWNER owner")
	execute(t, within(t, cluster, "service"), "REVOKE CREATE ON SCHEMA public FROM PUBLIC; GRANT CREATE ON SCHEMA public TO owner") // as it is from Postgres 15 on
	owner, server := as(t, cluster, "owner", "o", "service"), as(t, cluster, `ser"ver; DROP`, "s", "service")
	checkError(t, GrantServer(t.Context(), owner, "apprentice", Options{}), ErrSchema)
	if _, _, err := Migrate(t.Context(), owner, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{"owner", "apprentice", "chief", "creator", "pruner", "innsigli_evidence", "missing", strings.Repeat("x", 64), ""} {
		checkError(t, GrantServer(t.Context(), owner, role, Options{}), ErrRole)
	}
	checkError(t, GrantServer(t.Context(), server, "apprentice", Options{}), ErrNotGranted)

	execute(t, owner, `GRANT ALL ON ALL TABLES IN SCHEMA public TO "ser""ver; DROP"`) // too much
	execute(t, within(t, cluster, "service"), "CREATE TABLE public.others (n int)")
	var group errgroup.Group
	for range 4 { // also at once
		group.Go(func() error { return GrantServer(t.Context(), owner, `ser"ver; DROP`, Options{}) })
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	execute(t, owner, "CREATE TABLE later (n int GENERATED ALWAYS AS IDENTITY, m serial)")
	if from, to, err := Migrate(t.Context(), server, Options{}); err != nil || from != to { // as a server does when it starts
		t.Errorf("Migrate as the server: from %d to %d, %v", from, to, err)
	}
	openedAt(t, server, Options{})
	copying := openedAt(t, owner, Options{Name: "innsigli-copy"})
	testenv.Wait(t, "the owner sees the connection of the server, which has another role", func() bool {
		n, err := copying.OtherConnections(t.Context())
		return n == 1 && err == nil
	})
	conn, err := pgx.Connect(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for statement, allowed := range map[string]bool{
		"SELECT FROM accounts FOR UPDATE":                     true,
		"UPDATE accounts SET id = id":                         true,
		"DELETE FROM jobs":                                    true,
		"INSERT INTO later DEFAULT VALUES":                    true,
		"DELETE FROM later":                                   true,
		"SELECT FROM innsigli_schema":                         true,
		"SELECT FROM evidence":                                true,
		"DELETE FROM evidence":                                false,
		"UPDATE evidence_batches SET number = 1":              false,
		"DELETE FROM evidence_salts":                          false,
		"INSERT INTO innsigli_schema (version) VALUES (1000)": false,
		"DELETE FROM innsigli_schema":                         false,
		"TRUNCATE jobs":                                       false,
		"DROP TABLE jobs":                                     false,
		"ALTER TABLE jobs ADD x int":                          false,
		"ALTER TABLE jobs DISABLE TRIGGER ALL":                false,
		"CREATE TABLE mine (n int)":                           false,
		"SELECT FROM others":                                  false,
		"SET ROLE owner":                                      false,
	} {
		_, err := conn.Exec(t.Context(), statement)
		if refused := errors.Is(translate(err), ErrNotGranted); refused == allowed || allowed && err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

// within returns the URL of another database of a server.
func within(t *testing.T, server, database string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + database
	return u.String()
}
