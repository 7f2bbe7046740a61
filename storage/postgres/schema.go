package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// embedded holds the migrations, each in a file migrations/NNNN_name.sql, numbered from 0001 without gaps. A
// released file never changes. Servers of the version before run on the schema after a migration, so a
// migration only adds tables, indexes and columns that may be NULL or have a default. A release has at most
// one migration, because Open accepts a schema that is at most one version ahead.
//
//go:embed migrations/*.sql
var embedded embed.FS

// Migrate brings the tables in the database of the URL to the version that this package needs, and returns
// their version before and after; 0 means that there were none. It may be called while servers run, and by
// several processes at once, of which one works and the others wait. Each migration is applied as a whole or
// not at all. Migrate does not change tables that are one version ahead. It sets no limits on the time of statements
// and locks, whatever the options and the URL say.
//
// Errors: [ErrURL], [ErrInsecure], [ErrNoDatabase], [ErrAccessDenied], [ErrServer], [ErrSchema], [ErrNotGranted],
// [ErrMayNotMigrate], [ErrUntrusted], storage.ErrUnavailable.
func Migrate(ctx context.Context, url string, opts Options) (from, to int, err error) {
	return migrate(ctx, url, opts, embedded)
}

func migrate(ctx context.Context, url string, opts Options, files fs.FS) (from, to int, err error) {
	steps, err := readMigrations(files)
	if err != nil {
		return 0, 0, err
	}
	conn, err := connectToMigrate(ctx, url, opts)
	if err != nil {
		return 0, 0, callError(ctx, err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) // which also releases the advisory lock
	from, to, err = apply(ctx, conn, steps)
	return from, to, callError(ctx, err)
}

// connectToMigrate opens a connection without a statement timeout: a new index over many records takes long.
func connectToMigrate(ctx context.Context, url string, opts Options) (*pgx.Conn, error) {
	config, err := settings(url, opts)
	if err != nil {
		return nil, err
	}
	config.ConnConfig.RuntimeParams["statement_timeout"] = "0"
	config.ConnConfig.RuntimeParams["lock_timeout"] = "0"
	config.ConnConfig.Tracer = nil
	return pgx.ConnectConfig(ctx, config.ConnConfig)
}

// migrationLock is the key of the advisory lock that a migrating process holds: "innsigli" in ASCII.
const migrationLock int64 = 0x696e6e7369676c69

// apply applies the migrations that the database does not have yet.
func apply(ctx context.Context, conn *pgx.Conn, steps []migration) (from, to int, err error) {
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", migrationLock); err != nil {
		return 0, 0, err
	}
	if err := checkServer(ctx, conn); err != nil {
		return 0, 0, err
	}
	if from, err = schemaVersion(ctx, conn); err != nil {
		return 0, 0, err
	}
	if from > len(steps)+1 {
		return from, from, checkSchemaVersion(from, len(steps))
	}
	to = from
	for ; to < len(steps); to++ {
		if err := steps[to].apply(ctx, conn); err != nil {
			return from, to, err
		}
	}
	return from, to, nil
}

// migration is one migration, as its file in migrations has it.
type migration struct {
	version   int
	name, sql string
}

// readMigrations returns the migrations in the order of their numbers.
func readMigrations(files fs.FS) ([]migration, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var steps []migration
	for i, name := range names { // in the order of their names
		number, _, _ := strings.Cut(path.Base(name), "_")
		if version, err := strconv.Atoi(number); err != nil || version != i+1 {
			return nil, fmt.Errorf("postgres: the file %s is not migration %04d", name, i+1)
		}
		sql, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		steps = append(steps, migration{i + 1, name, string(sql)})
	}
	return steps, nil
}

// migrationTries is how often a migration is tried that did not get a lock on a table, within 10 seconds each time, or that
// was chosen to end a deadlock with a server.
const migrationTries = 6

// apply applies the migration, and tries it again if servers were in its way.
func (s migration) apply(ctx context.Context, conn *pgx.Conn) error {
	for try := 1; ; try++ {
		err := s.applyOnce(ctx, conn)
		if !isBlocked(err) {
			return err
		}
		if try == migrationTries {
			return fmt.Errorf("%w; gave up after %d tries, nothing is changed: end long transactions on the database, or stop servers, and migrate again", err, try)
		}
		if err := backOff(ctx, try); err != nil {
			return err
		}
	}
}

// isBlocked reports whether a migration was undone because of locks that others held.
func isBlocked(err error) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && (pgErr.Code == lockNotAvailable || pgErr.Code == deadlockDetected)
}

