package main

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

const (
	// accountsOfAnArchive have processes: the first has nine of ten, and the others share the rest.
	accountsOfAnArchive = 10
	// goesBack is how old the oldest process is. They were made at an even pace.
	goesBack = 100 * 24 * time.Hour
	// keptKeys is how long an idempotency key is known (spec 1.8).
	keptKeys = 24 * time.Hour
)

// fill files so many processes, while the server is not there. They go past its services, which would take long.
func (a *archive) fill(ctx context.Context, number int) (err error) {
	db, err := openBackend(ctx, a.store, patient)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := a.open(ctx, db); err != nil {
		return err
	}
	const together, atOnce = 200, 4
	list := make([]portal.Process, number)
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for first := 0; first < number; first += together {
		group.Go(func() error { return a.fileAll(working, db, list, first, min(first+together, number)) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, p := range list {
		if p.Account == a.accounts[0] {
			a.filed = append(a.filed, p.ID)
		}
	}
	return a.settle(ctx)
}

// open finds the client's account, and makes the others.
func (a *archive) open(ctx context.Context, db backend) error {
	client, err := db.Accounts().Client(ctx, clientID)
	if err != nil {
		return err
	}
	a.accounts = append(a.accounts, client.AccountID)
	accounts := account.New(db.Accounts(), db, account.Options{})
	for len(a.accounts) < accountsOfAnArchive {
		made, err := accounts.CreateAccount(ctx, "Example")
		if err != nil {
			return err
		}
		a.accounts = append(a.accounts, made.ID)
	}
	return nil
}

// fileAll files those from a number to another, and lists them.
func (a *archive) fileAll(ctx context.Context, db backend, list []portal.Process, from, to int) error {
	for i := from; i < to; i++ {
		stored, err := db.Documents().Create(ctx, bytes.NewReader(contractFile), contractMax, crypto.SHA256)
		if err != nil {
			return err
		}
		age := goesBack / time.Duration(len(list)) * time.Duration(i)
		p := sample{i, time.Now().UTC().Add(-age).Truncate(time.Microsecond)}.process()
		p.Account, p.Document = a.accountFor(i), stored.ID
		list[i] = p
	}
	return db.InTx(ctx, func(ctx context.Context) error {
		for _, p := range list[from:to] {
			if err := file(ctx, db, p); err != nil {
				return err
			}
		}
		return nil
	})
}

// accountFor is whose the process of a number is.
func (a *archive) accountFor(i int) string {
	if i%10 > 0 {
		return a.accounts[0]
	}
	return a.accounts[1+i/10%(accountsOfAnArchive-1)]
}

// file stores a process with what belongs to it.
func file(ctx context.Context, db backend, p portal.Process) error {
	if err := db.Processes().CreateProcess(ctx, p); err != nil {
		return err
	}
	if err := db.Documents().Keep(ctx, p.Document); err != nil {
		return err
	}
	entry := storage.Entry{Subject: p.ID, Account: p.Account, Kind: "process.created", At: p.CreatedAt, Facts: json.RawMessage("{}")}
	if err := db.EvidenceLog().Record(ctx, entry); err != nil {
		return err
	}
	if time.Since(p.CreatedAt) > keptKeys {
		return nil
	}
	return db.Processes().CreateKey(ctx, portal.Key{
		Client: clientID, Value: rand.Text(), Fingerprint: fingerprint, CreatedAt: p.CreatedAt, Process: p.ID, Until: p.CreatedAt,
	})
}

// settle has a database look at what came in such number, as it does by itself in time.
func (a *archive) settle(ctx context.Context) error {
	if !strings.Contains(a.store, "://") {
		return nil
	}
	db, err := pgx.Connect(ctx, a.store)
	if err != nil {
		return err
	}
	defer db.Close(context.WithoutCancel(ctx))
	_, err = db.Exec(ctx, "VACUUM (ANALYZE)")
	return err
}
