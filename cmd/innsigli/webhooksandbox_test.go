package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/server/config"
	"github.com/innsigli/innsigli/storage/sealed"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// An endpoint on this machine, in https, is for a sandbox that was told so. The next start was
// not: nothing connects there any more, whatever the subscription says.
func TestPrivateWebhooks(t *testing.T) {
	program, err := exec.LookPath("innsigli")
	if err != nil {
		t.Fatal(err)
	}
	folder := shortFolder(t)
	e := newSubscriber(t, (*httptest.Server).StartTLS)
	store, environment := "bolt:"+filepath.Join(folder, "store.db"), []string{"SSL_CERT_FILE=" + e.trusted(t, folder)}

	p := startSandbox(t, program, store, environment, "--insecure-allow-private-webhooks", "--log-level", "debug")
	c := p.signIn(t)
	e.subscribe(t, c, e.URL+path)
	if a := c.hook(t, http.MethodPost, "/"+e.id+"/activate", ""); a.Status != http.StatusOK || !a.Active {
		t.Fatalf("activation: %v %s", a, a.Body)
	}
	if a := c.hook(t, http.MethodPost, "/"+e.id+"/test", ""); a.Status != http.StatusNoContent {
		t.Errorf("test: %v %s", a, a.Body)
	}
	listed := output(t, done, "webhook", "list", sandboxAccount, "--store", store)
	log := output(t, done, "webhook", "log", e.id, "--store", store)
	if rest, err := p.stop(); err != nil || rest != "" {
		t.Fatal(rest, err)
	}
	for name, want := range map[string]string{"list": listed, "log": log} {
		if got := output(t, done, "webhook", name, map[string]string{"list": sandboxAccount, "log": e.id}[name], "--store", store); got != want {
			t.Errorf("%s without the server:\n%s\nand with it:\n%s", name, got, want)
		}
	}
	if !strings.Contains(listed, e.id) || !strings.Contains(listed, "active") || strings.Count(log, "activation") != 2 || strings.Count(log, " test ") != 1 {
		t.Errorf("the list is\n%s\nand the log\n%s", listed, log)
	}
	for what, secret := range map[string]string{"secret": e.secret, "URL": path} {
		if strings.Contains(p.talk()+log, secret) {
			t.Errorf("the %s is in a log:\n%s", what, p.talk())
		}
	}

	before := e.connections.Load()
	p = startSandbox(t, program, store, environment)
	c = p.signIn(t)
	if a := c.hook(t, http.MethodPost, "/"+e.id+"/activate", ""); a.Status != http.StatusUnprocessableEntity || a.Failed != string(delivery.Unreachable) {
		t.Errorf("activation without the flag: %v %s", a, a.Body)
	}
	if a := c.hook(t, http.MethodPost, "/"+e.id+"/test", ""); a.Status != http.StatusBadGateway {
		t.Errorf("test without the flag: %v %s", a, a.Body)
	}
	if a := c.hook(t, http.MethodPost, "", subscription(e.URL)); a.Status != http.StatusBadRequest {
		t.Errorf("creation without the flag: %v", a)
	}
	if n := e.connections.Load() - before; n != 0 {
		t.Errorf("%d connections without the flag", n)
	}
	rest, err := p.stop()
	if said := stopLines.FindAllString(p.talk(), -1); len(said) != 2 || !strings.Contains(said[0], "timeToFinish=20s") || !strings.HasSuffix(said[1], "msg=stopped") {
		t.Errorf("when it stops, the log has %q", said)
	}
	if err != nil || rest != "" || p.talkInTime() != "" {
		t.Errorf("the end: %v, %q\n%s", err, rest, p.talk())
	}
}

