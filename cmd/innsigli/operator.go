package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// operator is what an operator's commands do. It is a store that the command has opened,
// or a server's socket: bbolt is locked by the process that has it open.
type operator interface {
	CreateAccount(ctx context.Context, name string) (account.Account, error)
	Accounts(ctx context.Context) ([]account.Account, error)
	SetPaymentMethod(ctx context.Context, id string, onFile bool) error
	SetQuota(ctx context.Context, id string, bytes int64) error
	SetAdmins(ctx context.Context, id string, addresses []string) error
	// Statement is what an account owes for the month in which the time is.
	Statement(ctx context.Context, id string, month time.Time) (account.Statement, error)
	CreateClient(ctx context.Context, accountID, name string, scopes []string) (account.Client, string, error)
	Clients(ctx context.Context, accountID string) ([]account.Client, error)
	DeleteClient(ctx context.Context, id string) error
	Secrets(ctx context.Context, clientID string) ([]account.Secret, error)
	AddSecret(ctx context.Context, clientID string) (added account.Secret, value string, err error)
	RemoveSecret(ctx context.Context, clientID, secretID string) error
	// Evidence calls each with the entries about a request, or with all when it is empty.
	Evidence(ctx context.Context, request string, each func(storage.Entry) error) error

	processOperator
	webhookOperator

	// Hold keeps documents that are deleted, until release is called, and says in which
	// folder they are; empty: in the store's file.
	Hold(ctx context.Context) (documents string, release func(), err error)
	// Backup writes the store's file as it is at this moment. It and Hold are for stores
	// that are a file.
	Backup(ctx context.Context, w io.Writer) error
}

var (
	_ operator = direct{}
	_ operator = socketClient{}
)

// direct is an operator with the store in its own hands.
type direct struct {
	*account.Service
	db        store
	documents string            // the folder, if there is one
	webhooks  *delivery.Service // the server's; nil: there is no server
	processes *portal.Service   // likewise
}

func newDirect(db store, in place) direct {
	return direct{Service: account.New(db.Accounts(), db, account.Options{}), db: db, documents: in.documents}
}

// withOperator calls f on the store, through its server when one is running.
func withOperator(ctx context.Context, text string, f func(operator) error) error {
	in, err := parseStore(text)
	if err != nil {
		return err
	}
	if in.inPostgres() {
		return withStore(ctx, in, func(db store) error { return f(newDirect(db, in)) })
	}
	if _, err := os.Stat(in.path); err != nil {
		return fmt.Errorf("opening the store: %w", err)
	}
	server := newSocketClient(in.socket())
	if server.answers(ctx) { // asked first: waiting for the lock takes a second
		return f(server)
	}
	err = withStore(ctx, in, func(db store) error { return f(newDirect(db, in)) })
	if errors.Is(err, bolt.ErrLocked) { // and f was not called
		return f(server)
	}
	return err
}

// withStore calls f with the open store.
func withStore(ctx context.Context, in place, f func(store) error) error {
	db, err := in.open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(f(db), db.Close())
}
