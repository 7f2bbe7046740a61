package postgres

import (
	"cmp"
	"context"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// CheckURL says whether [Open] can use a URL, as far as that is known before anybody is called: [ErrURL], or
// nil.
func CheckURL(url string) error {
	_, err := settings(url, Options{})
	return err
}

// settings are what a pool is made with. pgx's own errors may have the password in
// them, so they go no further.
func settings(url string, opts Options) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, ErrURL
	}
	switch {
	case opts.Connections > 0:
		config.MaxConns = int32(min(opts.Connections, 1<<16))
	case !strings.Contains(url, "pool_max_conns="):
		config.MaxConns = 16
	}
	conn := config.ConnConfig
	if opts.Name != "" {
		conn.RuntimeParams["application_name"] = opts.Name
	}
	conn.ConnectTimeout = cmp.Or(opts.ConnectTimeout, conn.ConnectTimeout, 2*time.Second)
	config.PingTimeout = conn.ConnectTimeout
	statement := limit(conn, "statement_timeout", opts.StatementTimeout, 15*time.Second)
	if statement > 0 {
		conn.Tracer = patience(statement + grace)
	}
	limit(conn, "lock_timeout", opts.LockTimeout, 10*time.Second)
	limit(conn, "idle_in_transaction_session_timeout", opts.IdleTimeout, 30*time.Second)
	prepare(conn)
	config.AfterConnect = func(_ context.Context, c *pgx.Conn) error {
		inUTC(c)
		return nil
	}
	return config, nil
}

// grace is how much longer than the server's own limit an answer is waited for.
const grace = 5 * time.Second

// limit sets a time of the session, unless it is the URL's to set, and returns it; 0 is
// none, or one that is not written in milliseconds.
func limit(conn *pgx.ConnConfig, name string, chosen, otherwise time.Duration) time.Duration {
	if of, there := conn.RuntimeParams[name]; there && chosen == 0 {
		n, _ := strconv.Atoi(of)
		return time.Duration(n) * time.Millisecond
	}
	limit := cmp.Or(chosen, otherwise)
	conn.RuntimeParams[name] = strconv.FormatInt(limit.Milliseconds(), 10)
	return limit
}

// program is what connections are called, or what their names begin with.
const program = "innsigli"

// prepare makes what all connections have in common. One whose context ends has its
// statement cancelled, so that the server does not go on with it nor wait for a lock,
// and is closed only when that does not help.
func prepare(conn *pgx.ConnConfig) {
	if conn.RuntimeParams["application_name"] == "" {
		conn.RuntimeParams["application_name"] = program
	}
	conn.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: time.Second}
	}
}

// inUTC has times read as they were written, and not in the zone of this machine.
func inUTC(c *pgx.Conn) {
	c.TypeMap().RegisterType(&pgtype.Type{
		Name:  "timestamptz",
		OID:   pgtype.TimestamptzOID,
		Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
	})
}

// open opens the store for a program with these migrations.
func open(ctx context.Context, url string, opts Options, files fs.FS) (*DB, error) {
	steps, err := readSteps(files)
	if err != nil {
		return nil, err
	}
	config, err := settings(url, opts)
	if err != nil {
		return nil, err
	}
	db, err := connect(config)
	if err != nil {
		return nil, err
	}
	db.needs = len(steps)
	if err := db.Check(ctx); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// connect makes the pool. The first connection is made when it is needed.
func connect(config *pgxpool.Config) (*DB, error) {
	db := &DB{wait: config.ConnConfig.ConnectTimeout, enqueued: make(chan struct{}, 1)}
	config.ShouldPing = func(_ context.Context, idle pgxpool.ShouldPingParams) bool {
		since := time.Now().Add(-idle.IdleDuration)
		return idle.IdleDuration > time.Second || since.UnixNano() <= db.broke.Load()
	}
	var err error
	if db.pool, err = pgxpool.NewWithConfig(context.Background(), config); err != nil {
		return nil, meaning(err)
	}
	return db, nil
}

// take takes a connection from the pool and calls first with it; without an error the
// connection is then the caller's, to be released. After a restart of the server the
// pool is full of broken connections, which shows when they are used: then first is
// called once more with a connection that has been looked at. So first changes nothing,
// or nothing that outlives its connection.
func (db *DB) take(ctx context.Context, first func(*pgxpool.Conn) error) (*pgxpool.Conn, error) {
	for again := true; ; again = false {
		conn, err := db.acquire(ctx)
		if err != nil {
			return nil, err
		}
		if err = first(conn); err == nil {
			return conn, nil
		}
		broken := db.release(conn)
		if !broken || !again || ctx.Err() != nil {
			return nil, outcome(ctx, err)
		}
	}
}

func (db *DB) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	if db.closed.Load() {
		return nil, ErrClosed
	}
	soon, cancel := context.WithTimeout(ctx, db.wait)
	defer cancel()
	conn, err := db.pool.Acquire(soon)
	if err != nil && db.closed.Load() {
		return nil, ErrClosed
	}
	return conn, outcome(ctx, err)
}

// release gives the connection back and says whether it was found broken.
func (db *DB) release(conn *pgxpool.Conn) bool {
	broken := conn.Conn().IsClosed()
	if broken {
		db.broke.Store(time.Now().UnixNano())
	}
	conn.Release()
	return broken
}