// An event goes from the server to the endpoint, is in the log, and is sent again by an operator
// who finds it among those that were given up.
func TestEventIsDelivered(t *testing.T) {
	s := startInProcess(t, config.Store{Path: filepath.Join(shortFolder(t), "store.db")})
	c := s.client(t)
	e := newSubscriber(t, (*httptest.Server).Start)
	e.subscribe(t, c, e.URL+path)
	if a := c.hook(t, http.MethodPost, "/"+e.id+"/activate", ""); a.Status != http.StatusOK {
		t.Fatalf("activation: %v %s", a, a.Body)
	}
	<-e.requests
	<-e.requests
	at, data := time.Now(), map[string]any{"signingProcessId": uuid.NewString(), "participants": []any{}}
	err := s.db.InTx(t.Context(), func(ctx context.Context) error {
		return delivery.New(sealed.Webhooks(s.db.Webhooks(), s.keys), s.db, s.db.Jobs(), delivery.Options{EventTypes: portal.EventTypes()}).Emit(ctx, sandboxAccount, "process.completed", at, data)
	})
	if err != nil {
		t.Fatal(err)
	}
	event := soon(t, e.events)
	if event.Type != "process.completed" || event.Timestamp.Unix() != at.Unix() || !strings.Contains(string(event.Data), "signingProcessId") {
		t.Errorf("received %+v", event)
	}
	if id := soon(t, e.requests); id != event.ID {
		t.Errorf("webhook-id %s of event %s", id, event.ID)
	}
	store := "bolt:" + s.store.Path
	waitForDeliveries(t, store, e.id, 1)

	body, err := json.Marshal(map[string]any{"type": event.Type, "timestamp": "2026-03-01T07:05:00.000+00:00", "data": data})
	if err != nil {
		t.Fatal(err)
	}
	err = s.db.InTx(t.Context(), func(ctx context.Context) error {
		return s.db.Webhooks().AddDropped(ctx, delivery.Dropped{
			Subscription: e.id, Event: event.ID, Type: event.Type, At: at.UTC().Truncate(time.Microsecond), Body: body,
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if dropped := output(t, done, "webhook", "dropped", e.id, "--store", store); !strings.Contains(dropped, event.ID) || strings.Count(dropped, "\n") != 2 {
		t.Errorf("given up:\n%s", dropped)
	}
	if said := output(t, done, "webhook", "resend", e.id, "--all", "--store", store); said != "events to be sent again: 1\n" {
		t.Errorf("%q", said)
	}
	if id := soon(t, e.requests); id != event.ID {
		t.Errorf("sent again with webhook-id %s instead of %s", id, event.ID)
	}
	for _, a := range waitForDeliveries(t, store, e.id, 2) {
		if a.Event != event.ID || a.Attempt == nil || *a.Attempt != 1 || a.Status == nil || *a.Status != http.StatusNoContent || a.Failure != nil || a.Next != nil {
			t.Errorf("in the log: %+v", a)
		}
	}
	if len(e.events) > 0 {
		t.Error("the repeat was handled again")
	}
	w := httptest.NewRecorder()
	s.Metrics().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, line := range []string{`innsigli_webhook_attempts_total{failure="none",purpose="delivery"} 2`, `innsigli_webhook_attempts_total{failure="none",purpose="activation"} 2`, "innsigli_webhook_oldest_due_seconds 0"} {
		if !strings.Contains(w.Body.String(), line+"\n") {
			t.Errorf("the metrics have no %s", line)
		}
	}
	if said := output(t, failed, "webhook", "resend", e.id, event.ID, "--store", store); said != "events to be sent again: 0\n" {
		t.Errorf("once more: %q", said)
	}
}

// waitForDeliveries waits until so many are in the log of a subscription.
func waitForDeliveries(t *testing.T, store, subscription string, number int) (deliveries []attemptLine) {
	t.Helper()
	testenv.Wait(t, "deliveries in the log", func() bool {
		deliveries = nil
		for line := range strings.Lines(output(t, done, "webhook", "log", subscription, "--json", "--store", store)) {
			var a attemptLine
			if err := json.Unmarshal([]byte(line), &a); err != nil {
				t.Fatal(err)
			}
			if a.Purpose == delivery.ForDelivery {
				deliveries = append(deliveries, a)
			}
		}
		return len(deliveries) == number
	})
	return deliveries
}

// soon is what comes next.
func soon[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	v, _ := testenv.Receive(t, "what is to come", from)
	return v
}
