package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/postgres"
	"github.com/innsigli/innsigli/storage/transfer"
)

type storeCommand struct {
	Copy storeCopy `cmd:"" help:"Copy everything to another store, which is empty."`
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

// transferable is a store that can be copied and copied to; each backend's DB is one.
type transferable interface {
	store
	transfer.Target
}

func (c storeCopy) Run(ctx context.Context, s streams) error {
	from, fromErr := parseStore(c.From)
	to, toErr := parseStore(c.To)
	if err := errors.Join(fromErr, toErr); err != nil {
		return err
	}
	if from == to {
		return fmt.Errorf("%w: FROM and TO are the same store", errUsage)
	}
	if _, err := os.Stat(from.path); err != nil && !from.inPostgres() {
		return fmt.Errorf("opening FROM: %w", err)
	}
	source, err := from.openAs(ctx, "innsigli-copy")
	if err != nil {
		return inUse("FROM", err)
	}
	defer source.Close()
	if err := unused(ctx, source); err != nil {
		return fmt.Errorf("opening FROM: %w", err)
	}
	target, err := to.openToServe(ctx)
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

// unused says whether nobody else has the database open. The file of bbolt is locked.
func unused(ctx context.Context, s store) error {
	db, ok := s.(*postgres.DB)
	if !ok {
		return nil
	}
	for limit := time.Now().Add(ending); ; {
		n, err := db.Others(ctx)
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

func copyStore(ctx context.Context, s streams, from, to store) (copied transfer.Progress, err error) {
	shown := newProgress(s.talk, "records")
	err = transfer.Copy(ctx, from.(transferable), to.(transferable), func(p transfer.Progress) {
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
		if _, err := fmt.Fprintf(s.out, "%8d  %s\n", k.number, k.name); err != nil {
			return err
		}
	}
	fmt.Fprintln(s.talk, "The servers on the new store need the same --master-key-file.")
	return nil
}
