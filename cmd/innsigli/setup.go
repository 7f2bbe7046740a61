package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/internal/mail"
	"github.com/innsigli/innsigli/portal/page"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage/sealed"
)

// setup is what a server is made of.
type setup struct {
	place      place
	masterKey  string          // the file
	production bool            // else it is a sandbox
	keys       sandbox.KeyType // of new test users
	provider   *identityProvider
	login      *loginProvider
	simulated  bool // people, in place of the providers'
	operator   page.Operator
	retention  retention
	webhooks   webhookSettings
	private    bool           // webhooks may go to this machine and private networks
	mail       mail.Transport // nil: there is none
	baseURL    string         // that browsers and mail lead to
	renderer   string         // folder of its cache
	proxies    proxies
	limits     limits      // the zero value: the default without rates
	secure     *tls.Config // nil: plain HTTP
	delay      time.Duration
	traces     *traces // nil: there are none
	log        *slog.Logger
	steps      slog.Level // of what happens to requests, in the log
}

// open opens the store and wires a server on it.
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
	keys, err := c.masterKeys(ctx, db.Sandbox())
	if err != nil {
		return nil, err
	}
	signers, err := c.signers(ctx, db, keys)
	if err != nil {
		return nil, err
	}
	if n, err := reseal(ctx, db, keys); err != nil {
		return nil, err
	} else if n > 0 {
		c.log.Info("secrets were sealed with the first master key", "number", n)
	}
	measured := newMetrics()
	tx := observedStore{db, measured.work, c.traces}
	signers.provider = observedProvider{signers.provider, measured.work, c.traces}
	accounts := account.New(db.Accounts(), tx, account.Options{})
	hooks, err := c.hooks(ctx, db, tx, keys, accounts, measured)
	if err != nil {
		return nil, err
	}
	signals := busysignal.New(db.BusySignals(), tx)
	evidence := &evidence{own: signers.sources}
	renderer := newRenderer(c.renderer)
	options := signers.pace
	options.Renderer = renderer
	options.Sources = func() ades.Sources { return measured.work.observed(evidence.sources(), c.traces) }
	options.Told = steps(c.log, c.steps, measured.work)
	options.Alone = !c.place.inPostgres() // bbolt is locked by one process
	options.Keep = c.retention.requests(time.Now())
	owner := new(documentOwner)
	options.Owner, options.Ledger = owner, ledger{accounts}
	s := &server{
		place:     c.place,
		db:        db,
		accounts:  accounts,
		signals:   signals,
		signers:   signers,
		signing:   signing.New(sealed.Requests(db.Requests(), keys), tx, db.Documents(), db.Jobs(), db.EvidenceLog(), signers.provider, signals, options),
		hooks:     hooks,
		metrics:   measured,
		evidence:  evidence,
		renderer:  renderer,
		trial:     c.simulated,
		retention: c.retention,
		tx:        tx,
		proxies:   c.proxies,
		limits:    cmp.Or(c.limits, defaultLimits.withoutRates()),
		traces:    c.traces,
		secure:    c.secure,
		delay:     c.delay,
		steps:     c.steps,
		log:       c.log,
	}
	if c.mail != nil {
		m := c.mailJobs(db)
		s.mail, s.letters = &m, &letters{m, sealed.Processes(db.Processes(), keys), accounts, c.baseURL, headOf(c.operator)}
	}
	owner.Service = c.processes(db, keys, s)
	s.processes = owner.Service
	s.metrics.dueJobs(db.Jobs().NextDue, s.jobs().Kinds)
	s.page, err = c.signingPage(db, keys, s)
	return s, err
}
