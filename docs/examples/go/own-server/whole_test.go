package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/server"
	"github.com/innsigli/innsigli/server/operator"
	"github.com/innsigli/innsigli/stamp/pdfium"
	"github.com/innsigli/innsigli/storage/sealed"
	"github.com/innsigli/innsigli/webhook"
)

const processesPath = "/api/v1/portal/signing-processes"

// Sandbox users sign over the memory: a document, and what they were invited to, of which a webhook tells.
func TestSandboxOverMemory(t *testing.T) {
	s, c := overMemory(t, server.Config{Environment: server.Sandbox})
	credentials, err := s.SandboxClient(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	c.login(credentials.ID, *credentials.Secret)
	events := c.subscribed()
	var user struct{ UUID string }
	c.wants(http.StatusOK, http.MethodPost, "/api/v1/sandbox/users", `{"fullName":"Anna","kennitala":"0101302989","phone":"5550101"}`, &user)

	if signed := c.sign(sample(t), "Lta"); len(signed) <= len(sample(t)) {
		t.Errorf("the signed document has %d bytes", len(signed))
	}
	made := c.invite()
	c.wants(http.StatusNoContent, http.MethodPost, "/api/v1/sandbox/portal/signing-processes/"+made.ID+"/participants/"+made.Participants[0].ID+"/sign", fmt.Sprintf(`{"sandboxUserId":%q}`, user.UUID), nil)
	heard := make(map[string]bool) // in any order
	for !heard["participant.signed"] || !heard["process.completed"] {
		e := <-events
		heard[e.Type] = strings.Contains(string(e.Data), made.ID)
	}
	if status := c.status(made); status != "Completed" {
		t.Errorf("the process is %s", status)
	}
}

// People sign over the memory, and are invited by mail.
func TestProductionOverMemory(t *testing.T) {
	provider, err := newSeals()
	if err != nil {
		t.Fatal(err)
	}
	sent := make(sentMail, 10)
	folder, err := os.MkdirTemp("", "own") // with a short name, for the socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	socket := filepath.Join(folder, "socket")
	_, c := overMemory(t, server.Config{
		Provider: provider, Sources: func() ades.Sources { return provider.authority.Sources(nil) }, Mail: sent, OperatorSocket: socket,
	})
	c.authenticate(operator.NewClient(socket))
	if signed := c.sign(sample(t), "Lt"); len(signed) <= len(sample(t)) {
		t.Errorf("the signed document has %d bytes", len(signed))
	}
	made := c.invite()
	if m := <-sent; len(m.To) != 1 || !strings.Contains(m.To[0], "anna@example.is") || !strings.Contains(m.Text, c.base+"/sign/") {
		t.Errorf("a mail to %v: %s", m.To, m.Text)
	}
	if status := c.status(made); status != "Waiting" {
		t.Errorf("the process is %s", status)
	}
}

// overMemory runs a server whose backend is in memory.
func overMemory(t *testing.T, config server.Config) (*server.Server, *client) {
	t.Helper()
	folder := t.TempDir()
	keyFile, documents := filepath.Join(folder, "key"), filepath.Join(folder, "documents")
	if err := sealed.MakeFile(keyFile); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(documents, 0o700); err != nil {
		t.Fatal(err)
	}
	keys, err := sealed.ReadFile(keyFile)
	if err != nil {
		t.Fatal(err)
	}
	config.Backend, config.MasterKey = newMemory(new(tables), documents), keys
	config.Webhooks.AllowPrivate = true
	config.Renderer = pdfium.New(pdfium.Options{})
	if _, err := config.Renderer.Warm(t.Context()); err != nil { // else a place for a stamp may be answered with 503
		t.Fatal(err)
	}
	t.Cleanup(func() { config.Renderer.Close() })
	var handler atomic.Pointer[http.Handler] // which needs the address first
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*handler.Load()).ServeHTTP(w, r) }))
	t.Cleanup(listener.Close)
	config.BaseURL = listener.URL
	s, err := server.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	answers := s.Handler()
	handler.Store(&answers)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, &client{t: t, base: listener.URL}
}

// sentMail is what was sent.
type sentMail chan server.Message

func (s sentMail) Send(ctx context.Context, m server.Message) error {
	s <- m
	return nil
}

func sample(t *testing.T) []byte {
	t.Helper()
	document, err := os.ReadFile("../../../../cmd/innsigli/sample.pdf")
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// process is a signing process of one participant.
type process struct {
	ID           string `json:"signingProcessId"`
	Status       string
	Participants []struct {
		ID string `json:"participantId"`
	}
}

func (c *client) invite() (made process) {
	c.t.Helper()
	body, err := json.Marshal(map[string]any{
		"file":              map[string]any{"name": "sample.pdf", "contentBase64": sample(c.t)},
		"participants":      []any{map[string]any{"name": "Anna", "email": "anna@example.is", "role": "Signer"}},
		"signatureLocation": "BottomRight",
	})
	if err != nil {
		c.t.Fatal(err)
	}
	c.wants(http.StatusCreated, http.MethodPost, processesPath, string(body), &made)
	if len(made.Participants) != 1 {
		c.t.Fatalf("%+v", made)
	}
	return made
}

func (c *client) status(p process) string {
	c.t.Helper()
	var now process
	c.wants(http.StatusOK, http.MethodGet, processesPath+"/"+p.ID, "", &now)
	return now.Status
}

// subscribed returns the events that a webhook hears, pings left out.
func (c *client) subscribed() <-chan webhook.Event {
	c.t.Helper()
	events := make(chan webhook.Event, 10)
	receiver := &webhook.Receiver{}
	var handler atomic.Pointer[http.Handler] // which needs the key of the subscription first
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*handler.Load()).ServeHTTP(w, r) }))
	c.t.Cleanup(listener.Close)
	var made struct{ ID, Secret string }
	c.wants(http.StatusCreated, http.MethodPost, "/api/v1/portal/webhooks",
		fmt.Sprintf(`{"url":%q,"eventTypes":["participant.signed","process.completed"]}`, listener.URL), &made)
	key, err := webhook.ParseKey(made.Secret)
	if err != nil {
		c.t.Fatal(err)
	}
	receiver.Keys = []webhook.Key{key}
	hears := receiver.Handler(func(_ context.Context, e webhook.Event) error {
		if e.Type != "ping" {
			events <- e
		}
		return nil
	})
	handler.Store(&hears)
	c.wants(http.StatusOK, http.MethodPost, "/api/v1/portal/webhooks/"+made.ID+"/activate", "", &made)
	return events
}

// wants calls the API for an answer with a status.
func (c *client) wants(status int, method, path, body string, answer any) {
	c.t.Helper()
	if got := c.call(method, path, body, answer); got != status {
		c.t.Fatalf("%s %s: status %d, want %d: %+v", method, path, got, status, answer)
	}
}
