package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/innsigli/innsigli/webhook"
)

// receiver is a client's endpoint that knows by webhook-id which events it has handled.
type receiver struct {
	*subscriber
	mu     sync.Mutex
	events map[string][]string // of a process: their types and participants, each event once
	known  map[string]bool
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{events: make(map[string][]string), known: make(map[string]bool)}
	r.subscriber = newSubscriber(t, (*httptest.Server).StartTLS)
	go func() {
		for range r.requests {
		}
	}()
	return r
}

// subscribe subscribes to all events.
func (r *receiver) subscribe(t *testing.T, c *client) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"url": r.URL + path, "eventTypes": []string{"participant.signed", "participant.declined", "process.completed"}})
	if err != nil {
		t.Fatal(err)
	}
	a := c.hook(t, http.MethodPost, "", string(body))
	key, err := webhook.ParseKey(a.Secret)
	if a.Status != http.StatusCreated || err != nil {
		t.Fatalf("the subscription: %v %s, %v", a, a.Body, err)
	}
	handler := (&webhook.Receiver{Keys: []webhook.Key{key}}).Handler(r.handle)
	r.handler.Store(&handler)
	if a := c.hook(t, http.MethodPost, "/"+a.ID+"/activate", ""); a.Status != http.StatusOK {
		t.Fatalf("activation: %v %s", a, a.Body)
	}
}

func (r *receiver) handle(_ context.Context, e webhook.Event) error {
	var data struct {
		Process     string `json:"signingProcessId"`
		Participant struct {
			Email     string `json:"email"`
			Signature []byte `json:"signature"`
		} `json:"participant"`
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.known[e.ID] {
		r.known[e.ID] = true
		told := e.Type
		if data.Participant.Email != "" {
			told += " " + data.Participant.Email
		}
		r.events[data.Process] = append(r.events[data.Process], told)
	}
	return nil
}

// of are the events of a process in some order of their own.
func (r *receiver) of(process string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(slices.Values(r.events[process]))
}
