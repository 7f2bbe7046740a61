package postgres

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/storage"
)

// opened is a store in a database of its own, and the URL of that.
func opened(t *testing.T, opts Options) (*DB, string) {
	t.Helper()
	url := postgrestest.Database(t)
	if _, _, err := Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	return openedAt(t, url, opts), url
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

func TestOpenIsRefused(t *testing.T) {
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
			refusedWith(t, err, test.want)
			_, _, err = Migrate(t.Context(), test.url)
			if test.want != ErrSchema {
				refusedWith(t, err, test.want)
			}
		})
	}
}

func refusedWith(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("the error is %v, want %v", err, want)
	}
	if strings.Contains(err.Error(), secret) {
		t.Errorf("the password is in the error: %v", err)
	}
}

// A password that the server does not accept is the operator's to mend, and no matter of
// waiting.
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

// silent is the address of a server that takes connections and does not say a word.
func silent(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener.Addr().String()
}

// notUTF8 is a database beside the one given that keeps bytes without a meaning.
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

func TestServersThatSuit(t *testing.T) {
	for _, test := range []struct {
		version  int
		encoding string
		want     error
		says     string
	}{
		{90624, "UTF8", ErrServer, "14 or later"},
		{130018, "UTF8", ErrServer, "Postgres 13.18"},
		{140000, "UTF8", nil, ""},
		{170002, "UTF8", nil, ""},
		{170002, "LATIN1", ErrServer, "LATIN1"},
	} {
		err := suits(test.version, test.encoding)
		if !errors.Is(err, test.want) || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%d, %s: %v, want %v", test.version, test.encoding, err, test.want)
		}
	}
}

func TestAClosedStoreSaysSo(t *testing.T) {
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
