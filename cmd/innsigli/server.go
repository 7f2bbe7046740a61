package main

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/cmd/innsigli/internal/reference"
	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/page"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// server is the service with everything wired.
type server struct {
	place     place
	db        store
	accounts  *account.Service
	signals   *busysignal.Service
	signers   signers
	signing   *signing.Service
	hooks     *delivery.Service
	processes *portal.Service
	page      *page.Page // nil: nobody logs in
	trial     bool       // and who does is simulated
	metrics   *metrics
	mail      *mailJobs // nil: there is none
	letters   *letters  // nil: there is no mail
	evidence  *evidence
	renderer  pageRenderer
	retention retention
	tx        storage.Transactor // of db, observed
	proxies   proxies
	limits    limits
	traces    *traces     // nil: there are none
	secure    *tls.Config // nil: plain HTTP
	delay     time.Duration
	stopping  atomic.Bool
	steps     slog.Level // of what happens to requests, in the log
	log       *slog.Logger
}

// close is called when nothing is served any more.
func (s *server) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	err := s.signing.Close(ctx)
	s.hooks.Close()
	if s.page != nil {
		s.page.Close()
	}
	err = errors.Join(err, s.renderer.Close(), s.db.Close())
	s.closeTraces()
	return err
}

// tracesTime is how long a collector may take for what has not been sent yet.
const tracesTime = 3 * time.Second

// closeTraces sends it. That a collector is away is no reason to stop much later, nor to have stopped badly.
func (s *server) closeTraces() {
	ctx, cancel := context.WithTimeout(context.Background(), tracesTime)
	defer cancel()
	if err := s.traces.close(ctx); err != nil {
		s.log.Warn("traces were not sent", "error", err)
	}
}

func (s *server) handler(baseURL string) http.Handler {
	c := httpapi.Config{
		BaseURL:  baseURL,
		Accounts: callers{s.accounts},
		Signals:  s.signals,
		Signing:  s.signing,
		Webhooks: s.hooks,
		Portal:   s.processes,
		Ready:    s.ready,
		Wrap:     routed,
		MaxBody:  s.limits.body,
		Limits:   s.limits.api(s.db, s.metrics.requests),
		Address:  s.proxies.address,
		Failed: func(ctx context.Context, err error) {
			if !errors.Is(err, errStopping) { // which the log has said
				s.log.ErrorContext(ctx, "request failed", "error", err)
			}
		},
	}
	environment := "Production"
	if s.signers.users != nil {
		c.Sandbox, environment = s.signers.users, "Sandbox"
	}
	c.Reference = reference.Handler(reference.Config{Title: "Innsigli", Environment: environment, Document: "openapi.json"})
	if s.signers.own != nil {
		c.Authority = s.signers.own
	}
	if s.signers.notifier != nil {
		c.Notifier, c.News = s.signers.notifier, s.signing
	}
	h := s.withPage(httpapi.New(c))
	if s.trial {
		h = onThisMachine(h)
	}
	return front{next: h, proxies: s.proxies, metrics: s.metrics.requests, traces: s.traces, log: s.log, level: s.steps}
}

// checked is a store whose tables may be changed by others while it is open.
type checked interface{ Check(context.Context) error }

// ready says whether the store answers, and in tables that this version knows.
func (s *server) ready(ctx context.Context) error {
	if s.stopping.Load() {
		return errStopping
	}
	if db, ok := s.db.(checked); ok {
		return db.Check(ctx)
	}
	if _, err := s.accounts.Account(ctx, sandboxAccount); !errors.Is(err, account.ErrNotFound) {
		return err
	}
	return nil
}

// serve answers on the listener, and on the operator's socket when it has a path,
// until the context ends; then it lets requests finish. listening is called once both are answering, and jobs begin
// when it has returned.
func (s *server) serve(ctx context.Context, listener net.Listener, baseURL, socket string, listening func() error) error {
	if s.signers.own != nil {
		if err := s.signers.own.At(ctx, baseURL); err != nil {
			return errors.Join(err, listener.Close())
		}
	}
	var operatorListener net.Listener
	if socket != "" {
		var err error
		if operatorListener, err = listenOwner(socket); err != nil {
			return errors.Join(err, listener.Close())
		}
		defer os.Remove(socket)
	}
	asked := ctx // to stop, when it ends
	taking, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	group, ctx := errgroup.WithContext(taking)
	group.Go(func() error {
		defer stop()
		s.drain(asked, ctx)
		return nil
	})
	group.Go(func() error {
		return serveHTTP(ctx, s.limits.listener(listener, s.proxies), s.secure, s.limits.handler(s.handler(baseURL)), s.log)
	})
	if operatorListener != nil {
		group.Go(func() error {
			return serveHTTP(ctx, operatorListener, nil, adminHandler(ctx, s.operator()), s.log)
		})
	}
	group.Go(func() error { return every(ctx, sweepEvery, s.sweepOnce) })
	group.Go(func() error { return every(ctx, sweepEvery, s.renewOnce) })
	group.Go(func() error {
		if err := listening(); err != nil {
			return err
		}
		return s.runner().Run(ctx)
	})
	group.Go(func() error { return s.warmRenderer(ctx) })
	return group.Wait()
}

// operator is what the server does for its operator's commands.
func (s *server) operator() direct {
	o := newDirect(s.db, s.place)
	o.webhooks, o.processes = s.hooks, s.processes
	return o
}

// renewOnce renews the certificates of the server's own authority.
func (s *server) renewOnce(ctx context.Context) {
	if s.signers.own == nil {
		return
	}
	if err := s.signers.own.Renew(ctx); err != nil && ctx.Err() == nil {
		s.log.Error("renewing the server's own certificates failed", "error", err)
	}
}

// rendererAfter is how long after its start a server makes the page renderer ready: it is first there for those
// who waited for it. Who asks for a stamp before has it made ready at once.
const rendererAfter = time.Second

// warmRenderer makes the page renderer ready before somebody asks for a stamp.
func (s *server) warmRenderer(ctx context.Context) error {
	select {
	case <-time.After(rendererAfter):
	case <-ctx.Done():
		return nil
	}
	err := s.renderer.warm(ctx, func(text string) { s.log.Info(text) })
	if err != nil && ctx.Err() == nil {
		s.log.Error("stamps cannot be placed automatically", "error", err)
	}
	return nil
}
