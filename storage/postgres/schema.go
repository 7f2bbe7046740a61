package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// oldest is the first version of Postgres that is supported, as server_version_num.
const oldest = 14_00_00

// Check says whether the server answers and its tables are still ones that this version can
// work with, as [Open] did. Errors: [ErrServer], [ErrClock], [ErrSchema], [ErrNotGranted],
// storage.ErrUnavailable.
func (db *DB) Check(ctx context.Context) error {
	return db.read(ctx, func(q querier) error {
		if err := checkServer(ctx, q); err != nil {
			return err
		}
		if err := checkClock(ctx, q); err != nil {
			return err
		}
		there, err := schemaVersion(ctx, q)
		if err != nil {
			return err
		}
		return fits(there, db.needs)
	})
}

// Others says how many connections of other names the database has that begin with
// "innsigli": those of servers, and of what else opened it without [Options].Name or a name
// in the URL.
func (db *DB) Others(ctx context.Context) (number int, err error) {
	err = db.read(ctx, func(q querier) error {
		return q.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND backend_type = 'client backend'
			AND application_name LIKE $1 || '%' AND application_name <> current_setting('application_name')`, program).Scan(&number)
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
	return suits(version, encoding)
}

// suits says whether the server can be used.
func suits(version int, encoding string) error {
	if version < oldest {
		return fmt.Errorf("%w: it is Postgres %d.%d, and %d or later is needed", ErrServer, version/10000, version%10000, oldest/10000)
	}
	if encoding != "UTF8" {
		return fmt.Errorf("%w: the database's encoding is %s, and UTF8 is needed", ErrServer, encoding)
	}
	return nil
}

// fits says whether a database of a version is one for a program of another. One ahead
// is: the servers are being replaced one after the other.
func fits(there, version int) error {
	switch {
	case there == 0:
		return ErrNoTables
	case there < version:
		return fmt.Errorf("%w: they are at %d, and this program needs %d; run innsigli migrate", ErrSchema, there, version)
	case there > version+1:
		return fmt.Errorf("%w: they are at %d, and this program knows %d: it is too old", ErrSchema, there, version)
	}
	return nil
}

// schemaVersion is the number of the last migration, 0 if there was none.
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
