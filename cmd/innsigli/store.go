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
	Copy    storeCopy    `cmd:"" help:"Copy all data to another store, which must be empty."`
	Compact storeCompact `cmd:"" help:"Compact the file of a store of the form bolt:PATH."`
}

func (storeCommand) Help() string {
	return "Example: innsigli store copy bolt:innsigli.db 'postgres://innsigli@db.example/innsigli?sslmode=verify-full'"
}

type storeCopy struct {
	From string `arg:"" placeholder:"FROM" help:"Store to copy: bolt:PATH, bolt:PATH?documents=FOLDER or postgres://HOST/DATABASE."`
	To   string `arg:"" placeholder:"TO" help:"Store to copy to, in the same forms. It is created if it does not exist, and must be empty."`
	config.DatabaseFlag
}

func (storeCopy) Help() string {
	return "Stop the servers first: the command refuses a FROM that a server uses, since the copy would lack what the server stores during the copy. In Postgres it finds servers by their application_name, innsigli. Secrets are copied encrypted, so the servers on the new store need the same --master-key-file. If the copy is interrupted, delete TO and start again. Give the password of a database in PGPASSWORD or ~/.pgpass: other users of the machine can see a URL on the command line.\n\nExample: innsigli store copy bolt:innsigli.db 'postgres://innsigli@db.example/innsigli?sslmode=verify-full'"
}

