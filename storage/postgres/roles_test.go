package postgres

import (
	"fmt"
	"net/url"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
)

// What a database lacks is told apart: itself, the role, its rights.
func TestWhatADatabaseLacks(t *testing.T) {
	owner := postgrestest.Cluster(t).URL("postgres")
	execute(t, owner, "CREATE ROLE server LOGIN PASSWORD '"+secret+"'")
	execute(t, owner, "REVOKE CREATE ON SCHEMA public FROM PUBLIC") // as it is from Postgres 15 on
	server := as(t, owner, "server", secret, "postgres")
	refused := func(database string, opening, migrating error) {
		t.Helper()
		_, err := Open(t.Context(), database, Options{})
		refusedWith(t, err, opening)
		_, _, err = Migrate(t.Context(), database)
		refusedWith(t, err, migrating)
	}
	refused(as(t, owner, "server", secret, "nowhere"), ErrNoDatabase, ErrNoDatabase)
	refused(as(t, owner, "server", "not the "+secret, "postgres"), ErrRefused, ErrRefused)
	refused(as(t, owner, "nobody", secret, "postgres"), ErrRefused, ErrRefused)
	refused(server, ErrSchema, ErrMayNotMake)
	if _, _, err := Migrate(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	refused(server, ErrNotGranted, ErrNotGranted)
	execute(t, owner, "GRANT SELECT ON innsigli_schema TO server")
	_, err := openedAt(t, server, Options{}).Accounts().Accounts(t.Context())
	refusedWith(t, err, ErrNotGranted)
}

// as is the URL for a role and a database of the server.
func as(t *testing.T, server, role, password, database string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.User, u.Path = url.UserPassword(role, password), "/"+database
	return u.String()
}

// A store sees the connections of servers and not its own, whatever the URL names it, nor
// those to another database or of another program.
func TestOthers(t *testing.T) {
	_, elsewhere := opened(t, Options{})
	_, url := opened(t, Options{}) // the first server
	db := openedAt(t, with(t, url, "application_name", "innsigli at the URL"), Options{Name: "innsigli-copy"})
	openedAt(t, elsewhere, Options{})
	openedAt(t, with(t, url, "application_name", "psql"), Options{})
	want := func(number int) {
		t.Helper()
		testenv.Wait(t, fmt.Sprintf("%d connections", number), func() bool {
			n, err := db.Others(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return n == number
		})
	}
	want(1)
	other := openedAt(t, with(t, url, "application_name", "innsigli-2"), Options{})
	want(2)
	other.Close()
	want(1)
}
