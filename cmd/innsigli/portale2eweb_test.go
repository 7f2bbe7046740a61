package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/idp"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/server/config"
	"github.com/innsigli/innsigli/server/operator"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage/sealed"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// A process of the web application is like any other, but that the API does not know it and that nobody
// is told of it (spec 4.5).
func TestWebProcess(t *testing.T) {
	testenv.Slow(t, "foreign programs verify what is signed")
	s := startInProcess(t, config.Store{Path: filepath.Join(shortFolder(t), "store.db")})
	c, web := s.client(t), newWebApplication(t, s)
	e := newSubscriber(t, (*httptest.Server).Start)
	e.subscribeToAll(t, c)
	user := c.addUser(t, people[0])
	ofAPI := c.createProcess(t, inviteText(t, document, invitee{Name: "Anna", Email: "anna@example.is", Role: "Signer"}))

	signed, declined := web.create(t), web.create(t)
	started, err := web.processes.Sign(t.Context(), signed.ID, signed.Participants[0].ID, portal.SignRequest{Method: idp.App})
	if err == nil {
		_, err = web.requests.Drive(t.Context(), started.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := web.processes.Decline(t.Context(), declined.ID, declined.Participants[0].ID, ""); err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		made portal.ProcessView
		want portal.Status
	}{{signed, portal.Completed}, {declined, portal.Declined}} {
		now, err := s.db.Processes().Process(t.Context(), one.made.ID)
		if status := now.Status(time.Now()); err != nil || status != one.want {
			t.Errorf("%v, %v; want %s", status, err, one.want)
		}
		hidden := processReply{ProcessID: one.made.ID, Participants: slices.Clone(ofAPI.Participants)}
		hidden.Participants[0].ID = one.made.Participants[0].ID
		c.unknown(t, hidden, user)
	}

	c.wants(t, http.StatusNoContent, http.MethodPost, ofAPI.answerPath(0, "decline"), `{"reason":""}`)
	if event := soon(t, e.events); !strings.Contains(string(event.Data), ofAPI.ProcessID) {
		t.Errorf("the endpoint is told %s", event.Data)
	}
	waitForDeliveries(t, "bolt:"+s.store.Path, e.id, 1)
}

// webApplication makes processes on the store of a server, as a web application beside it would.
type webApplication struct {
	requests  *signing.Service
	processes *portal.Service
}

func newWebApplication(t *testing.T, s *inProcess) webApplication {
	t.Helper()
	people, err := sandbox.Open(t.Context(), sealed.Sandbox(s.db.Sandbox(), s.keys), s.db, sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	accounts := account.New(s.db.Accounts(), s.db, account.Options{})
	hooks := delivery.New(sealed.Webhooks(s.db.Webhooks(), s.keys), s.db, s.db.Jobs(), delivery.Options{EventTypes: portal.EventTypes()})
	owner := portal.NewOwner(sealed.Processes(s.db.Processes(), s.keys), s.db, s.db.Documents(), s.db.EvidenceLog(), operator.Terms{Service: accounts}, portal.Options{Events: hooks})
	requests := signing.New(sealed.Requests(s.db.Requests(), s.keys), s.db, s.db.Documents(), s.db.Jobs(), s.db.EvidenceLog(), people, busysignal.New(s.db.BusySignals(), s.db, busysignal.Options{}), signing.Options{
		Expiry: sandbox.Expiry, IgnoreInterval: true, Sources: people.Sources, Owner: owner, Ledger: accounts, Renderer: s.renderer,
	})
	t.Cleanup(func() { requests.Close(context.WithoutCancel(t.Context())) })
	return webApplication{requests, portal.New(owner, requests)}
}

// create makes a process in which a test user has logged in.
func (w webApplication) create(t *testing.T) portal.ProcessView {
	t.Helper()
	uploaded, err := w.requests.Upload(t.Context(), bytes.NewReader(document), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	made, err := w.processes.Create(t.Context(), portal.Draft{
		Account: sandboxAccount, Origin: portal.Web, FileName: documentName, Document: uploaded, Page: 1,
		Participants: []portal.Invitee{{Name: "Anna", Email: "anna@example.is", Role: portal.Signer}},
	})
	if err != nil {
		t.Fatal(err)
	}
	token := strings.TrimPrefix(made.Participants[0].Path, "/sign/")
	if _, _, err := w.processes.Login(t.Context(), token, portal.Person{Name: people[0].name, Kennitala: people[0].kennitala}); err != nil {
		t.Fatal(err)
	}
	return made
}
