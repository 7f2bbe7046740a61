package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/internal/sealed"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
)

// setup is what a server is made of.
type setup struct {
	place     place
	masterKey string          // the file
	keys      sandbox.KeyType // of new test users
	retention retention
	log       *slog.Logger
}

// open opens the store and wires a sandbox on it.
func (c setup) open(ctx context.Context) (*server, error) {
	db, err := c.place.openToServe(ctx)
	if err != nil {
		return nil, err
	}
	s, err := c.wire(ctx, db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

func (c setup) wire(ctx context.Context, db store) (*server, error) {
	keys, err := masterKeys(ctx, c.masterKey, db.Sandbox())
	if err != nil {
		return nil, err
	}
	people, err := sandbox.Open(ctx, sealed.Sandbox(db.Sandbox(), keys), db, sandbox.Options{Keys: c.keys})
	if err != nil {
		return nil, err
	}
	if n, err := reseal(ctx, db, keys); err != nil {
		return nil, err
	} else if n > 0 {
		c.log.Info("secrets were sealed with the first master key", "number", n)
	}
	signals := busysignal.New(db.BusySignals(), db)
	evidence := &evidence{own: people.Sources}
	return &server{
		place:    c.place,
		db:       db,
		accounts: account.New(db.Accounts(), db, account.Options{}),
		signals:  signals,
		sandbox:  people,
		signing: signing.New(sealed.Requests(db.Requests(), keys), db, db.Documents(), db.Jobs(), db.EvidenceLog(), people, signals, signing.Options{
			Expiry:   sandbox.Expiry,
			Interval: time.Second,
			AnyPace:  true,
			Sources:  evidence.sources,
			Postponed: func(_ context.Context, err error) {
				c.log.Warn("a signature waits for evidence", "error", err)
			},
			Alone: !c.place.inPostgres(), // bbolt is locked by one process
			Keep:  c.retention.requests(time.Now()),
		}),
		evidence:  evidence,
		retention: c.retention,
		log:       c.log,
	}, nil
}
