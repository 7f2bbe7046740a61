package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/innsigli/innsigli/webhook"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// endpoint is a receiver of events that verifies them, with an address of its own.
type endpoint struct {
	number   int
	account  string
	to       delivery.Subscription
	keys     []webhook.Key
	arrivals *arrivals
	slow     atomic.Int64 // time that an event takes; pings are answered at once

	address string
	server  *http.Server
	deaf    net.Listener // of a dead one that takes connections and never answers
}

// newEndpoint opens an endpoint and subscribes it to the events of an account.
func newEndpoint(ctx context.Context, o *office, number int, account string, a *arrivals) (*endpoint, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	e := &endpoint{number: number, account: account, arrivals: a, address: listener.Addr().String()}
	if err := e.subscribe(ctx, o); err != nil {
		return nil, err
	}
	e.server = &http.Server{Handler: e}
	go e.server.Serve(listener)
	e.to, err = o.hooks.Activate(ctx, account, e.to.ID)
	return e, err
}

func (e *endpoint) subscribe(ctx context.Context, o *office) (err error) {
	if e.to, err = o.hooks.Create(ctx, e.account, "http://"+e.address+"/", []string{eventType}); err != nil {
		return err
	}
	keys, err := o.hooks.Keys(ctx)
	e.keys = []webhook.Key{webhook.Secret(e.to.Secret)}
	for _, k := range keys {
		e.keys = append(e.keys, webhook.PublicKey(k.Public))
	}
	return err
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := time.Now()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender has died
	}
	var told struct {
		Type string
		Data news
	}
	fault := webhook.Verify(r.Header, body, e.keys...)
	json.Unmarshal(body, &told)
	switch {
	case told.Type == webhook.PingType && fault != nil:
		w.WriteHeader(http.StatusUnauthorized)
		return
	case told.Type == webhook.PingType:
		return
	case fault != nil || told.Type != eventType || r.Header.Get(webhook.HeaderSubscription) != e.to.ID:
		e.arrivals.faults.fault("endpoint %d was sent something else: %v", e.number, fault)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	e.arrivals.note(letter{e.number, told.Data.Number}, at, r.Header.Get(webhook.HeaderID), body)
	select {
	case <-time.After(time.Duration(e.slow.Load())):
	case <-r.Context().Done():
	}
}

// die ends what the endpoint does: its address refuses connections then, or takes them and never
// answers.
func (e *endpoint) die(refuses bool) (err error) {
	err = e.server.Close()
	if err == nil && !refuses {
		e.deaf, err = net.Listen("tcp", e.address)
	}
	return err
}

func (e *endpoint) close() {
	e.server.Close()
	if e.deaf != nil {
		e.deaf.Close()
	}
}
