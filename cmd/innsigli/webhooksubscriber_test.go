package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/innsigli/innsigli/webhook"
)

// subscriber is an endpoint that receives with package webhook, as a client system does.
type subscriber struct {
	*httptest.Server
	id, secret  string // of its subscription
	handler     atomic.Pointer[http.Handler]
	connections atomic.Int32
	requests    chan string // the webhook-id of each
	events      chan webhook.Event
}

// newSubscriber starts one by Start or StartTLS.
func newSubscriber(t *testing.T, start func(*httptest.Server)) *subscriber {
	t.Helper()
	e := &subscriber{requests: make(chan string, 100), events: make(chan webhook.Event, 100)}
	e.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		eventAsDescribed(body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		e.requests <- r.Header.Get(webhook.HeaderID)
		(*e.handler.Load()).ServeHTTP(w, r)
	}))
	e.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			e.connections.Add(1)
		}
	}
	start(e.Server)
	t.Cleanup(e.Close)
	return e
}

// path is that of its URL, which the log of a server has no business with.
const path = "/hooks/a-path-of-mine"

// subscription is the body that makes one.
func subscription(url string) string {
	return fmt.Sprintf(`{"url":%q,"eventTypes":["process.completed"]}`, url)
}

// subscribe makes the subscription to a URL that leads to the endpoint, and gives that its secret.
func (e *subscriber) subscribe(t *testing.T, c *client, url string) {
	t.Helper()
	a := c.hook(t, http.MethodPost, "", subscription(url))
	if a.Status != http.StatusCreated {
		t.Fatalf("the subscription: %v %s", a, a.Body)
	}
	e.id, e.secret = a.ID, a.Secret
	key, err := webhook.ParseKey(a.Secret)
	if err != nil {
		t.Fatal(err)
	}
	receiver := &webhook.Receiver{Keys: []webhook.Key{key}}
	handler := receiver.Handler(func(_ context.Context, event webhook.Event) error {
		e.events <- event
		return nil
	})
	e.handler.Store(&handler)
}

// trusted is a file with the certificate of an endpoint that was started with TLS. It is for
// 127.0.0.1 and example.com.
func (e *subscriber) trusted(t *testing.T, folder string) string {
	t.Helper()
	file := filepath.Join(folder, "tls.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: e.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// hook calls a path of the subscriptions.
func (c *client) hook(t *testing.T, method, path, body string) reply {
	t.Helper()
	a, err := c.call(t.Context(), method, "/api/v1/portal/webhooks"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return a
}