func (c storeCopy) Run(ctx context.Context, s streams) error {
	from, fromErr := config.ParseStore(c.From, c.DatabaseFlag)
	to, toErr := config.ParseStore(c.To, c.DatabaseFlag)
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

// inUse adds what to do to the error of a store that a server has locked.
func inUse(which string, err error) error {
	if errors.Is(err, bolt.ErrLocked) {
		return fmt.Errorf("opening %s: %w: stop its server first", which, err)
	}
	return fmt.Errorf("opening %s: %w", which, err)
}

// connectionTimeout is how long Postgres may list the connections of a server that has just ended.
const connectionTimeout = 3 * time.Second

// unused returns an error if another process has the database open. A bbolt file is locked, and needs no check.
func unused(ctx context.Context, s config.DB) error {
	db, ok := s.(*postgres.DB)
	if !ok {
		return nil
	}
	for limit := time.Now().Add(connectionTimeout); ; {
		n, err := db.OtherConnections(ctx)
		switch {
		case err != nil || n == 0:
			return err
		case time.Now().After(limit):
			return fmt.Errorf("%d other connections of innsigli use the database: stop its servers first", n)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func copyStore(ctx context.Context, s streams, from, to config.DB) (copied transfer.Progress, err error) {
	line := newProgress(s.stderr, "records")
	err = transfer.Copy(ctx, from, to, func(p transfer.Progress) {
		copied = p
		line.show(int64(p.Accounts + p.Clients + p.Tokens + p.Signals + p.Users + p.Requests + p.Certificates + p.Documents + p.Jobs + p.Entries +
			p.Subscriptions + p.SigningKeys + p.Attempts + p.Dropped +
			p.Processes + p.ProcessKeys + p.Lines))
	})
	line.end()
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
	return "The file of a store reuses the space of deleted records, but does not shrink by itself, and still contains the bytes of deleted records until they are overwritten. The command writes a new file with only the present records, for which the disk needs free space, and replaces the old file with it. It prints the sizes before and after, in bytes. " + worksWhileServing + " While the command runs, requests that write to the store wait: some seconds for each gigabyte of records.\n\nExample: innsigli store compact --store bolt:innsigli.db"
}

func (c storeCompact) Run(ctx context.Context, s streams) error {
	store, err := config.ParseStore(c.Store, c.DatabaseFlag)
	if err != nil {
		return err
	}
	if store.InPostgres() {
		return fmt.Errorf("%w: --store must be of the form bolt:PATH; compact a database with its own tools, such as VACUUM FULL", errUsage)
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
	Out string `short:"o" required:"" placeholder:"FILE" help:"Archive to write. An existing file is not overwritten."`
}

func (backupCommand) Help() string {
	return "The archive is a tar file with a consistent copy of the store: its compacted file and its folder of documents, without deleted data. To use it in place of the store, extract it with tar -xf FILE -C FOLDER, and start the server with --store bolt:FOLDER/innsigli.db --master-key-file OLD.key, where OLD.key is the master key of the original store. The command works while a server runs, and does not delay its requests. Secrets in the archive are encrypted: also keep a copy of the master key, in another place. Back up a database with pg_dump.\n\nExample: innsigli backup --store bolt:innsigli.db -o innsigli-2026-06-17.tar"
}

func (c backupCommand) Run(ctx context.Context, s streams) error {
	store, err := config.ParseStore(c.Store, c.DatabaseFlag)
	if err != nil {
		return err
	}
	if store.InPostgres() {
		return fmt.Errorf("%w: --store must be of the form bolt:PATH; back up a database with pg_dump, such as: pg_dump --format=custom --file=%s innsigli", errUsage, c.Out)
	}
	if _, err := os.Lstat(c.Out); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s already exists and is not overwritten: choose another file", c.Out)
	}
	return c.operate(ctx, func(o operator.Operator) error { return c.copy(ctx, s, o) })
}

// copy writes the archive to a temporary file, and renames it when it is complete.
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
	fmt.Fprintf(s.stderr, "Wrote %s (%d bytes). Also keep a copy of the master key, in another place.\n", c.Out, size)
	return nil
}

func (c backupCommand) write(ctx context.Context, s streams, o operator.Operator, path string) (size int64, err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	line := newProgress(s.stderr, "bytes")
	err = o.Backup(ctx, progressWriter{ctx, file, func(n int) { size += int64(n); line.show(size) }})
	line.end()
	return size, errors.Join(err, file.Sync(), file.Close())
}

// progressWriter reports how much is written, and fails when its context has ended.
type progressWriter struct {
	ctx context.Context
	io.Writer
	wrote func(n int)
}

// Write implements [io.Writer].
func (w progressWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.Writer.Write(p)
	w.wrote(n)
	return n, err
}

type migrateCommand struct {
	Store string `required:"" placeholder:"STORE" help:"Where all data is stored: bolt:PATH, bolt:PATH?documents=FOLDER or postgres://HOST/DATABASE."`
	config.DatabaseFlag
	ServerRole string `placeholder:"NAME" help:"Grant this role of the database what servers need on the tables, and withdraw what else it may do with them."`
}

func (migrateCommand) Help() string {
	return "A server migrates its store when it starts; other commands refuse a store with another schema and do not change it. On a store of the form bolt:PATH, stop the server first and keep a copy: the earlier version cannot use the store afterwards. On a database, servers of the previous version keep running.\n\n" +
		"In production let servers use a database role that does not own the tables, so that they can neither change nor truncate them. Run this command as the role that owns the tables, once for each new version and before its servers start, with --server-role: it migrates, and then grants the existing role NAME the privileges of servers (SELECT on all tables, and INSERT, UPDATE and DELETE except where a table permits less). NAME must be neither a superuser nor a member of the role that owns the tables.\n\n" +
		"Example: innsigli migrate --store 'postgres://owner@db.example/innsigli?sslmode=verify-full' --server-role innsigli"
}

func (c migrateCommand) Run(ctx context.Context, s streams) error {
	store, err := config.ParseStore(c.Store, c.DatabaseFlag)
	if err != nil {
		return err
	}
	if c.ServerRole != "" && !store.InPostgres() {
		return fmt.Errorf("%w: --server-role is for a store of the form postgres://HOST/DATABASE", errUsage)
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
	if err = errors.Join(err, printed); err != nil || c.ServerRole == "" {
		return err
	}
	if err := store.GrantServer(ctx, c.ServerRole); err != nil {
		return fmt.Errorf("--server-role: %w", err)
	}
	return nil
}
