// Package postgres gives tests a Postgres database. Only tests import it.
//
//	func TestMain(m *testing.M) { postgrestest.Main(m) }
//
//	func TestStore(t *testing.T) {
//		url := postgrestest.Database(t) // empty, dropped at the end of the test
//		...
//	}
//
// The databases are made on the server that INNSIGLI_TEST_POSTGRES names, as
// postgres://user:password@host:5432/postgres, by a user who may make some, and roles. Without it
// the package starts a server of its own from the programs that are installed: those in
// the folder INNSIGLI_POSTGRES_BIN, on the PATH or where Debian puts them. That server
// listens on the loopback interface, keeps its files in a temporary folder and does not
// wait for the disk; it is much quicker where INNSIGLI_POSTGRES_FOLDER names a folder in
// memory for these. Where there is neither, the test ends as testenv.Absent says.
//
// A server is there for one process and never outlives it, however that ends.
package postgres

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// shared is the server that the tests of a process have in common: starting one takes
// longer than most tests.
var shared struct {
	sync.Mutex
	server *Server
}

// Main is the TestMain of a package whose tests use Database. It stops the server when
// they have run.
func Main(m interface{ Run() int }) {
	code := m.Run()
	if shared.server != nil {
		shared.server.end()
	}
	os.Exit(code)
}

// Database makes an empty database and returns its URL.
func Database(t testing.TB) string {
	t.Helper()
	server := os.Getenv("INNSIGLI_TEST_POSTGRES")
	if server == "" {
		server = ours(t).URL("postgres")
	}
	name := "innsigli_test_" + strings.ToLower(rand.Text())
	execute(t, server, "CREATE DATABASE "+name)
	t.Cleanup(func() { execute(t, server, "DROP DATABASE "+name+" WITH (FORCE)") })
	return within(t, server, name)
}

// ours is the shared server, started for the first test that needs it.
func ours(t testing.TB) *Server {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		shared.server = start(t)
	}
	return shared.server
}

func execute(t testing.TB, server, statement string) {
	t.Helper()
	ctx := context.Background() // t's own has ended in a cleanup
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatalf("postgrestest: %v", err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement); err != nil {
		t.Fatalf("postgrestest: %s: %v", statement, err)
	}
}

// patience are limits that no machine reaches within the time of a test, however busy it is. What happens when one is
// reached is for tests that set it themselves.
var patience = map[string]string{
	"connect_timeout":                     "3600", // in seconds, the others in milliseconds
	"statement_timeout":                   "3600000",
	"lock_timeout":                        "3600000",
	"idle_in_transaction_session_timeout": "3600000",
}

// within is the URL of another database of the server. Its limits are patient.
func within(t testing.TB, server, name string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil || u.Host == "" {
		t.Fatal("postgrestest: INNSIGLI_TEST_POSTGRES is no URL such as postgres://user:password@host:5432/postgres")
	}
	u.Path = "/" + name
	q := u.Query()
	for name, limit := range patience {
		q.Set(name, limit)
	}
	u.RawQuery = q.Encode()
	return u.String()
}
