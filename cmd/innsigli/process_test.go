package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/server/config"
	"github.com/innsigli/innsigli/server/operator"
	"github.com/innsigli/innsigli/storage/sealed"
)

// processesPath is where processes are made.
const processesPath = "/api/v1/portal/signing-processes"

// processReply is what the tests read of a process.
type processReply struct {
	ProcessID    string `json:"signingProcessId"`
	Participants []struct {
		ID         string  `json:"participantId"`
		Status     string  `json:"status"`
		SigningURL *string `json:"signingUrl"`
	} `json:"participants"`
	Content []byte `json:"contentBase64"` // of its document
}

// answerPath is that of the sandbox call with which a participant answers.
func (p processReply) answerPath(participant int, call string) string {
	return "/api/v1/sandbox/portal/signing-processes/" + p.ProcessID + "/participants/" + p.Participants[participant].ID + "/" + call
}

// processText is the body of the call that makes a process of signers and a viewer.
func processText(content []byte, signers ...person) string {
	var list strings.Builder
	for _, p := range signers {
		fmt.Fprintf(&list, `{"name":%q,"email":"%s@example.is","role":"Signer"},`, p.name, p.phone)
	}
	return fmt.Sprintf(`{"file":{"name":"contract.pdf","contentBase64":%q},"signatureLocation":"BottomRight",
		"participants":[%s{"name":"Some Viewer","email":"viewer@example.is","role":"Viewer"}]}`,
		base64.StdEncoding.EncodeToString(content), &list)
}

// createProcess makes a process, once the server is ready to look for places.
func (c *client) createProcess(t testing.TB, body string) reply {
	t.Helper()
	var a reply
	testenv.Wait(t, "a process", func() bool {
		var err error
		a, err = c.call(t.Context(), http.MethodPost, processesPath, strings.NewReader(body))
		if err != nil || a.Status != http.StatusCreated && a.Status != http.StatusServiceUnavailable {
			t.Fatalf("making a process: %v, %v", a, err)
		}
		return a.Status == http.StatusCreated
	})
	return a
}

// In production everybody is invited by mail, with the link that the API shows; also when the
// operator invites again while no server runs.
func TestInvitationsAreSent(t *testing.T) {
	p := newProduction(t, installed(t), "", "--insecure-simulated-idp", "--mail", "dir:mail")
	p.keepsToItself(t)
	p.run(t)
	p.client = p.account(t, p.store)
	made := p.client.createProcess(t, processText(document, people[0], people[1]))
	p.wantLetters(t, made, 3)
	if _, err := p.stop(); err != nil {
		t.Fatal(err)
	}
	again := output(t, done, "process", "resend", made.ProcessID, "--store", p.store, "--master-key-file", filepath.Join(p.folder, "master.key"))
	if again != "invitations made again: 3\n" {
		t.Error(again)
	}
	p.run(t)
	later := p.client.must(t, http.MethodGet, processesPath+"/"+made.ProcessID, "")
	if *later.Participants[0].SigningURL == *made.Participants[0].SigningURL {
		t.Error("the old link is still the link")
	}
	p.wantLetters(t, later, 6)
}

// wantLetters waits until there is so much mail in all, and wants each participant's link in a
// letter to no other person. No log has one.
func (p *production) wantLetters(t *testing.T, process reply, number int) {
	t.Helper()
	var files []string
	p.waitUntil(t, func() bool {
		var err error
		if files, err = filepath.Glob(filepath.Join(p.folder, "mail", "*.eml")); err != nil {
			t.Fatal(err)
		}
		return len(files) >= number
	})
	if len(files) != number || len(process.Participants) != 3 {
		t.Fatalf("%d letters about %+v", len(files), process)
	}
	to := make(map[string]string) // the link in whose letter
	for _, file := range files {
		letter := testenv.ReadMail(t, file)
		for _, one := range process.Participants {
			if strings.Contains(letter.Text, "\n"+*one.SigningURL+"\n") && strings.Contains(letter.HTML, `href="`+*one.SigningURL+`"`) {
				to[*one.SigningURL] += addressee(t, letter)
			}
		}
	}
	for i, want := range []string{"5550101@example.is", "5550102@example.is", "viewer@example.is"} {
		link := *process.Participants[i].SigningURL
		if to[link] != want || !strings.HasPrefix(link, "http://localhost/sign/") {
			t.Errorf("the link %s went to %s, want %s", link, to[link], want)
		}
		if strings.Contains(p.logs(), strings.TrimPrefix(link, "http://localhost/sign/")) {
			t.Errorf("a link is in the log:\n%s", p.logs())
		}
	}
}

// addressee is the address of the one person whom a letter is to, by name.
func addressee(t *testing.T, letter testenv.Mail) string {
	t.Helper()
	to, err := letter.AddressList("To")
	if err != nil || len(to) != 1 || to[0].Name == "" {
		t.Fatalf("to %v: %v", to, err)
	}
	return to[0].Address
}

// The operator's command invites with the master key of the store alone, also where it has no link to
// open: the server, which has to start again, could not open those that another key sealed.
func TestResendWithAnotherKey(t *testing.T) {
	in := config.Store{Path: filepath.Join(shortFolder(t), "store.db")}
	other := filepath.Join(t.TempDir(), "other.key")
	if err := sealed.MakeFile(other); err != nil {
		t.Fatal(err)
	}
	at := time.Now().UTC().Truncate(time.Microsecond)
	p := portal.Process{
		ID: "p", Origin: portal.API, CreatedAt: at,
		Participants: []portal.Participant{{Participant: process.Participant{ID: "first", Role: portal.Signer, Link: portal.Link{InvitedAt: at}}, Email: "first@example.is"}},
	}
	t.Run("first", func(t *testing.T) {
		s := startInProcess(t, in)
		err := s.db.InTx(t.Context(), func(ctx context.Context) error { return s.db.Processes().CreateProcess(ctx, p) })
		if err != nil {
			t.Fatal(err)
		}
	})
	output(t, failed, "process", "resend", p.ID, "--store", "bolt:"+in.Path, "--master-key-file", other)
	if said := output(t, done, "process", "resend", p.ID, "--store", "bolt:"+in.Path); said != "invitations made again: 1\n" {
		t.Error(said)
	}
	t.Run("again", func(t *testing.T) {
		s := startInProcess(t, in)
		if n, err := operator.NewClient(s.store.Socket()).ResendProcess(t.Context(), "", p.ID); n != 1 || err != nil {
			t.Errorf("%d were invited: %v", n, err)
		}
	})
}
