package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/innsigli/innsigli/internal/durable"
	"github.com/innsigli/innsigli/server/config"
	"github.com/innsigli/innsigli/server/operator"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/postgres"
	"github.com/innsigli/innsigli/storage/transfer"
)

type storeCommand struct {
	Copy    storeCopy    `cmd:"" help:"Copy everything to another store, which is empty."`
	Compact storeCompact `cmd:"" help:"Make the file of a store of the form bolt:PATH as small as what is in it."`
}

func (storeCommand) Help() string {
	return "Example: innsigli store copy bolt:innsigli.db postgres://innsigli@db.example/innsigli"
}

type storeCopy struct {
	From string `arg:"" placeholder:"FROM" help:"The store to copy: bolt:PATH, bolt:PATH?documents=FOLDER or postgres://HOST/DATABASE."`
	To   string `arg:"" placeholder:"TO" help:"The store to copy to, of the same forms. It is made, and may not have anything in it."`
}

func (storeCopy) Help() string {
	return "Stop the servers first: what they store during the copy would be left behind, so a FROM that one uses is refused. In Postgres they are found by their application_name, innsigli. Secrets stay sealed as they are, so that the servers on the new store need the same --master-key-file. A copy that broke off is of no use; remove it and begin again. A password of a database is better given in PGPASSWORD or ~/.pgpass than in a URL here, where other users of the machine see it.\n\nExample: innsigli store copy bolt:innsigli.db postgres://innsigli@db.example/innsigli"
}

func (c storeCopy) Run(ctx context.Context, s streams) error {
	from, fromErr := config.ParseStore(c.From)
	to, toErr := config.ParseStore(c.To)
	if err := errors.Join(fromErr, toErr); err != nil {
		return err
	}
	if from == to {
		return fmt.Errorf("%w: FROM and TO are the same store", errUsage)
	}
	if _, err := os.Stat(from.Path); err != nil && !from.InPostgres() {
		return fmt.Errorf("opening FROM: %w", err)
	}
	source, err := from.Open(ctx, "innsigli-copy")
	if err != nil {
		return inUse("FROM", err)
	}
	defer source.Close()
	if err := unused(ctx, source); err != nil {
		return fmt.Errorf("opening FROM: %w", err)
	}
	target, err := to.OpenNew(ctx)
	if err != nil {
		return inUse("TO", err)
	}
	copied, err := copyStore(ctx, s, source, target)
	if err = errors.Join(err, target.Close()); err != nil {
		return err
	}
	return summary(s, copied)
}

// inUse says what to do about a server that has the store.
func inUse(which string, err error) error {
	if errors.Is(err, bolt.ErrLocked) {
		return fmt.Errorf("opening %s: %w: stop its server first", which, err)
	}
	return fmt.Errorf("opening %s: %w", which, err)
}

// ending is how long the connections of a server that has just ended may be listed.
const ending = 3 * time.Second

