// Package postgres stores everything in a Postgres database, by github.com/jackc/pgx/v5. It is the backend
// for several servers, which share a database and nothing else.
//
//	from, to, err := postgres.Migrate(ctx, url, postgres.Options{}) // once for each new version
//	db, err := postgres.Open(ctx, url, postgres.Options{})
//	defer db.Close()
//	accounts := account.New(db.Accounts(), db, account.Options{})
//	signals := busysignal.New(db.BusySignals(), db, busysignal.Options{})
//
// # Transactions
//
// A [DB] is a storage.Transactor. Transactions run concurrently at the isolation level READ COMMITTED. A
// record that a transaction reads by its key is locked until the transaction ends; another transaction that
// reads it waits. If two transactions wait for each other, Postgres ends one of them with a deadlock error,
// and InTx runs its function again. Reads outside a transaction take no locks and do not wait.
//
// A function that runs in a transaction must pass on the context that it was given: InTx with the outer
// context begins another transaction, which may wait for this one. An error of a nested InTx, or of a
// statement that the server refused, rolls back the whole transaction, even if the function continues and
// returns nil. After the function has returned, its context is no longer valid: methods called with it
// return storage.ErrNoTx.
//
// # The server
//
// The server is Postgres 14 or later, with a database in UTF-8, reached directly or through a pooler in
// session mode. While it is unreachable, calls return storage.ErrUnavailable: at once if the connection is
// refused, after two seconds if the server does not answer. Calls succeed again as soon as the server is
// back. A statement that was running when the server stopped answering fails after the limits in [Options].
// A full disk is storage.ErrFull.
//
// # Versions
//
// Only [Migrate] creates and changes tables. A migration only adds to the schema, so that servers of the
// version before continue to work while they are replaced one by one after the migration. [Open] returns
// [ErrSchema] for a schema that is older than the program or more than one version newer.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

var (
	// ErrURL is returned for a URL that does not name a Postgres database.
	ErrURL = errors.New("postgres: not a URL such as postgres://user@host:5432/database")
	// ErrInsecure is returned for a URL that permits connections to another machine which do not verify the server's
	// certificate and its name, as sslmode=verify-full does, unless [Options].InsecureTLS is set.
	ErrInsecure = errors.New("postgres: the connection would not verify the certificate of the database server")
	// ErrUntrusted is returned, together with storage.ErrUnavailable, if the URL requires TLS and the server has none,
	// or has a certificate that is not trusted or is not for the host of the URL. No password was sent to it.
	ErrUntrusted = errors.New("postgres: the database server has not proved its identity by TLS")
	// ErrServer is returned if the server is too old, or the database's encoding is not UTF-8.
	ErrServer = errors.New("postgres: the server cannot be used")
	// ErrNoDatabase is returned if the server has no database of that name.
	ErrNoDatabase = errors.New("postgres: there is no such database")
	// ErrAccessDenied is returned if the server does not accept the role or its password.
	ErrAccessDenied = errors.New("postgres: the server refuses the role or its password")
	// ErrNotGranted is returned if the role lacks privileges on the tables.
	ErrNotGranted = errors.New("postgres: the role may not use the tables")
	// ErrMayNotMigrate is returned by [Migrate] if the role may not create or change tables.
	ErrMayNotMigrate = errors.New("postgres: the role may not create tables")
	// ErrClock is returned if the clocks of this machine and of the server differ by more than two seconds.
	ErrClock = errors.New("postgres: the clocks disagree")
	// ErrSchema is returned if the database has no tables, or those of another version of this package.
	ErrSchema = errors.New("postgres: the tables are not those of this version")
	// ErrNoTables is the [ErrSchema] of a database without tables.
	ErrNoTables = fmt.Errorf("%w: there are none yet; run innsigli migrate", ErrSchema)
	// ErrClosed is returned by the methods of a closed store.
	ErrClosed = errors.New("postgres: the store is closed")
)

// Options are the options of [Open]. The zero value suits most deployments. A time that is 0 is taken from the
// URL (connect_timeout, statement_timeout, lock_timeout, idle_in_transaction_session_timeout), or else is the
// default named here.
type Options struct {
	// Connections is the maximum number of connections to the server; 0 is pool_max_conns of the URL, or else
	// 16.
	Connections int
	// ConnectTimeout bounds how long a call waits for a connection, new or from the pool; 0 is 2 s.
	ConnectTimeout time.Duration
	// StatementTimeout bounds how long the server works on a statement; 0 is 15 s.
	StatementTimeout time.Duration
	// LockTimeout bounds how long a statement waits for another transaction; 0 is 10 s.
	LockTimeout time.Duration
	// IdleTimeout is the time after which the server ends an idle transaction; 0 is 30 s.
	IdleTimeout time.Duration
	// Name is the connections' application_name; empty is the one of the URL, or else innsigli.
	Name string
	// InsecureTLS permits connections to another machine that do not verify the server's certificate, or are not
	// encrypted. Without it such a URL is [ErrInsecure].
	InsecureTLS bool
}

// DB is an open store. Its methods may be called from several goroutines.
type DB struct {
	pool           *pgxpool.Pool
	acquireTimeout time.Duration
	closed         atomic.Bool
	schemaVersion  int // the version that this program needs
	// enqueued receives a value when jobs were added; see storage.Jobs.
	enqueued chan struct{}
	// brokenAt is when a connection was last found broken, in nanoseconds of Unix time. A connection that
	// has been idle since before that time is pinged before it is used.
	brokenAt atomic.Int64
}

// Open opens the store in the database of the URL, which [Migrate] has prepared. Errors: [ErrURL], [ErrInsecure],
// [ErrNoDatabase], [ErrAccessDenied], [ErrServer], [ErrClock], [ErrSchema], [ErrNotGranted], [ErrUntrusted],
// storage.ErrUnavailable.
func Open(ctx context.Context, url string, opts Options) (*DB, error) {
	return open(ctx, url, opts, embedded)
}

// Close waits for the running transactions and closes the connections. Closing twice is no error.
func (db *DB) Close() error {
	db.closed.Store(true)
	db.pool.Close()
	return nil
}
