package main

import (
	"context"
	"crypto"
	"crypto/rand"
	"encoding/json"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

const (
	// accountsOfAnArchive have processes: the first has nine of ten, and the others share the rest.
	accountsOfAnArchive = 10
	// goesBack is how old the oldest process is. They were made at an even pace.
	goesBack = 100 * 24 * time.Hour
	// keptKeys is how long an idempotency key is known (decisions.md 2.11).
	keptKeys = 24 * time.Hour
)

// fill files so many processes. They go past the service, which would take long.
func (a *archive) fill(ctx context.Context, number int) error {
	const together, atOnce = 200, 4
	a.filed = make([]filed, number)
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for first := 0; first < number; first += together {
		group.Go(func() error { return a.fileAll(working, first, min(first+together, number)) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return a.settle(ctx)
}

// fileAll files those from a number to another.
func (a *archive) fileAll(ctx context.Context, from, to int) error {
	var list []portal.Process
	for i := from; i < to; i++ {
		stored, err := a.Documents().Create(ctx, contract(), contractMax, crypto.SHA256)
		if err != nil {
			return err
		}
		age := goesBack / time.Duration(len(a.filed)) * time.Duration(i)
		p := sample{i, time.Now().UTC().Add(-age).Truncate(time.Microsecond)}.process()
		p.Account, p.Document = a.accountFor(i), stored.ID
		a.filed[i] = filed{p.Account, p.ID}
		list = append(list, p)
	}
	return a.InTx(ctx, func(ctx context.Context) error {
		for _, p := range list {
			if err := a.file(ctx, p); err != nil {
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
func (a *archive) file(ctx context.Context, p portal.Process) error {
	if err := a.Processes().CreateProcess(ctx, p); err != nil {
		return err
	}
	if err := a.Documents().Keep(ctx, p.Document); err != nil {
		return err
	}
	entry := storage.Entry{Subject: p.ID, Account: p.Account, Kind: "process.created", At: p.CreatedAt, Facts: json.RawMessage("{}")}
	if err := a.EvidenceLog().Record(ctx, entry); err != nil {
		return err
	}
	if time.Since(p.CreatedAt) > keptKeys {
		return nil
	}
	return a.Processes().CreateKey(ctx, portal.Key{
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
