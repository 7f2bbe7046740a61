package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/storage/bolt"
)

// operator is what the account and client commands do. It is the service itself,
// or a server's socket: bbolt is locked by the process that has it open.
type operator interface {
	CreateAccount(ctx context.Context, name string) (account.Account, error)
	Accounts(ctx context.Context) ([]account.Account, error)
	SetPaymentMethod(ctx context.Context, id string, onFile bool) error
	SetQuota(ctx context.Context, id string, bytes int64) error
	CreateClient(ctx context.Context, accountID, name string, scopes []string) (account.Client, string, error)
	Clients(ctx context.Context, accountID string) ([]account.Client, error)
	DeleteClient(ctx context.Context, id string) error
}

var (
	_ operator = (*account.Service)(nil)
	_ operator = socketClient{}
)

// socketPath is the operator's socket beside a store.
func socketPath(store string) string { return store + ".sock" }

// withOperator calls f on the store, through its server when one is running.
func withOperator(ctx context.Context, store string, f func(operator) error) error {
	path, err := storePath(store)
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("opening the store: %w", err)
	}
	server := newSocketClient(socketPath(path))
	if server.answers(ctx) { // asked first: waiting for the lock takes a second
		return f(server)
	}
	db, err := bolt.Open(path, bolt.Options{})
	if errors.Is(err, bolt.ErrLocked) {
		return f(server)
	}
	if err != nil {
		return err
	}
	err = f(account.New(db.Accounts(), db, account.Options{}))
	return errors.Join(err, db.Close())
}

// socketClient makes an operator's calls to a running server.
type socketClient struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)
	http *http.Client
}

func newSocketClient(path string) socketClient {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
	return socketClient{dial, &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

// answers says whether a server listens. It has the lock on the store then: it takes
// that first, and a socket that a dead server left refuses.
func (c socketClient) answers(ctx context.Context) bool {
	conn, err := c.dial(ctx, "", "")
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

func call[R any](ctx context.Context, c socketClient, name string, argument any) (result R, err error) {
	body, err := json.Marshal(argument)
	if err != nil {
		return result, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://server/"+name, bytes.NewReader(body))
	if err != nil {
		return result, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return result, fmt.Errorf("the store is in use, and its server does not answer: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 4<<10))
		return result, errors.New(string(bytes.TrimSpace(text)))
	}
	return result, json.NewDecoder(response.Body).Decode(&result)
}

func (c socketClient) CreateAccount(ctx context.Context, name string) (account.Account, error) {
	return call[account.Account](ctx, c, "create-account", name)
}

func (c socketClient) Accounts(ctx context.Context) ([]account.Account, error) {
	return call[[]account.Account](ctx, c, "accounts", nothing{})
}

func (c socketClient) SetPaymentMethod(ctx context.Context, id string, onFile bool) error {
	_, err := call[nothing](ctx, c, "set-account", accountSetting{ID: id, PaymentMethod: &onFile})
	return err
}

func (c socketClient) SetQuota(ctx context.Context, id string, bytes int64) error {
	_, err := call[nothing](ctx, c, "set-account", accountSetting{ID: id, Quota: &bytes})
	return err
}

func (c socketClient) CreateClient(ctx context.Context, accountID, name string, scopes []string) (account.Client, string, error) {
	made, err := call[madeClient](ctx, c, "create-client", newClient{accountID, name, scopes})
	return made.Client, made.Secret, err
}

func (c socketClient) Clients(ctx context.Context, accountID string) ([]account.Client, error) {
	return call[[]account.Client](ctx, c, "clients", accountID)
}

func (c socketClient) DeleteClient(ctx context.Context, id string) error {
	_, err := call[nothing](ctx, c, "delete-client", id)
	return err
}
