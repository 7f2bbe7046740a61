package notify

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/internal/mail"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// fates are what the evidence log has about the mail of the process.
func (p *posts) fates() (list []string) {
	p.Helper()
	entries, err := p.db.EvidenceLog().Entries(p.Context(), p.process.ID)
	if err != nil {
		p.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(string(e.Facts), "@") || e.Account != p.process.Account {
			p.Errorf("%+v", e)
		}
		var facts mailFacts
		if err := json.Unmarshal(e.Facts, &facts); err != nil || facts.Message == "" {
			p.Errorf("%s: %v", e.Facts, err)
		}
		facts.Message = ""
		text, err := json.Marshal(facts)
		if err != nil {
			p.Fatal(err)
		}
		list = append(list, e.Kind+" "+string(text))
	}
	slices.Sort(list)
	return list
}

// invite enqueues an invitation for the first participant.
func (p *posts) invite() {
	p.Helper()
	p.store(func(ctx context.Context) error { return p.Invite(ctx, p.process, p.process.Participants[0]) })
}

// What became of each letter is in the evidence log of the process, without an address.
func TestWhatBecameOfLetters(t *testing.T) {
	for name, test := range map[string]struct {
		fault error
		want  []string
	}{
		"taken": {nil, []string{
			`mail.sent {"topic":"invitation","participant":"first","message":"","attempts":1}`,
			`mail.sent {"topic":"invitation","participant":"second","message":"","attempts":1}`,
			`mail.sent {"topic":"invitation","participant":"viewer","message":"","attempts":1}`,
		}},
		"refused for good": {&mail.Failure{Step: mail.StepTo, Code: 550, Enhanced: "5.1.1", Permanent: true}, []string{
			`mail.refused {"topic":"invitation","participant":"first","message":"","attempts":1,"step":"RCPT TO","code":550,"enhanced":"5.1.1"}`,
			`mail.refused {"topic":"invitation","participant":"second","message":"","attempts":1,"step":"RCPT TO","code":550,"enhanced":"5.1.1"}`,
			`mail.refused {"topic":"invitation","participant":"viewer","message":"","attempts":1,"step":"RCPT TO","code":550,"enhanced":"5.1.1"}`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			postsOf(t, func(p *posts) {
				p.fault = test.fault
				p.inviteAll()
				p.work()
				if diff := cmp.Diff(test.want, p.fates()); diff != "" {
					t.Error(diff)
				}
				if due, err := p.db.Jobs().NextDue(t.Context(), ProcessKind); err != nil || len(due) > 0 {
					t.Errorf("a job is left: %v, %v", due, err)
				}
			})
		})
	}
}

// The names of admins are unknown; participants are addressed by their names.
func TestNamesOfRecipients(t *testing.T) {
	postsOf(t, func(p *posts) {
		p.change(func(of *portal.Process) { of.Participants[0].Name = "Þórður\r\nÆgisson" })
		p.invite()
		p.work()
		if want := []string{"Þórður  Ægisson"}; !slices.Equal(p.names, want) {
			t.Errorf("%q, want %q", p.names, want)
		}
	})
}

// A letter that is put off is recorded ever more seldom, sent when the server takes it, and given up after
// five days.
func TestDelayedLetters(t *testing.T) {
	postsOf(t, func(p *posts) {
		p.invite()
		job := storage.Job{ID: "i", Payload: []byte(p.payloads()[0])}
		p.fault = &mail.Failure{Step: mail.StepEnd, Reason: "the connection was cut", Unclear: true}
		for job.Attempt = 1; job.Attempt <= 9; job.Attempt++ {
			if then, err := p.Mailer.Send(t.Context(), job); err == nil || then != nil {
				t.Fatalf("attempt %d: %v", job.Attempt, err)
			}
		}
		const why = `,"step":"the end of the message","says":"the connection was cut","maybeSent":true}`
		want := []string{
			`mail.delayed {"topic":"invitation","participant":"first","message":"","attempts":1` + why,
			`mail.delayed {"topic":"invitation","participant":"first","message":"","attempts":2` + why,
			`mail.delayed {"topic":"invitation","participant":"first","message":"","attempts":4` + why,
			`mail.delayed {"topic":"invitation","participant":"first","message":"","attempts":8` + why,
		}
		if diff := cmp.Diff(want, p.fates()); diff != "" {
			t.Error(diff)
		}
		time.Sleep(giveUpAfter + time.Second)
		job.Attempt = 1500
		then, err := p.Mailer.Send(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		p.store(then)
		want = append(want, `mail.gaveup {"topic":"invitation","participant":"first","message":"","attempts":1500`+why)
		if diff := cmp.Diff(want, p.fates()); diff != "" {
			t.Error(diff)
		}
	})
}
