package notify

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/internal/mail"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/storage"
)

// The names of files, accounts and people may be hostile: they add no header, line or markup, replace no other words,
// and turn no text around.
func TestHostileNames(t *testing.T) {
	const hostile = "a\r\nBcc: victim@example.is\r\n\r\nSENDER <script>alert(1)</script> \"&\u202eUNTIL\u2066\x00\x1b[31m\u2028"
	const harmless = "a  Bcc: victim@example.is    SENDER <script>alert(1)</script> \"&UNTIL[31m"
	w := writer{
		process:     portal.Process{ID: "p", FileName: hostile, Participants: []portal.Participant{invited("first", portal.Signer)}},
		participant: portal.Participant{Participant: process.Participant{ID: "first", Decline: &portal.Decline{Reason: hostile}}, Name: hostile},
		sender:      hostile, baseURL: "https://sign.example",
	}
	w.participant.Link = w.process.Participants[0].Link
	refusal, err := w.refusal()
	if err != nil {
		t.Fatal(err)
	}
	w.participant.Decline, w.participant.Role = nil, portal.Signer
	invitation, err := w.invitation(w.participant.Link.InvitedAt, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	completion, err := w.completion(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]notice{"invitation": invitation, "completion": completion, "refusal": refusal} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			out, err := mail.Parse("dir:"+folder, mail.Options{Sender: mail.Sender{From: "Innsigli <sign@example.is>"}})
			if err != nil {
				t.Fatal(err)
			}
			m, err := n.message("i")
			m.To = []string{"to@example.is"}
			if err := errors.Join(err, out.Send(t.Context(), m)); err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(folder, "*.eml"))
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			r := testenv.ReadMail(t, files[0])
			if !strings.HasSuffix(r.Subject, ": "+harmless) || r.Get("Bcc") != "" || r.Get("To") != "<to@example.is>" {
				t.Errorf("the header: %v, subject %q", r.Header, r.Subject)
			}
			if strings.Count(r.Text, harmless) < 2 || strings.Contains(r.Text, "\nBcc") {
				t.Errorf("the text:\n%s", r.Text)
			}
			if strings.Contains(r.HTML, "<script") || strings.Count(r.HTML, "&lt;script&gt;alert(1)&lt;/script&gt;") < 3 {
				t.Errorf("the HTML:\n%s", r.HTML)
			}
			for _, forbidden := range "\u202e\u2066\x00\x1b\u2028" {
				if strings.ContainsRune(r.Subject+r.Text+r.HTML, forbidden) {
					t.Errorf("%U is left", forbidden)
				}
			}
		})
	}
}

// What a later version has enqueued, or no version has, is left for one that can read it.
func TestLettersThatCannotBeRead(t *testing.T) {
	postsOf(t, func(p *posts) {
		unknown, err := json.Marshal(processJob{Version: processVersion, Topic: "greeting", Process: p.process.ID, Participant: "first"})
		if err != nil {
			t.Fatal(err)
		}
		for _, payload := range []string{"", "{", "[]", `{"version":2}`, string(unknown)} {
			if then, err := p.Mailer.Send(t.Context(), storage.Job{Payload: []byte(payload)}); err == nil || then != nil {
				t.Errorf("%s: %v", payload, err)
			}
		}
		if len(p.sent) > 0 {
			t.Error(p.sent)
		}
	})
}
