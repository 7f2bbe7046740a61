package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// CheckURL reports whether [Open] can use a URL, as far as the URL, the environment (PGHOST, PGSSLMODE and the others
// that libpq reads) and the files that they name show. Errors: [ErrURL], [ErrInsecure], and others for files that cannot
// be read.
func CheckURL(url string, opts Options) error {
	_, err := settings(url, opts)
	return err
}

// settings returns the configuration of the pool. It replaces the errors of pgx, which may contain the
// password, by [ErrURL], except those of files.
func settings(url string, opts Options) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	var file *fs.PathError
	switch {
	case errors.As(err, &file):
		return nil, fmt.Errorf("postgres: a file for the connection cannot be read: %w", file)
	case err != nil:
		return nil, ErrURL
	}
	if err := checkHosts(&config.ConnConfig.Config, opts.InsecureTLS); err != nil {
		return nil, err
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
	statement := sessionTimeout(conn, "statement_timeout", opts.StatementTimeout, 15*time.Second)
	if statement > 0 {
		conn.Tracer = queryTimeout(statement + grace)
	}
	sessionTimeout(conn, "lock_timeout", opts.LockTimeout, 10*time.Second)
	sessionTimeout(conn, "idle_in_transaction_session_timeout", opts.IdleTimeout, 30*time.Second)
	setDefaults(conn)
	config.AfterConnect = func(_ context.Context, c *pgx.Conn) error {
		scanInUTC(c)
		return nil
	}
	return config, nil
}

// checkHosts returns [ErrURL] for a host that no server has and, unless insecure is set, [ErrInsecure] for one on another
// machine that pgx would connect to without verifying its certificate and its name (spec 7.5). It examines every
// connection that pgx may attempt: there are several if the URL has several hosts, or an sslmode that permits both TLS
// and none.
func checkHosts(c *pgconn.Config, insecure bool) error {
	for _, h := range append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}, c.Fallbacks...) {
		switch {
		case strings.Contains(h.Host, "@"): // of a password that is not percent-encoded, a part of which is in the host
			return ErrURL
		case !insecure && !onThisMachine(h) && !verifies(h):
			return fmt.Errorf("%w %s: add sslmode=verify-full to its URL, and sslrootcert=FILE if its certificate was issued by an authority of your own", ErrInsecure, h.Host)
		}
	}
	return nil
}

// onThisMachine reports whether a connection goes to a Unix socket or to a loopback address.
func onThisMachine(h *pgconn.FallbackConfig) bool {
	network, _ := pgconn.NetworkAddress(h.Host, h.Port)
	return network == "unix" || strings.EqualFold(h.Host, "localhost") || net.ParseIP(h.Host).IsLoopback()
}

// verifies reports whether a connection ends unless the server has a trusted certificate for its host.
func verifies(h *pgconn.FallbackConfig) bool {
	return h.TLSConfig != nil && !h.TLSConfig.InsecureSkipVerify && h.TLSConfig.ServerName == h.Host
}

// grace is the time that this package waits for an answer after the server's own statement timeout has passed.
const grace = 5 * time.Second

// sessionTimeout sets a timeout of the session to the chosen value or, if neither that nor the URL sets one, to
// the default, and returns it. It returns 0 if the URL's value is 0 or not a number of milliseconds.
func sessionTimeout(conn *pgx.ConnConfig, name string, chosen, otherwise time.Duration) time.Duration {
	if text, ok := conn.RuntimeParams[name]; ok && chosen == 0 {
		n, _ := strconv.Atoi(text)
		return time.Duration(n) * time.Millisecond
	}
	limit := cmp.Or(chosen, otherwise)
	conn.RuntimeParams[name] = strconv.FormatInt(limit.Milliseconds(), 10)
	return limit
}

// applicationName is the default application_name of connections, and the prefix by which [DB.OtherConnections] finds
// other servers.
const applicationName = "innsigli"

// setDefaults sets what all connections have in common. If a statement's context ends, pgx asks the server to
// cancel the statement, so that it neither continues nor waits for a lock. pgx closes the connection only if
// that does not help.
func setDefaults(conn *pgx.ConnConfig) {
	if conn.RuntimeParams["application_name"] == "" {
		conn.RuntimeParams["application_name"] = applicationName
	}
	conn.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: time.Second}
	}
}

