package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/innsigli/innsigli/webhook"
)

// subscribeToAll subscribes the endpoint to all that can be subscribed to, and activates it.
func (e *subscriber) subscribeToAll(t *testing.T, c *client) {
	t.Helper()
	e.subscribe(t, c, e.URL+path)
	change := `{"eventTypes":["participant.signed","participant.declined","process.completed"]}`
	if a := c.hook(t, http.MethodPut, "/"+e.id, change); a.Status != http.StatusOK {
		t.Fatalf("the subscription: %v %s", a, a.Body)
	}
	if a := c.hook(t, http.MethodPost, "/"+e.id+"/activate", ""); a.Status != http.StatusOK || !a.Active {
		t.Fatalf("activation: %v %s", a, a.Body)
	}
	for range 2 { // pings
		soon(t, e.requests)
	}
}

// isAway has the endpoint turn the next event of a type away.
func (e *subscriber) isAway(eventType string) {
	e.once(eventType, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.WriteHeader(http.StatusServiceUnavailable)
	})
}

// forgets has the endpoint receive the next event of a type, and not say so.
func (e *subscriber) forgets(eventType string) {
	e.once(eventType, func(w http.ResponseWriter, r *http.Request, usual http.Handler) {
		usual.ServeHTTP(httptest.NewRecorder(), r)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
}

// once has the endpoint treat the next event of a type otherwise than those that follow.
func (e *subscriber) once(eventType string, treat func(w http.ResponseWriter, r *http.Request, usual http.Handler)) {
	usual := *e.handler.Load()
	var other http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if event, err := webhook.ParseEvent(r.Header, body); err != nil || event.Type != eventType {
			usual.ServeHTTP(w, r)
			return
		}
		e.handler.Store(&usual)
		treat(w, r, usual)
	})
	e.handler.Store(&other)
}

// hears waits until a request has come again, of those that were not looked at so far.
func (e *subscriber) hears(t *testing.T, id string) {
	t.Helper()
	for range 2 {
		for soon(t, e.requests) != id {
		}
	}
}
