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
	"time"

	"github.com/innsigli/innsigli/account"
)

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

// post makes a call whose answer is good.
func (c socketClient) post(ctx context.Context, name string, argument any) (*http.Response, error) {
	body, err := json.Marshal(argument)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://server/"+name, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("the store is in use, and its server does not answer: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(response.Body, 4<<10))
		return nil, errors.New(string(bytes.TrimSpace(text)))
	}
	return response, nil
}

func call[R any](ctx context.Context, c socketClient, name string, argument any) (result R, err error) {
	response, err := c.post(ctx, name, argument)
	if err != nil {
		return result, err
	}
	defer response.Body.Close()
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

func (c socketClient) SetAdmins(ctx context.Context, id string, addresses []string) error {
	_, err := call[nothing](ctx, c, "set-account", accountSetting{ID: id, Admins: &addresses})
	return err
}

func (c socketClient) Statement(ctx context.Context, id string, month time.Time) (account.Statement, error) {
	return call[account.Statement](ctx, c, "statement", monthOf{id, month})
}
