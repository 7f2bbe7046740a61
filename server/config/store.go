package config

import (
	"context"
	"errors"
	"strings"

	"github.com/innsigli/innsigli/server"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/postgres"
	"github.com/innsigli/innsigli/storage/transfer"
)

// StoreForms are the forms of a store.
const StoreForms = "bolt:PATH, bolt:PATH?documents=FOLDER or postgres://HOST/DATABASE"

// ErrStore is the error of a text that is no store.
var ErrStore = errors.New("--store is not of the form " + StoreForms)

// Store says where a store is.
type Store struct {
	Path      string // of bbolt's file; empty: the store is in Postgres
	Documents string // folder of its documents; empty: the one beside the file, see [bolt.Options]
	URL       string // of the database, which may have a password in it
}

// ParseStore reads a store in one of the StoreForms. The error does not repeat the text, which may have a password in it.
func ParseStore(text string) (Store, error) {
	if strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://") {
		if postgres.CheckURL(text) != nil { // whose error says no more
			return Store{}, ErrStore
		}
		return Store{URL: text}, nil
	}
	rest, ok := strings.CutPrefix(text, "bolt:")
	path, folder, inFolder := strings.Cut(rest, "?documents=")
	if !ok || path == "" || strings.Contains(path, "?") || inFolder && folder == "" {
		return Store{}, ErrStore
	}
	return Store{Path: path, Documents: folder}, nil
}

// InPostgres reports whether the store is in a database, which several servers may use.
func (s Store) InPostgres() bool { return s.URL != "" }

// Socket returns the path of the socket at which a server that has the store listens for its operator's commands; empty
// for a database, which the commands open themselves.
func (s Store) Socket() string {
	if s.InPostgres() {
		return ""
	}
	return s.Path + ".sock"
}

// DB is an open store; *bolt.DB and *postgres.DB are.
type DB interface {
	server.Backend
	transfer.Target
	Close() error
}

var (
	_ DB = (*bolt.DB)(nil)
	_ DB = (*postgres.DB)(nil)
)

// Open opens the store, and changes nothing of one that another version of the program made: the error says what to do.
// A file is made if there is none; a database has to have its tables already. name is that of the connections to a
// database; empty: the server's.
func (s Store) Open(ctx context.Context, name string) (DB, error) {
	if !s.InPostgres() {
		return asDB(bolt.Open(s.Path, s.options()))
	}
	return asDB(postgres.Open(ctx, s.URL, postgres.Options{Name: name}))
}

func (s Store) options() bolt.Options { return bolt.Options{DocumentFolder: s.Documents} }

// Migrate makes the store, or brings it to the version that this program needs, and returns at which version it was and
// is; 0 is none. Of several servers that start at once on a database one makes the tables, while the others wait; each
// change of them only adds, so that servers of the version before go on.
func (s Store) Migrate(ctx context.Context) (from, to int, err error) {
	if s.InPostgres() {
		return postgres.Migrate(ctx, s.URL)
	}
	return bolt.Migrate(s.Path, s.options())
}

// asDB avoids a non-nil interface that holds a nil pointer.
func asDB[D DB](db D, err error) (DB, error) {
	if err != nil {
		return nil, err
	}
	return db, nil
}

// OpenNew opens a store that is to be filled. It makes the tables of a database that has none.
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

// Advice returns what an operator can do about a database that cannot be used as it
// is; empty: the error says so itself, or it is another error.
func Advice(err error) string {
	for _, a := range []struct {
		of     error
		advice string
	}{
		{postgres.ErrNoDatabase, "make it first, such as: createdb --encoding=UTF8 innsigli"},
		{postgres.ErrAccessDenied, "look at the role in the URL, its password (PGPASSWORD, ~/.pgpass or the URL) and the server's pg_hba.conf"},
		{postgres.ErrNotGranted, `have its owner run the GRANTs in "innsigli migrate --help"`},
		{postgres.ErrMayNotMigrate, `run "innsigli migrate" as a role that may, and the GRANTs in its --help`},
	} {
		if errors.Is(err, a.of) {
			return a.advice
		}
	}
	return ""
}
