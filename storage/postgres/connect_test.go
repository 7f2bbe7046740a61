package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/storage"
)

// opened returns a store in a new database, and the database's URL.
func opened(t *testing.T, opts Options) (*DB, string) {
	t.Helper()
	url := migrated(t)
	return openedAt(t, url, opts), url
}

// migrated returns the URL of a new database with this version's tables.
func migrated(t *testing.T) string {
	t.Helper()
	url := postgrestest.Database(t)
	if _, _, err := Migrate(t.Context(), url, Options{}); err != nil {
		t.Fatal(err)
	}
	return url
}

// do runs fn in a transaction that must succeed.
func do(t *testing.T, db *DB, fn func(ctx context.Context) error) {
	t.Helper()
	if err := db.InTx(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func openedAt(t *testing.T, url string, opts Options) *DB {
	t.Helper()
	db, err := Open(t.Context(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

const secret = "verysecret"

// TestOpenFails checks the errors of Open and Migrate, and that none contains the password.
func TestOpenFails(t *testing.T) {
	database := postgrestest.Database(t)
	for name, test := range map[string]struct {
		url  string
		want error
	}{
		"no URL":          {"postgres://user:" + secret + "@[host/database", ErrURL},
		"no such setting": {"postgres://user:" + secret + "@localhost/database?sslmode=perhaps", ErrURL},
		"no server":       {"postgres://user:" + secret + "@" + testenv.Address(t) + "/database?sslmode=disable&connect_timeout=3600", storage.ErrUnavailable},
		"silence":         {"postgres://user:" + secret + "@" + silent(t) + "/database?sslmode=disable", storage.ErrUnavailable},
		"no tables":       {database, ErrSchema},
		"wrong encoding":  {notUTF8(t, database), ErrServer},
	} {
		t.Run(name, func(t *testing.T) {
			var opts Options
			if name == "silence" {
				opts.ConnectTimeout = 200 * time.Millisecond
			}
			_, err := Open(t.Context(), test.url, opts)
			checkError(t, err, test.want)
			_, _, err = Migrate(t.Context(), test.url, Options{})
			if test.want != ErrSchema {
				checkError(t, err, test.want)
			}
		})
	}
}

// checkError fails the test unless err is the one wanted and does not contain the password.
func checkError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("the error is %v, want %v", err, want)
	}
	if err != nil && strings.Contains(err.Error(), secret) {
		t.Errorf("the password is in the error: %v", err)
	}
}

// TestWrongPassword checks that a wrong password is not a temporary error: the operator has to correct it.
func TestWrongPassword(t *testing.T) {
	u, err := url.Parse(postgrestest.Cluster(t).URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(u.User.Username(), secret)
	_, err = Open(t.Context(), u.String(), Options{})
	if err == nil || errors.Is(err, storage.ErrUnavailable) || strings.Contains(err.Error(), secret) {
		t.Errorf("Open: %v", err)
	}
}

// silent returns the address of a server that accepts connections and never answers.
func silent(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener.Addr().String()
}

// notUTF8 returns the URL of a new database whose encoding is not UTF-8.
func notUTF8(t *testing.T, database string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(u.Path, "/") + "_ascii"
	execute(t, database, "CREATE DATABASE "+name+" TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'")
	t.Cleanup(func() { execute(t, database, "DROP DATABASE "+name+" WITH (FORCE)") })
	u.Path = "/" + name
	return u.String()
}

func TestCheckServerVersion(t *testing.T) {
	for _, test := range []struct {
		version  int
		encoding string
		want     error
		contains string
	}{
		{90624, "UTF8", ErrServer, "14 or later"},
		{130018, "UTF8", ErrServer, "Postgres 13.18"},
		{140000, "UTF8", nil, ""},
		{170002, "UTF8", nil, ""},
		{170002, "LATIN1", ErrServer, "LATIN1"},
	} {
		err := checkServerVersion(test.version, test.encoding)
		if !errors.Is(err, test.want) || err != nil && !strings.Contains(err.Error(), test.contains) {
			t.Errorf("%d, %s: %v, want %v", test.version, test.encoding, err, test.want)
		}
	}
}

func TestClosedStore(t *testing.T) {
	db, _ := opened(t, Options{})
	for range 2 {
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if err := db.InTx(t.Context(), func(context.Context) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("InTx: %v", err)
	}
	if _, err := db.Accounts().Accounts(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("Accounts: %v", err)
	}
}

// TestSession checks the settings of sessions: an option overrides the URL, and the URL overrides the default.
func TestSession(t *testing.T) {
	names := []string{"application_name", "statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"}
	u, err := url.Parse(migrated(t))
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	for _, name := range names {
		query.Del(name)
	}
	u.RawQuery = query.Encode()
	database := u.String()
	chosen := with(t, database, "application_name", "other", "statement_timeout", "7000", "lock_timeout", "3000", "pool_max_conns", "3")
	opts := Options{Connections: 2, LockTimeout: time.Second, IdleTimeout: 2 * time.Second}
	for name, test := range map[string]struct {
		db          *DB
		connections int32
		want        []string
	}{
		"usual":               {openedAt(t, database, Options{}), 16, []string{"innsigli", "15s", "10s", "30s"}},
		"by the URL":          {openedAt(t, chosen, Options{}), 3, []string{"other", "7s", "3s", "30s"}},
		"also by the options": {openedAt(t, chosen, opts), 2, []string{"other", "7s", "1s", "2s"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, setting := range names {
				var value string
				if err := test.db.pool.QueryRow(t.Context(), "SELECT current_setting($1)", setting).Scan(&value); err != nil {
					t.Fatal(err)
				}
				got = append(got, value)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("of %v (-want +got):\n%s", names, diff)
			}
			if n := test.db.pool.Config().MaxConns; n != test.connections {
				t.Errorf("%d connections at most, want %d", n, test.connections)
			}
		})
	}
}

// TestTimeouts checks the timeouts that this package keeps itself.
func TestTimeouts(t *testing.T) {
	for name, test := range map[string]struct {
		query   string
		opts    Options
		connect time.Duration
		tracer  pgx.QueryTracer
	}{
		"default":             {"", Options{}, 2 * time.Second, queryTimeout(20 * time.Second)},
		"options":             {"", Options{StatementTimeout: time.Minute, ConnectTimeout: 3 * time.Second}, 3 * time.Second, queryTimeout(65 * time.Second)},
		"URL":                 {"connect_timeout=7&statement_timeout=1000", Options{}, 7 * time.Second, queryTimeout(6 * time.Second)},
		"options and URL":     {"connect_timeout=7", Options{ConnectTimeout: 3 * time.Second}, 3 * time.Second, queryTimeout(20 * time.Second)},
		"not in milliseconds": {"statement_timeout=1h", Options{}, 2 * time.Second, nil},
		"no limit":            {"statement_timeout=0", Options{}, 2 * time.Second, nil},
	} {
		config, err := settings("postgres://user@localhost/database?"+test.query, test.opts)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		conn := config.ConnConfig
		if conn.ConnectTimeout != test.connect || config.PingTimeout != test.connect || conn.Tracer != test.tracer {
			t.Errorf("%s: %v, %v and %v, want %v and %v", name, conn.ConnectTimeout, config.PingTimeout, conn.Tracer, test.connect, test.tracer)
		}
	}
}

// TestAccess checks that a missing database, a role that is refused and missing privileges are different errors.
func TestAccess(t *testing.T) {
	owner := postgrestest.Cluster(t).URL("postgres")
	execute(t, owner, "CREATE ROLE server LOGIN PASSWORD '"+secret+"'")
	execute(t, owner, "REVOKE CREATE ON SCHEMA public FROM PUBLIC") // as it is from Postgres 15 on
	server := as(t, owner, "server", secret, "postgres")
	refused := func(database string, open, migrate error) {
		t.Helper()
		_, err := Open(t.Context(), database, Options{})
		checkError(t, err, open)
		_, _, err = Migrate(t.Context(), database, Options{})
		checkError(t, err, migrate)
	}
	refused(as(t, owner, "server", secret, "nowhere"), ErrNoDatabase, ErrNoDatabase)
	refused(as(t, owner, "server", "not the "+secret, "postgres"), ErrAccessDenied, ErrAccessDenied)
	refused(as(t, owner, "unknown", secret, "postgres"), ErrAccessDenied, ErrAccessDenied)
	refused(server, ErrSchema, ErrMayNotMigrate)
	if _, _, err := Migrate(t.Context(), owner, Options{}); err != nil {
		t.Fatal(err)
	}
	refused(server, ErrNotGranted, ErrNotGranted)
	execute(t, owner, "GRANT SELECT ON innsigli_schema TO server")
	_, err := openedAt(t, server, Options{}).Accounts().Accounts(t.Context())
	checkError(t, err, ErrNotGranted)
}

// as returns the URL for a role and a database of the server.
func as(t *testing.T, server, role, password, database string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.User, u.Path = url.UserPassword(role, password), "/"+database
	return u.String()
}

// TestOthers checks that OtherConnections counts the connections of other servers to the same database, and no others.
func TestOthers(t *testing.T) {
	_, elsewhere := opened(t, Options{})
	_, url := opened(t, Options{}) // the first server
	db := openedAt(t, with(t, url, "application_name", "innsigli at the URL"), Options{Name: "innsigli-copy"})
	openedAt(t, elsewhere, Options{})
	openedAt(t, with(t, url, "application_name", "psql"), Options{})
	want := func(number int) {
		t.Helper()
		testenv.Wait(t, fmt.Sprintf("%d connections", number), func() bool {
			n, err := db.OtherConnections(t.Context())
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

func TestCompareClocks(t *testing.T) {
	before := time.Date(2026, 6, 17, 12, 0, 0, 0, time.UTC)
	after := before.Add(5 * time.Second) // a slow answer
	for offset, want := range map[time.Duration]error{
		-2001 * time.Millisecond: ErrClock,
		-1999 * time.Millisecond: nil,
		0:                        nil,
		6999 * time.Millisecond:  nil,
		7001 * time.Millisecond:  ErrClock,
		time.Hour:                ErrClock,
	} {
		if err := compareClocks(before, before.Add(offset), after); !errors.Is(err, want) {
			t.Errorf("%v: %v, want %v", offset, err, want)
		}
	}
}
