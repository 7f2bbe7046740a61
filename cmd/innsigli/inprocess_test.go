package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/server"
	"github.com/innsigli/innsigli/server/config"
	"github.com/innsigli/innsigli/server/operator"
	"github.com/innsigli/innsigli/stamp/pdfium"
	"github.com/innsigli/innsigli/storage/sealed"
)

// sandboxAccount is the ID of a sandbox's first account.
const sandboxAccount = "5a0d6c0e-4b7e-4c0a-9f55-6f1d3b0e7a42"

// inProcess is a sandbox that runs in the process of the test, on a store in a file.
type inProcess struct {
	*server.Server
	store    config.Store
	db       config.DB
	keys     *sealed.Keys
	renderer *pdfium.Renderer
}

// startInProcess starts a sandbox for the time of the test, jobs and operator's socket included.
func startInProcess(t *testing.T, in config.Store) *inProcess {
	t.Helper()
	s := &inProcess{store: in}
	var err error
	if s.db, err = in.Open(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if err := sealed.MakeFile(in.Path + ".key"); err != nil {
		t.Fatal(err)
	}
	if s.keys, err = sealed.ReadFile(in.Path + ".key"); err != nil {
		t.Fatal(err)
	}
	s.renderer = pdfium.New(pdfium.Options{Cache: os.Getenv(cacheVariable)})
	s.Server, err = server.New(t.Context(), server.Config{
		Environment: server.Sandbox, Backend: s.db, MasterKey: s.keys, Renderer: s.renderer, Webhooks: server.Webhooks{AllowPrivate: true},
		Listen: "127.0.0.1:0", OperatorSocket: in.Socket(),
		Limits: server.Limits{Client: server.Unlimited, Address: server.Unlimited}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		for _, err := range []error{<-ended, s.Close(), s.renderer.Close(), s.db.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	return s
}

// client returns one with every scope.
func (s *inProcess) client(t *testing.T) *client {
	t.Helper()
	if _, err := s.SandboxClient(t.Context(), clientID, clientSecret); err != nil {
		t.Fatal(err)
	}
	return (&sandboxProcess{sandboxReady: sandboxReady{BaseURL: s.BaseURL()}}).signIn(t)
}

// served is a sandbox on a store of its own.
func served(t *testing.T) *inProcess {
	t.Helper()
	return startInProcess(t, config.Store{Path: filepath.Join(shortFolder(t), "store.db")})
}

// keep stores a document.
func (s *inProcess) keep(t *testing.T, content []byte) (id string) {
	t.Helper()
	ref, err := s.db.Documents().Create(t.Context(), bytes.NewReader(content), 1<<20)
	if err == nil {
		err = s.db.InTx(t.Context(), func(ctx context.Context) error { return s.db.Documents().Keep(ctx, ref.ID) })
	}
	if err != nil {
		t.Fatal(err)
	}
	return ref.ID
}

func (s *inProcess) remove(t *testing.T, id string) {
	t.Helper()
	if err := s.db.InTx(t.Context(), func(ctx context.Context) error { return s.db.Documents().Delete(ctx, id) }); err != nil {
		t.Fatal(err)
	}
}

// operator works on the store in this process.
func (s *inProcess) operator() *operator.Service {
	return operator.New(s.db, operator.Options{})
}
