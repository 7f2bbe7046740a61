// Package postgres keeps everything in a Postgres database, by
// github.com/jackc/pgx/v5. It is the backend for several servers: they share a
// database and nothing else.
//
//	from, to, err := postgres.Migrate(ctx, url) // once for each new version
//	db, err := postgres.Open(ctx, url, postgres.Options{})
//	defer db.Close()
//	accounts := account.New(db.Accounts(), db, account.Options{})
//	signals := busysignal.New(db.BusySignals(), db, busysignal.Options{})
//
// # Transactions
//
// A [DB] is a storage.Transactor. Transactions run side by side, READ COMMITTED: what
// one reads by its key is locked until its end, and a second one that asks for it
// waits. Two that wait for each other are a deadlock; Postgres ends one, and InTx runs
// its function again. Reads outside a transaction wait for nobody.
//
// A function that runs in a transaction passes on the context it was given: calling
// InTx with the outer context is another transaction, which may wait for this one. An
// error of a nested InTx, or a statement that the server refused, undoes the whole
// transaction, also when the function around it goes on and returns nil. A context is
// good until the transaction's function has returned; used after that, methods answer
// storage.ErrNoTx.
//
// # The server
//
// Postgres 14 or later, with a database in UTF-8, asked directly or through a pooler in
// session mode. While it cannot be reached, calls are answered with
// storage.ErrUnavailable, at once or, where the server is silent, after two seconds; as
// soon as it is back they work. What was begun before it went silent is given up when the
// limits in [Options] have passed. A disk without room is storage.ErrFull.
//
// # Versions
//
// The tables are made and changed by [Migrate] alone. A change only adds, so that the
// program of one version before works on: servers are replaced one after the other once
// the database has been migrated. [Open] refuses a database that is older or newer than
// that with [ErrSchema].
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
	// ErrURL: the URL is not one of a Postgres database.
	ErrURL = errors.New("postgres: not a URL such as postgres://user@host:5432/database")
	// ErrServer: the server is too old, or the database cannot keep all texts.
	ErrServer = errors.New("postgres: the server cannot be used")
	// ErrNoDatabase: the server has no database of that name.
	ErrNoDatabase = errors.New("postgres: there is no such database")
	// ErrRefused: the server does not let the role in, or not with that password.
	ErrRefused = errors.New("postgres: the server refuses the role or its password")
	// ErrNotGranted: the tables are there, and the role may not use them.
	ErrNotGranted = errors.New("postgres: the role may not use the tables")
	// ErrMayNotMake: there are tables to be made or changed, and the role may not.
	ErrMayNotMake = errors.New("postgres: the role may not make tables")
	// ErrClock: the clocks of this machine and of the server are more than two seconds apart.
	ErrClock = errors.New("postgres: the clocks disagree")
	// ErrSchema: there are no tables, or those of another version of this package.
	ErrSchema = errors.New("postgres: the tables are not those of this version")
	// ErrNoTables is the [ErrSchema] of a database that has none.
	ErrNoTables = fmt.Errorf("%w: there are none yet; run innsigli migrate", ErrSchema)
	// ErrClosed: the store has been closed.
	ErrClosed = errors.New("postgres: the store is closed")
)

// Options of [Open]; the zero value is right for most. A time that is 0 is the one of
// the URL (connect_timeout, statement_timeout, lock_timeout,
// idle_in_transaction_session_timeout) or else the one named here.
type Options struct {
	// Connections is how many there are to the server at most; 0 is pool_max_conns of
	// the URL, or else 16.
	Connections int
	// ConnectTimeout is how long a call waits for a connection, be it a new one or one
	// that another call gives back; 0 is 2 s.
	ConnectTimeout time.Duration
	// StatementTimeout is how long the server works on a statement; 0 is 15 s.
	StatementTimeout time.Duration
	// LockTimeout is how long a statement waits for another transaction; 0 is 10 s.
	LockTimeout time.Duration
	// IdleTimeout is how long the server keeps a transaction from which it hears nothing;
	// 0 is 30 s.
	IdleTimeout time.Duration
	// Name is the connections' application_name; empty is the one of the URL, or else
	// innsigli.
	Name string
}

// DB is an open store. Its methods may be called from several goroutines.
type DB struct {
	pool   *pgxpool.Pool
	wait   time.Duration // for a connection
	closed atomic.Bool
	needs  int // the version of the tables
	// enqueued has a value when jobs were added; see storage.Jobs.
	enqueued chan struct{}
	// broke is when a connection was last found broken, in nanoseconds of Unix time.
	// Those that have been idle since before are not trusted.
	broke atomic.Int64
}

// Open opens the store in the database of that URL, which [Migrate] has prepared.
// Errors: [ErrURL], [ErrNoDatabase], [ErrRefused], [ErrServer], [ErrClock], [ErrSchema],
// [ErrNotGranted], storage.ErrUnavailable.
func Open(ctx context.Context, url string, opts Options) (*DB, error) {
	return open(ctx, url, opts, embedded)
}

// Close waits for the transactions that run and closes the connections. Closing twice
// is no error.
func (db *DB) Close() error {
	db.closed.Store(true)
	db.pool.Close()
	return nil
}