// unused is an error while another process has the database open. A file of bbolt is locked, and needs no check.
func unused(ctx context.Context, s config.DB) error {
	db, ok := s.(*postgres.DB)
	if !ok {
		return nil
	}
	for limit := time.Now().Add(ending); ; {
		n, err := db.OtherConnections(ctx)
		switch {
		case err != nil || n == 0:
			return err
		case time.Now().After(limit):
			return fmt.Errorf("innsigli has %d other connections to the database: stop its servers first", n)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func copyStore(ctx context.Context, s streams, from, to config.DB) (copied transfer.Progress, err error) {
	shown := newProgress(s.stderr, "records")
	err = transfer.Copy(ctx, from, to, func(p transfer.Progress) {
		copied = p
		shown.show(int64(p.Accounts + p.Clients + p.Tokens + p.Signals + p.Users + p.Requests + p.Certificates + p.Documents + p.Jobs + p.Entries +
			p.Subscriptions + p.SigningKeys + p.Attempts + p.Dropped +
			p.Processes + p.ProcessKeys + p.Lines))
	})
	shown.end()
	return copied, err
}

func summary(s streams, p transfer.Progress) error {
	kinds := []struct {
		name   string
		number int
	}{
		{"accounts", p.Accounts}, {"API clients", p.Clients}, {"access tokens", p.Tokens}, {"busy signals", p.Signals},
		{"sandbox users", p.Users}, {"signing requests", p.Requests}, {"kept certificates", p.Certificates}, {"documents", p.Documents}, {"jobs", p.Jobs},
		{"entries of the evidence log", p.Entries},
		{"webhook subscriptions", p.Subscriptions}, {"webhook keys", p.SigningKeys},
		{"attempts at webhooks", p.Attempts}, {"dropped webhook events", p.Dropped},
		{"signing processes", p.Processes}, {"idempotency keys of processes", p.ProcessKeys}, {"lines of the ledger", p.Lines},
	}
	for _, k := range kinds {
		if _, err := fmt.Fprintf(s.stdout, "%8d  %s\n", k.number, k.name); err != nil {
			return err
		}
	}
	fmt.Fprintln(s.stderr, "The servers on the new store need the same --master-key-file.")
	return nil
}

type storeCompact struct{ storeFlag }

func (storeCompact) Help() string {
	return "The file uses the room of what was deleted again, but does not become shorter by itself, and has bytes of deleted records in it until they are overwritten. This writes a new file with nothing but the records that there are, and puts it in the place of the old one: there has to be room for it. It prints the sizes in bytes, before and after. " + worksWhileServing + " Requests that store something wait meanwhile, some seconds for each gigabyte of records.\n\nExample: innsigli store compact --store bolt:innsigli.db"
}

func (c storeCompact) Run(ctx context.Context, s streams) error {
	store, err := config.ParseStore(c.Store)
	if err != nil {
		return err
	}
	if store.InPostgres() {
		return fmt.Errorf("%w: a database is compacted by its own means, such as VACUUM FULL", errUsage)
	}
	return c.operate(ctx, func(o operator.Operator) error {
		sizes, err := o.Compact(ctx)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.stdout, "%d -> %d\n", sizes.Before, sizes.After)
		return err
	})
}

type backupCommand struct {
	storeFlag
	Out string `short:"o" required:"" placeholder:"FILE" help:"Archive to write. A file that is there is not overwritten."`
}

func (backupCommand) Help() string {
	return "The archive is a tar file with the store as it was at one moment: its file, as small as what is in it, and its folder of documents, without anything that was deleted. Where it is extracted is a store that can be used in the place of this one, with the master key of this one, OLD.key: tar -xf FILE -C FOLDER, and then --store bolt:FOLDER/innsigli.db --master-key-file OLD.key. It works while a server runs, and does not hold up its requests. Secrets in it are sealed: keep a copy of the master key, too, at another place. A database is copied with pg_dump.\n\nExample: innsigli backup --store bolt:innsigli.db -o innsigli-2026-06-17.tar"
}

func (c backupCommand) Run(ctx context.Context, s streams) error {
	store, err := config.ParseStore(c.Store)
	if err != nil {
		return err
	}
	if store.InPostgres() {
		return fmt.Errorf("%w: a database is copied with pg_dump, such as: pg_dump --format=custom --file=%s innsigli", errUsage, c.Out)
	}
	if _, err := os.Lstat(c.Out); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is there already, and is not overwritten", c.Out)
	}
	return c.operate(ctx, func(o operator.Operator) error { return c.copy(ctx, s, o) })
}

// copy writes the archive under another name, and gives it its own when it is whole.
func (c backupCommand) copy(ctx context.Context, s streams, o operator.Operator) error {
	temporary := fmt.Sprintf("%s.%s.tmp", c.Out, rand.Text())
	defer os.Remove(temporary)
	size, err := c.write(ctx, s, o, temporary)
	if err == nil {
		err = durable.Rename(temporary, c.Out)
	}
	if err != nil {
		return fmt.Errorf("copying the store to %s: %w", c.Out, err)
	}
	fmt.Fprintf(s.stderr, "Wrote %s (%d bytes). Keep the master key, too, at another place.\n", c.Out, size)
	return nil
}

func (c backupCommand) write(ctx context.Context, s streams, o operator.Operator, path string) (size int64, err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	shown := newProgress(s.stderr, "bytes")
	err = o.Backup(ctx, writing{ctx, file, func(n int) { size += int64(n); shown.show(size) }})
	shown.end()
	return size, errors.Join(err, file.Sync(), file.Close())
}

// writing tells how much is written, and ends with its context.
type writing struct {
	ctx context.Context
	io.Writer
	wrote func(n int)
}

func (w writing) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.Writer.Write(p)
	w.wrote(n)
	return n, err
}

type migrateCommand struct {
	Store string `required:"" placeholder:"STORE" help:"Where everything is kept: bolt:PATH, bolt:PATH?documents=FOLDER or postgres://HOST/DATABASE."`
}

// grants are what a server whose role is SERVER needs, for these tables and for those that a
// later version adds.
const grants = `GRANT USAGE ON SCHEMA public TO SERVER;

GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO SERVER;

GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO SERVER;

ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO SERVER;

ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE ON SEQUENCES TO SERVER;`

func (migrateCommand) Help() string {
	return "Servers do it when they start; other commands refuse a store of another version and change nothing of it. On a store of the form bolt:PATH, stop its server first, and keep a copy: the version before cannot use the store afterwards. On a database, servers of the version before go on meanwhile. There it is a command for those whose role may not make tables: run it once for each new version, as a role that may. A role that does not own the tables is given what it needs by the one that migrates, once:\n\n" + grants + "\n\nExample: innsigli migrate --store postgres://owner@db.example/innsigli"
}

func (c migrateCommand) Run(ctx context.Context, s streams) error {
	store, err := config.ParseStore(c.Store)
	if err != nil {
		return err
	}
	if _, err := os.Stat(store.Path); err != nil && !store.InPostgres() {
		return fmt.Errorf("opening the store: %w", err)
	}
	from, to, err := store.Migrate(ctx)
	switch {
	case errors.Is(err, bolt.ErrLocked):
		return fmt.Errorf("%w: stop its server first", err)
	case errors.Is(err, bolt.ErrNotCompacted):
		err = fmt.Errorf("%w; run innsigli migrate again", err)
	case err != nil:
		return err
	}
	_, printed := fmt.Fprintf(s.stdout, "schema %d -> %d\n", from, to)
	return errors.Join(err, printed)
}
