package config

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/innsigli/innsigli/server"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/postgres"
	"github.com/innsigli/innsigli/storage/transfer"
)

// StoreForms are the forms of a store.
const StoreForms = "bolt:PATH, bolt:PATH?documents=FOLDER or postgres://HOST/DATABASE"

// ErrStore is the error of a text that is not in one of the StoreForms.
var ErrStore = errors.New("--store must have the form " + StoreForms)

// Store is the location of a store.
type Store struct {
	Path        string // of bbolt's file; empty: the store is in Postgres
	Documents   string // folder of its documents; empty: the one beside the file, see [bolt.Options]
	URL         string // of the database; it may have a password in it
	InsecureTLS bool   // permits a URL that does not verify the database server, see [postgres.Options]
}

// DatabaseFlag permits connections to a database that are not secured by TLS.
type DatabaseFlag struct {
	InsecureDatabaseTLS bool `name:"insecure-database-tls" help:"Connect to a database on another machine even if the URL does not verify its certificate (sslmode=verify-full). Anyone on the network between can then read and change the data and the password."`
}

// ParseStore parses a store in one of the StoreForms. Its errors do not repeat the text, which may have a password in it:
// ErrStore, [postgres.ErrInsecure] for a database whose URL does not verify the server, unless the flag permits it, and
// the error of a file that the URL names.
func ParseStore(text string, f DatabaseFlag) (Store, error) {
	if strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://") {
		s := Store{URL: text, InsecureTLS: f.InsecureDatabaseTLS}
		err := postgres.CheckURL(text, s.database(""))
		switch {
		case errors.Is(err, postgres.ErrURL): // it has no more detail
			return Store{}, ErrStore
		case errors.Is(err, postgres.ErrInsecure):
			return Store{}, fmt.Errorf("--store: %w; --insecure-database-tls permits it", err)
		case err != nil:
			return Store{}, fmt.Errorf("--store: %w", err)
		}
		return s, nil
	}
	rest, ok := strings.CutPrefix(text, "bolt:")
	path, folder, inFolder := strings.Cut(rest, "?documents=")
	if !ok || path == "" || strings.Contains(path, "?") || inFolder && folder == "" {
		return Store{}, ErrStore
	}
	return Store{Path: path, Documents: folder}, nil
}

// InPostgres reports whether the store is a database, which several servers may use.
func (s Store) InPostgres() bool { return s.URL != "" }

// Socket returns the path of the socket on which a server with the store listens for the operator's commands; empty for a
// database, which the commands open themselves.
func (s Store) Socket() string {
	if s.InPostgres() {
		return ""
	}
	return s.Path + ".sock"
}

// DB is an open store. *bolt.DB and *postgres.DB implement it.
type DB interface {
	server.Backend
	transfer.Target
	Close() error
}

var (
	_ DB = (*bolt.DB)(nil)
	_ DB = (*postgres.DB)(nil)
)

// Open opens the store. It does not migrate: for a store with the schema of another version it returns an error that says
// what to do. It creates a missing file; a database must have its tables already. name is the application_name of the
// connections to a database; empty: that of a server.
func (s Store) Open(ctx context.Context, name string) (DB, error) {
	if !s.InPostgres() {
		return asDB(bolt.Open(s.Path, s.options()))
	}
	return asDB(postgres.Open(ctx, s.URL, s.database(name)))
}

// database returns the options of connections with an application_name.
func (s Store) database(name string) postgres.Options {
	return postgres.Options{Name: name, InsecureTLS: s.InsecureTLS}
}

func (s Store) options() bolt.Options { return bolt.Options{DocumentFolder: s.Documents} }

// Migrate creates the store, or migrates it to the schema of this program, and returns the schema versions before and
// after; 0 stands for a store without a schema. If several servers start at once on a database, one migrates it and the
// others wait. A migration of a database only adds, so that servers of the previous version keep running.
func (s Store) Migrate(ctx context.Context) (from, to int, err error) {
	if s.InPostgres() {
		return postgres.Migrate(ctx, s.URL, s.database(""))
	}
	return bolt.Migrate(s.Path, s.options())
}

// GrantServer grants a role of the database what servers need on its tables, see [postgres.GrantServer].
func (s Store) GrantServer(ctx context.Context, role string) error {
	return postgres.GrantServer(ctx, s.URL, role, s.database(""))
}

// asDB avoids a non-nil interface that holds a nil pointer.
func asDB[D DB](db D, err error) (DB, error) {
	if err != nil {
		return nil, err
	}
	return db, nil
}

// OpenNew opens a store to copy data to. It creates the tables of a database that has none.
func (s Store) OpenNew(ctx context.Context) (DB, error) {
	db, err := s.Open(ctx, "")
	if !errors.Is(err, postgres.ErrNoTables) {
		return db, err
	}
	if _, _, err := s.Migrate(ctx); err != nil {
		return nil, err
	}
	return s.Open(ctx, "")
}

// Advice returns what an operator can do about a database that cannot be used; empty for other errors, and for those whose
// text says it.
func Advice(err error) string {
	for _, a := range []struct {
		of     error
		advice string
	}{
		{postgres.ErrNoDatabase, "create it first, such as with: createdb --encoding=UTF8 innsigli"},
		{postgres.ErrUntrusted, "the server needs ssl = on and a certificate for the host in the URL, and sslrootcert in the URL the authority that issued it"},
		{postgres.ErrAccessDenied, "check the role in the URL, its password (PGPASSWORD, ~/.pgpass or the URL) and the pg_hba.conf of the database server"},
		{postgres.ErrNotGranted, `run "innsigli migrate --server-role ROLE" as the owner of the tables`},
		{postgres.ErrMayNotMigrate, `run "innsigli migrate" as a role that may create tables, with --server-role if servers use another role`},
	} {
		if errors.Is(err, a.of) {
			return a.advice
		}
	}
	return ""
}
