package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"time"
)

// archive is a server with a store of processes, whose calls are timed.
type archive struct {
	*server
	store    string
	client   *client
	draft    string   // body that makes a process
	accounts []string // those that have processes, the client's first
	filed    []string // the processes of the client's account
	took     map[string][]time.Duration
}

// openArchive files so many processes in a new store, and starts a server on it.
func openArchive(ctx context.Context, h *house, store string, number int) (*archive, error) {
	text, err := draftText()
	if err != nil {
		return nil, err
	}
	a := &archive{store: store, draft: text, took: make(map[string][]time.Duration)}
	on := *h
	on.store = storeOf(store)
	if a.server, err = on.newServer(ctx); err != nil { // makes the client and its account
		return nil, err
	}
	if err := a.stop(); err != nil {
		return nil, err
	}
	if err := a.fill(ctx, number); err != nil {
		return nil, fmt.Errorf("filling the store: %w", err)
	}
	if err := a.start(ctx); err != nil {
		return nil, err
	}
	if a.client, err = newClient(ctx, []string{a.address}); err != nil {
		return nil, errors.Join(err, a.stop())
	}
	a.client.http = http.Client{Timeout: time.Minute} // which keeps its connection: to make one is not what is timed
	return a, nil
}

const processesPath = "/api/v1/portal/signing-processes"

// archiveCalls are those that are timed.
var archiveCalls = []struct {
	name   string
	status int
	call   func(*archive, context.Context) answer
}{
	{"create", http.StatusCreated, (*archive).create},
	{"read", http.StatusOK, (*archive).read},
	{"document", http.StatusOK, (*archive).document},
}

// measure makes each call once.
func (a *archive) measure(ctx context.Context) error {
	for _, one := range archiveCalls {
		got := one.call(a, ctx)
		if got.Status != one.status {
			return fmt.Errorf("%s: %v", one.name, got)
		}
		a.took[one.name] = append(a.took[one.name], got.received.Sub(got.sent))
	}
	return nil
}

func (a *archive) create(ctx context.Context) answer {
	return a.client.post(ctx, processesPath, a.draft, "Idempotency-Key", rand.Text())
}

func (a *archive) read(ctx context.Context) answer { return a.get(ctx, "") }

func (a *archive) document(ctx context.Context) answer { return a.get(ctx, "/document") }

// get reads something of any process.
func (a *archive) get(ctx context.Context, what string) answer {
	return a.client.do(ctx, http.MethodGet, processesPath+"/"+a.filed[mathrand.IntN(len(a.filed))]+what, nil)
}

// draftText is the body that makes a process.
func draftText() (string, error) { return draftOf(contractFile) }

// draftOf is a body that makes a process of a document.
func draftOf(document []byte) (string, error) {
	type object map[string]any
	var participants []object
	for _, in := range invitees {
		one := object{"name": in.Name, "email": in.Email, "role": in.Role}
		if in.Kennitala != "" {
			one["kennitala"] = in.Kennitala
		}
		if in.Phone != "" {
			one["phoneNumber"] = in.Phone
		}
		participants = append(participants, one)
	}
	text, err := json.Marshal(object{
		"file":              object{"name": contractName, "contentBase64": base64.StdEncoding.EncodeToString(document)},
		"signatureLocation": "BottomLeft",
		"participants":      participants,
	})
	return string(text), err
}
