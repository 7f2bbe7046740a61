package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage/bolt"
)

// server is the service with everything wired.
type server struct {
	db       *bolt.DB
	accounts *account.Service
	signals  *busysignal.Service
	sandbox  *sandbox.Sandbox
	signing  *signing.Service
	evidence *evidence
	log      *slog.Logger
}

// openServer opens a store and wires a sandbox on it.
func openServer(ctx context.Context, path string, keys sandbox.KeyType, log *slog.Logger) (*server, error) {
	db, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		return nil, err
	}
	people, err := sandbox.Open(ctx, db.Sandbox(), db, sandbox.Options{Keys: keys})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	signals := busysignal.New(db.BusySignals(), db)
	evidence := &evidence{own: people.Sources}
	return &server{
		db:       db,
		accounts: account.New(db.Accounts(), db, account.Options{}),
		signals:  signals,
		sandbox:  people,
		signing: signing.New(db.Requests(), db, db.Documents(), people, signals, signing.Options{
			Expiry:   sandbox.Expiry,
			Interval: time.Second,
			AnyPace:  true,
			Sources:  evidence.sources,
			Postponed: func(_ context.Context, err error) {
				log.Warn("a signature waits for evidence", "error", err)
			},
			Alone: true, // bbolt is locked by one process
		}),
		evidence: evidence,
		log:      log,
	}, nil
}

func (s *server) handler(baseURL string) http.Handler {
	return httpapi.New(httpapi.Config{
		BaseURL:  baseURL,
		Accounts: s.accounts,
		Signals:  s.signals,
		Signing:  s.signing,
		Sandbox:  s.sandbox,
		Ready: func(ctx context.Context) error {
			_, err := s.accounts.Accounts(ctx)
			return err
		},
		Failed: func(_ context.Context, err error) {
			s.log.Error("request failed", "error", err)
		},
	})
}

// serve answers on the listener, and on the operator's socket when it has a path,
// until the context ends; then it lets requests finish. listening is called
// once both are answering.
func (s *server) serve(ctx context.Context, listener net.Listener, baseURL, socket string, listening func() error) error {
	if err := s.sandbox.At(ctx, baseURL); err != nil {
		return errors.Join(err, listener.Close())
	}
	var admin net.Listener
	if socket != "" {
		var err error
		if admin, err = listenOwner(socket); err != nil {
			return errors.Join(err, listener.Close())
		}
		defer os.Remove(socket)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return serveHTTP(ctx, listener, s.handler(baseURL), s.log) })
	if admin != nil {
		group.Go(func() error { return serveHTTP(ctx, admin, adminHandler(s.accounts), s.log) })
	}
	group.Go(func() error { return s.every(ctx, sweepEvery, "sweeping failed", s.sweepOnce) })
	group.Go(func() error { return s.every(ctx, completeEvery, "completing signatures failed", s.completeOnce) })
	group.Go(listening)
	return group.Wait()
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

// sweepEvery is how often what has outlived its purpose is removed.
const sweepEvery = time.Minute

// unkeptFor is how long a document may take from its first byte to its request.
const unkeptFor = time.Hour

// completeEvery is how often signatures that wait for evidence are gone on with.
const completeEvery = 2 * time.Second

// every does something at the start and again and again.
func (s *server) every(ctx context.Context, pause time.Duration, failed string, do func(context.Context) error) error {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			s.log.Error(failed, "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func (s *server) completeOnce(ctx context.Context) error {
	_, err := s.signing.Complete(ctx)
	return err
}

// sweepOnce removes what nobody needs any more.
func (s *server) sweepOnce(ctx context.Context) error {
	_, documents := s.db.Documents().Sweep(ctx, time.Now().Add(-unkeptFor))
	return errors.Join(
		documents,
		s.sandbox.Renew(ctx),
		untilNone(func() (int, error) { return s.signing.Sweep(ctx) }),
		untilNone(func() (int, error) { return s.accounts.Sweep(ctx) }),
		untilNone(func() (int, error) { return s.signals.Sweep(ctx) }),
	)
}

// untilNone repeats a sweep of a bounded number until it finds nothing.
func untilNone(sweep func() (int, error)) error {
	for {
		if n, err := sweep(); n == 0 || err != nil {
			return err
		}
	}
}

// storePath is the file of a --store of the form bolt:PATH.
func storePath(store string) (string, error) {
	path, ok := strings.CutPrefix(store, "bolt:")
	if !ok || path == "" {
		return "", fmt.Errorf("%w: --store %q is not of the form bolt:PATH", errUsage, store)
	}
	return path, nil
}
