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

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// embedded are the migrations, each in a file migrations/NNNN_name.sql, without gaps
// from 0001 on. A file that was published is never changed. What a new one does, the
// version before has to bear: it adds tables, indexes and columns that may be NULL or
// have a default. A release has one at most, because Open accepts no more.
//
//go:embed migrations/*.sql
var embedded embed.FS

// Migrate brings the tables in the database of that URL to the version that this
// package needs, and says at which version they were and are; 0 is none. It may be
// called while servers run, and by several processes at once: one works and the others
// wait. Each step is stored whole or not at all. Tables that are one version ahead are
// left as they are.
//
// Errors: [ErrURL], [ErrNoDatabase], [ErrRefused], [ErrServer], [ErrSchema],
// [ErrNotGranted], [ErrMayNotMake], storage.ErrUnavailable.
func Migrate(ctx context.Context, url string) (from, to int, err error) {
	return migrate(ctx, url, embedded)
}

func migrate(ctx context.Context, url string, files fs.FS) (from, to int, err error) {
	steps, err := readSteps(files)
	if err != nil {
		return 0, 0, err
	}
	conn, err := connectToMigrate(ctx, url)
	if err != nil {
		return 0, 0, outcome(ctx, err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) // which gives the lock back, too
	from, to, err = apply(ctx, conn, steps)
	return from, to, outcome(ctx, err)
}

// connectToMigrate makes a connection of its own, on which a statement may take as long
// as it needs: a new index over many records does.
func connectToMigrate(ctx context.Context, url string) (*pgx.Conn, error) {
	config, err := settings(url, Options{})
	if err != nil {
		return nil, err
	}
	config.ConnConfig.RuntimeParams["statement_timeout"] = "0"
	config.ConnConfig.RuntimeParams["lock_timeout"] = "0"
	config.ConnConfig.Tracer = nil
	return pgx.ConnectConfig(ctx, config.ConnConfig)
}

// migrating is the advisory lock of those who migrate: "innsigli" in ASCII.
const migrating int64 = 0x696e6e7369676c69

// apply applies the steps that the database does not have yet.
func apply(ctx context.Context, conn *pgx.Conn, steps []step) (from, to int, err error) {
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", migrating); err != nil {
		return 0, 0, err
	}
	if err := checkServer(ctx, conn); err != nil {
		return 0, 0, err
	}
	if from, err = schemaVersion(ctx, conn); err != nil {
		return 0, 0, err
	}
	if from > len(steps)+1 {
		return from, from, fits(from, len(steps))
	}
	to = from
	for ; to < len(steps); to++ {
		if err := steps[to].apply(ctx, conn); err != nil {
			return from, to, err
		}
	}
	return from, to, nil
}

// step is one migration.
type step struct {
	version   int
	name, sql string
}

func readSteps(files fs.FS) ([]step, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var steps []step
	for i, name := range names { // in the order of their names
		number, _, _ := strings.Cut(path.Base(name), "_")
		if version, err := strconv.Atoi(number); err != nil || version != i+1 {
			return nil, fmt.Errorf("postgres: %s is not migration %04d", name, i+1)
		}
		sql, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step{i + 1, name, string(sql)})
	}
	return steps, nil
}

// stepTries is how often a step is tried that did not get a lock on a table, within 10 seconds each time, or that was
// chosen to end a deadlock with a server.
const stepTries = 6

// apply applies the step, and tries it again if servers were in its way.
func (s step) apply(ctx context.Context, conn *pgx.Conn) error {
	for try := 1; ; try++ {
		err := s.applyOnce(ctx, conn)
		if !blocked(err) {
			return err
		}
		if try == stepTries {
			return fmt.Errorf("%w; gave up after %d tries, nothing is changed: end long transactions on the database, or stop servers, and migrate again", err, try)
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}

// blocked reports whether a step was undone because of locks that others held.
func blocked(err error) bool {
	var said *pgconn.PgError
	return errors.As(err, &said) && (said.Code == lockNotAvailable || said.Code == deadlockDetected)
}

// applyOnce applies the step together with the note that it was. It does not wait for long
// for those who use a table: who comes after it would wait as long.
func (s step) applyOnce(ctx context.Context, conn *pgx.Conn) error {
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
	var said *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &said) && (said.Code == insufficientPrivilege || said.Code == invalidSchemaName):
		return fmt.Errorf("%w: %s: %w", ErrMayNotMake, s.name, err)
	}
	return fmt.Errorf("%s: %w", s.name, err)
}
