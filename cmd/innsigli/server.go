package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/page"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/webhook"
)

// server is the service with everything wired.
type server struct {
	place     place
	db        store
	accounts  *account.Service
	signals   *busysignal.Service
	signers   signers
	signing   *signing.Service
	hooks     *webhook.Service
	processes *portal.Service
	page      *page.Page // nil: nobody logs in
	trial     bool       // and who does is simulated
	metrics   *metrics
	mail      *mailJobs // nil: there is none
	letters   *letters  // nil: there is no mail
	evidence  *evidence
	renderer  pageRenderer
	retention retention
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
	return errors.Join(err, s.renderer.Close(), s.db.Close())
}

func (s *server) handler(baseURL string) http.Handler {
	c := httpapi.Config{
		BaseURL:  baseURL,
		Accounts: s.accounts,
		Signals:  s.signals,
		Signing:  s.signing,
		Webhooks: s.hooks,
		Portal:   s.processes,
		Ready:    s.ready,
		Failed: func(_ context.Context, err error) {
			s.log.Error("request failed", "error", err)
		},
	}
	if s.signers.users != nil {
		c.Sandbox = s.signers.users
	}
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
	return h
}

// checked is a store whose tables may be changed by others while it is open.
type checked interface{ Check(context.Context) error }

// ready says whether the store answers, and in tables that this version knows.
func (s *server) ready(ctx context.Context) error {
	if db, ok := s.db.(checked); ok {
		return db.Check(ctx)
	}
	if _, err := s.accounts.Account(ctx, sandboxAccount); !errors.Is(err, account.ErrNotFound) {
		return err
	}
	return nil
}

// serve answers on the listener, and on the operator's socket when it has a path,
// until the context ends; then it lets requests finish. listening is called
// once both are answering.
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
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return serveHTTP(ctx, listener, s.handler(baseURL), s.log) })
	if operatorListener != nil {
		group.Go(func() error { return serveHTTP(ctx, operatorListener, adminHandler(ctx, s.operator()), s.log) })
	}
	group.Go(func() error { return every(ctx, sweepEvery, s.sweepOnce) })
	group.Go(func() error { return every(ctx, sweepEvery, s.renewOnce) })
	group.Go(func() error { return s.runner().Run(ctx) })
	group.Go(func() error { return s.warmRenderer(ctx) })
	group.Go(listening)
	return group.Wait()
}

// operator is what the server does for its operator's commands.
func (s *server) operator() direct {
	o := newDirect(s.db, s.place)
	o.webhooks, o.processes = s.hooks, s.processes
	return o
}

// stopTime is how long requests may take to finish when the server stops.
const stopTime = 20 * time.Second

func serveHTTP(ctx context.Context, listener net.Listener, handler http.Handler, log *slog.Logger) error {
	h := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       5 * time.Minute,
		WriteTimeout:      5 * time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		err := h.Shutdown(limited)
		if errors.Is(err, context.DeadlineExceeded) {
			log.Warn("requests were cut off: they took too long to finish", "limit", stopTime)
			err = h.Close()
		}
		stopped <- err
	})
	if err := h.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		stop()
		return err
	}
	return <-stopped
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

// warmRenderer makes the page renderer ready before somebody asks for a stamp.
func (s *server) warmRenderer(ctx context.Context) error {
	err := s.renderer.warm(ctx, func(text string) { s.log.Info(text) })
	if err != nil && ctx.Err() == nil {
		s.log.Error("stamps cannot be placed automatically", "error", err)
	}
	return nil
}
