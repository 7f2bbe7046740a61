package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/server/config"
	"github.com/innsigli/innsigli/storage/sealed"
	"github.com/innsigli/innsigli/webhook"
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

// The list tells of trouble: one that is active and whose pings fail is not just active.
func TestStatesOfSubscriptions(t *testing.T) {
	created := time.Date(2026, 3, 1, 7, 5, 0, 0, time.UTC)
	activated, failing, updated := created.Add(time.Hour), created.Add(2*time.Hour), created.Add(3*time.Hour)
	for name, test := range map[string]struct {
		is    delivery.Subscription
		state string
		since time.Time
	}{
		"never active":   {delivery.Subscription{}, "inactive", created},
		"active":         {delivery.Subscription{Active: true, ActivatedAt: activated}, "active", activated},
		"its pings fail": {delivery.Subscription{Active: true, ActivatedAt: activated, FailingSince: failing}, "failing", failing},
		"switched off":   {delivery.Subscription{Reason: delivery.SecurityCheckFailed}, "SecurityCheckFailed", updated},
	} {
		t.Run(name, func(t *testing.T) {
			test.is.CreatedAt, test.is.UpdatedAt = created, updated
			if state, since := stateOf(test.is); state != test.state || !since.Equal(test.since) {
				t.Errorf("%s since %v, want %s since %v", state, since, test.state, test.since)
			}
		})
	}
}

// connectProxy passes all connections on to one address, wherever they are to go, and says where
// they were.
type connectProxy struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newConnectProxy(t *testing.T, to string) *connectProxy {
	t.Helper()
	p := new(connectProxy)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.asked = append(p.asked, r.Method+" "+r.Host)
		p.mu.Unlock()
		far, err := net.Dial("tcp", to)
		if err != nil {
			t.Error(err)
			return
		}
		defer far.Close()
		near, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer near.Close()
		fmt.Fprint(near, "HTTP/1.1 200 Connection established\r\n\r\n")
		go func() {
			io.Copy(far, buffered)
			far.Close()
		}()
		io.Copy(near, far)
	}))
	t.Cleanup(p.Close)
	return p
}

// What [webhooks] says holds: requests go through the proxy that it names and not through one of
// the environment, and an account has no more subscriptions than it may.
func TestWebhooksOfAConfiguration(t *testing.T) {
	folder := shortFolder(t)
	e := newSubscriber(t, (*httptest.Server).StartTLS)
	proxy := newConnectProxy(t, e.Listener.Addr().String())
	text := fmt.Sprintf("[webhooks]\negress-proxy = %q\nmax-subscriptions = 1\n", proxy.URL)
	if err := os.WriteFile(filepath.Join(folder, "innsigli.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startServer(t, folder, "SSL_CERT_FILE="+e.trusted(t, folder), "HTTPS_PROXY=http://127.0.0.1:1", "https_proxy=http://127.0.0.1:1")
	c := p.account(t, "bolt:"+filepath.Join(folder, "store.db"))
	e.subscribe(t, c, "https://example.com"+path)
	if a := c.hook(t, http.MethodPost, "/"+e.id+"/activate", ""); a.Status != http.StatusOK || !a.Active {
		t.Errorf("activation through the proxy: %v %s", a, a.Body)
	}
	proxy.mu.Lock()
	asked := slices.Compact(slices.Clone(proxy.asked))
	proxy.mu.Unlock()
	if !slices.Equal(asked, []string{"CONNECT example.com:443"}) {
		t.Errorf("the proxy was asked for %q", asked)
	}
	if a := c.hook(t, http.MethodPost, "", subscription("https://example.com/")); a.Status != http.StatusBadRequest || a.Title != "Too many webhook subscriptions" {
		t.Errorf("one more: %v", a)
	}
	if rest, err := p.stop(); err != nil || rest != "" {
		t.Errorf("stopping: %v, stdout %q", err, rest)
	}
}

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
