package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/innsigli/innsigli/account"
)

// listenOwner listens on a socket that its owner alone may open. It is made in a
// folder that nobody else can enter, and protected before it is moved to its
// place, so that there is no moment in which others could connect. A socket that a
// dead server left is replaced: the lock on the store says that it is dead.
func listenOwner(path string) (net.Listener, error) {
	if old, err := os.Lstat(path); err == nil && old.Mode().Type() != fs.ModeSocket {
		return nil, fmt.Errorf("opening the operator's socket: %s is in its place and is no socket", path)
	}
	folder, err := os.MkdirTemp(filepath.Dir(path), ".s-*")
	if err != nil {
		return nil, fmt.Errorf("opening the operator's socket: %w", err)
	}
	defer os.RemoveAll(folder)
	made := filepath.Join(folder, "s")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("opening the operator's socket beside the store (is the path too long for one?): %w", err)
	}
	listener.SetUnlinkOnClose(false) // it has another name by then
	if err = os.Chmod(made, 0o600); err == nil {
		err = os.Rename(made, path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("protecting the operator's socket: %w", err), listener.Close())
	}
	return listener, nil
}

// The arguments and results of the calls, as JSON.
type (
	accountSetting struct {
		ID            string
		PaymentMethod *bool
		Quota         *int64
		Admins        *[]string
	}
	monthOf struct {
		Account string
		Month   time.Time
	}
	nothing struct{}
)

// adminHandler serves the calls of a [socketClient].
func adminHandler(until context.Context, o direct) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /create-account", answer(o.CreateAccount))
	mux.HandleFunc("POST /accounts", answer(func(ctx context.Context, _ nothing) ([]account.Account, error) { return o.Accounts(ctx) }))
	mux.HandleFunc("POST /set-account", answer(func(ctx context.Context, s accountSetting) (nothing, error) {
		if s.PaymentMethod != nil {
			return nothing{}, o.SetPaymentMethod(ctx, s.ID, *s.PaymentMethod)
		}
		if s.Quota != nil {
			return nothing{}, o.SetQuota(ctx, s.ID, *s.Quota)
		}
		if s.Admins != nil {
			return nothing{}, o.SetAdmins(ctx, s.ID, *s.Admins)
		}
		return nothing{}, nil
	}))
	mux.HandleFunc("POST /statement", answer(func(ctx context.Context, m monthOf) (account.Statement, error) {
		return o.Statement(ctx, m.Account, m.Month)
	}))
	clientCalls(mux, o)
	processCalls(mux, o)
	webhookCalls(mux, o)
	mux.HandleFunc("POST /evidence", streamed(o.streamEvidence))
	mux.HandleFunc("POST /backup", streamed(o.streamBackup))
	mux.HandleFunc("POST /hold", o.serveHold(until))
	return mux
}

// answer serves one call.
func answer[A, R any](f func(context.Context, A) (R, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var argument A
		if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&argument); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		result, err := f(r.Context(), argument)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		_ = json.NewEncoder(w).Encode(result) // the caller sees a cut-off answer
	}
}
