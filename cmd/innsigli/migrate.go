package main

import (
	"context"
	"fmt"

	"github.com/innsigli/innsigli/storage/postgres"
)

type migrateCommand struct {
	Store string `required:"" placeholder:"STORE" help:"The database: postgres://HOST/DATABASE."`
}

// grants are what a server whose role is SERVER needs, for these tables and for those that a
// later version adds.
const grants = `GRANT USAGE ON SCHEMA public TO SERVER;

GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO SERVER;

GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO SERVER;

ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO SERVER;

ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE ON SEQUENCES TO SERVER;`

func (migrateCommand) Help() string {
	return "Servers do it when they start. It is a command for those whose role may not make tables: run it once for each new version, as a role that may. Servers of the version before go on meanwhile. A role that does not own the tables is given what it needs by the one that migrates, once:\n\n" + grants + "\n\nExample: innsigli migrate --store postgres://owner@db.example/innsigli"
}

func (c migrateCommand) Run(ctx context.Context, s streams) error {
	in, err := parseStore(c.Store)
	if err != nil {
		return err
	}
	if !in.inPostgres() {
		return fmt.Errorf("%w: only a database has tables; a store of the form bolt:PATH needs no migration", errUsage)
	}
	from, to, err := postgres.Migrate(ctx, in.url)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "schema %d -> %d\n", from, to)
	return err
}