// scanInUTC makes pgx return times in UTC instead of the time zone of this machine.
func scanInUTC(c *pgx.Conn) {
	c.TypeMap().RegisterType(&pgtype.Type{
		Name:  "timestamptz",
		OID:   pgtype.TimestamptzOID,
		Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
	})
}

// open is [Open] for a program with the given migrations.
func open(ctx context.Context, url string, opts Options, files fs.FS) (*DB, error) {
	steps, err := readMigrations(files)
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
	db.schemaVersion = len(steps)
	if err := db.Check(ctx); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// connect creates the pool. The pool opens its first connection when it is needed.
func connect(config *pgxpool.Config) (*DB, error) {
	db := &DB{acquireTimeout: config.ConnConfig.ConnectTimeout, enqueued: make(chan struct{}, 1)}
	config.ShouldPing = func(_ context.Context, idle pgxpool.ShouldPingParams) bool {
		since := time.Now().Add(-idle.IdleDuration)
		return idle.IdleDuration > time.Second || since.UnixNano() <= db.brokenAt.Load()
	}
	var err error
	if db.pool, err = pgxpool.NewWithConfig(context.Background(), config); err != nil {
		return nil, translate(err)
	}
	return db, nil
}

// acquireAndRun acquires a connection and calls first with it. If first succeeds, the caller must release the
// connection. After a restart of the server the pool may be full of broken connections, which is found only
// when they are used: then acquireAndRun calls first once more, with a connection that was pinged. The server may have
// done what the first call asked for, so what first asks for must have the same result when it is done twice.
func (db *DB) acquireAndRun(ctx context.Context, first func(*pgxpool.Conn) error) (*pgxpool.Conn, error) {
	for retry := true; ; retry = false {
		conn, err := db.acquire(ctx)
		if err != nil {
			return nil, err
		}
		if err = first(conn); err == nil {
			return conn, nil
		}
		broken := db.release(conn)
		if !broken || !retry || ctx.Err() != nil {
			return nil, callError(ctx, err)
		}
	}
}

func (db *DB) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	if db.closed.Load() {
		return nil, ErrClosed
	}
	bounded, cancel := context.WithTimeout(ctx, db.acquireTimeout)
	defer cancel()
	conn, err := db.pool.Acquire(bounded)
	if err != nil && db.closed.Load() {
		return nil, ErrClosed
	}
	return conn, callError(ctx, err)
}

// release returns the connection to the pool and reports whether it was broken.
func (db *DB) release(conn *pgxpool.Conn) bool {
	broken := conn.Conn().IsClosed()
	if broken {
		db.brokenAt.Store(time.Now().UnixNano())
	}
	conn.Release()
	return broken
}

// queryTimeout bounds how long this package waits for the answer to a statement. The server's own limits
// (statement_timeout) do not help if its machine or the network fails silently. queryTimeout is a pgx tracer:
// pgx takes the context of each statement from it.
type queryTimeout time.Duration

var (
	_ pgx.QueryTracer    = queryTimeout(0)
	_ pgx.CopyFromTracer = queryTimeout(0)
	_ pgx.PrepareTracer  = queryTimeout(0)
	_ pgx.BatchTracer    = queryTimeout(0)
)

// endKey is the context key of the function that releases a statement's timer.
type endKey struct{}

// begin returns a context with the timeout for a statement; end releases its timer.
func (p queryTimeout) begin(ctx context.Context) context.Context {
	ctx, end := context.WithTimeout(ctx, time.Duration(p))
	return context.WithValue(ctx, endKey{}, end)
}

func (queryTimeout) end(ctx context.Context) {
	if end, ok := ctx.Value(endKey{}).(context.CancelFunc); ok {
		end()
	}
}

func (p queryTimeout) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return p.begin(ctx)
}

func (p queryTimeout) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	p.end(ctx)
}

func (p queryTimeout) TraceCopyFromStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceCopyFromStartData) context.Context {
	return p.begin(ctx)
}

func (p queryTimeout) TraceCopyFromEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceCopyFromEndData) {
	p.end(ctx)
}

func (p queryTimeout) TracePrepareStart(ctx context.Context, _ *pgx.Conn, _ pgx.TracePrepareStartData) context.Context {
	return p.begin(ctx)
}

func (p queryTimeout) TracePrepareEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TracePrepareEndData) {
	p.end(ctx)
}

func (p queryTimeout) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return p.begin(ctx)
}

func (queryTimeout) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (p queryTimeout) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchEndData) {
	p.end(ctx)
}
