package main

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/idp"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/portal"
)

// A process of the web application is like any other, but that the API does not know it and that nobody
// is told of it (decisions.md 6.9).
func TestWebProcess(t *testing.T) {
	testenv.Slow(t, "foreign programs verify what is signed")
	in := place{path: filepath.Join(shortFolder(t), "store.db")}
	s := setup{place: in, log: slog.New(slog.DiscardHandler), private: true, renderer: os.Getenv(cacheVariable)}.openFor(t)
	c := s.running(t)
	e := newSubscriber(t, (*httptest.Server).Start)
	e.subscribeToAll(t, c)
	user := c.addUser(t, people[0])
	ofAPI := c.createProcess(t, inviteText(t, document, invitee{Name: "Anna", Email: "anna@example.is", Role: "Signer"}))

	signed, declined := s.webProcess(t), s.webProcess(t)
	started, err := s.processes.Sign(t.Context(), signed.ID, signed.Participants[0].ID, portal.Ask{Method: idp.App})
	if err == nil {
		_, err = s.signing.Drive(t.Context(), started.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.processes.Decline(t.Context(), declined.ID, declined.Participants[0].ID, ""); err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		made portal.View
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
	s.waitForDeliveries(t, "bolt:"+in.path, e.id, 1)
}

// webProcess makes a process of the web application, in which a test person has logged in.
func (s *server) webProcess(t *testing.T) portal.View {
	t.Helper()
	uploaded, err := s.signing.Upload(t.Context(), bytes.NewReader(document), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	made, err := s.processes.Create(t.Context(), portal.Draft{
		Account: sandboxAccount, Origin: portal.Web, FileName: documentName, Document: uploaded, Page: 1,
		Participants: []portal.Invitee{{Name: "Anna", Email: "anna@example.is", Role: portal.Signer}},
	})
	if err != nil {
		t.Fatal(err)
	}
	token := strings.TrimPrefix(made.Participants[0].Path, "/sign/")
	if _, _, err := s.processes.Login(t.Context(), token, portal.Person{Name: people[0].name, Kennitala: people[0].kennitala}); err != nil {
		t.Fatal(err)
	}
	return made
}