// applyOnce applies the migration and records its version in one transaction. It waits for locks on tables only
// for a short time, because statements of running servers wait behind it.
func (s migration) applyOnce(ctx context.Context, conn *pgx.Conn) error {
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `SET LOCAL lock_timeout = '10s';
			CREATE TABLE IF NOT EXISTS innsigli_schema (version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())`)
		if err == nil {
			_, err = tx.Exec(ctx, s.sql)
		}
		if err == nil {
			_, err = tx.Exec(ctx, "INSERT INTO innsigli_schema (version) VALUES ($1)", s.version)
		}
		return err
	})
	var pgErr *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &pgErr) && (pgErr.Code == insufficientPrivilege || pgErr.Code == invalidSchemaName):
		return fmt.Errorf("%w: %s: %w", ErrMayNotMigrate, s.name, err)
	}
	return fmt.Errorf("%s: %w", s.name, err)
}

// minServerVersion is the first supported version of Postgres, as server_version_num.
const minServerVersion = 14_00_00

// Check verifies, as [Open] does, that the server answers and that this package can use its tables. Errors:
// [ErrServer], [ErrClock], [ErrSchema], [ErrNotGranted], storage.ErrUnavailable.
func (db *DB) Check(ctx context.Context) error {
	return db.read(ctx, func(q querier) error {
		if err := checkServer(ctx, q); err != nil {
			return err
		}
		if err := checkClock(ctx, q); err != nil {
			return err
		}
		version, err := schemaVersion(ctx, q)
		if err != nil {
			return err
		}
		return checkSchemaVersion(version, db.schemaVersion)
	})
}

// OtherConnections returns the number of connections to the database whose application_name begins with "innsigli" and
// differs from this DB's, whatever their roles. They belong to other servers, or to programs that set neither [Options].Name nor a
// name in the URL.
func (db *DB) OtherConnections(ctx context.Context) (number int, err error) {
	err = db.read(ctx, func(q querier) error {
		return q.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND coalesce(backend_type, 'client backend') = 'client backend' -- NULL: of another role
			AND application_name LIKE $1 || '%' AND application_name <> current_setting('application_name')`, applicationName).Scan(&number)
	})
	return number, err
}

func checkServer(ctx context.Context, q querier) error {
	var version int
	var encoding string
	err := q.QueryRow(ctx, "SELECT current_setting('server_version_num')::int, current_setting('server_encoding')").Scan(&version, &encoding)
	if err != nil {
		return err
	}
	return checkServerVersion(version, encoding)
}

// checkServerVersion returns [ErrServer] for a server that cannot be used.
func checkServerVersion(version int, encoding string) error {
	if version < minServerVersion {
		return fmt.Errorf("%w: it is Postgres %d.%d, but %d or later is required", ErrServer, version/10000, version%10000, minServerVersion/10000)
	}
	if encoding != "UTF8" {
		return fmt.Errorf("%w: the database's encoding is %s, but UTF8 is required", ErrServer, encoding)
	}
	return nil
}

// checkSchemaVersion returns [ErrSchema] unless a program that needs a version can use the database's. It can
// use a database that is one version ahead, as during a rolling upgrade.
func checkSchemaVersion(version, needed int) error {
	switch {
	case version == 0:
		return ErrNoTables
	case version < needed:
		return fmt.Errorf("%w: they are at %d, but this program needs %d: run innsigli migrate", ErrSchema, version, needed)
	case version > needed+1:
		return fmt.Errorf("%w: they are at %d, but this program knows only %d: use a newer version of the program", ErrSchema, version, needed)
	}
	return nil
}

// schemaVersion returns the number of the last migration, or 0 if there was none.
func schemaVersion(ctx context.Context, q querier) (version int, err error) {
	var migrated bool
	err = q.QueryRow(ctx, "SELECT to_regclass('innsigli_schema') IS NOT NULL").Scan(&migrated)
	if err != nil || !migrated {
		return 0, err
	}
	err = q.QueryRow(ctx, "SELECT version FROM innsigli_schema ORDER BY version DESC LIMIT 1").Scan(&version)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	return version, err
}

// maxClockSkew is the maximum difference between the clocks of this machine and of the server. One machine
// writes the times of leases, due jobs and retention, and another compares them with its own clock. Two seconds
// do no harm; ten seconds would end a lease that its holder still uses.
const maxClockSkew = 2 * time.Second

// checkClock compares the clock of this machine with the server's.
func checkClock(ctx context.Context, q querier) error {
	var server time.Time
	before := time.Now()
	if err := q.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&server); err != nil {
		return err
	}
	return compareClocks(before, server, time.Now())
}

// compareClocks returns [ErrClock] if the server's time, read between before and after, is too far from this
// machine's.
func compareClocks(before, server, after time.Time) error {
	switch {
	case server.Before(before.Add(-maxClockSkew)):
		return fmt.Errorf("%w: this machine's is %v ahead of the server's", ErrClock, before.Sub(server).Round(time.Millisecond))
	case server.After(after.Add(maxClockSkew)):
		return fmt.Errorf("%w: this machine's is %v behind the server's", ErrClock, server.Sub(after).Round(time.Millisecond))
	}
	return nil
}
