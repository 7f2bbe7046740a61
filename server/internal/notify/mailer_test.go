package notify

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/internal/mail"
	"github.com/innsigli/innsigli/portal"
)

// Everybody gets the link of his own, in words for what he is to do with it. It is nowhere in the
// job that sends it.
func TestInvitations(t *testing.T) {
	postsOf(t, func(p *posts) {
		p.inviteAll()
		if payloads := p.payloads(); len(payloads) != 3 || strings.Contains(strings.Join(payloads, ""), "token-of-") {
			t.Errorf("the jobs: %q", payloads)
		}
		if diff := cmp.Diff([]string{"first@example.is", "second@example.is", "viewer@example.is"}, p.work()); diff != "" {
			t.Error(diff)
		}
		for _, m := range p.sent {
			words, not, subject := []string{"til undirritunar", "to sign"}, "to read", "Skjal til undirritunar / A document to sign: Leigusamningur.pdf"
			who, _, _ := strings.Cut(m.To[0], "@")
			if who == "viewer" {
				words, not, subject = []string{"til lestrar", "to read"}, "to sign", "Skjal til lestrar / A document to read: Leigusamningur.pdf"
			}
			link := "https://sign.example/sign/token-of-" + who
			checkLetter(t, m, subject, append(words, link, "hefur sent þér", "Opnaðu tengilinn", "PIN-númerið er aðeins slegið inn í símanum", "Your PIN is entered on the phone", "Íslenskt fyrirtæki ehf.", "„Leigusamningur.pdf“", "“Leigusamningur.pdf”"), not)
			if !strings.Contains(m.HTML, `href="`+link+`"`) || !strings.Contains(m.HTML, ">Opna skjalið</a>") || strings.Count(m.Text, "token-of-") != 2 {
				t.Errorf("links in\n%s\n%s", m.Text, m.HTML)
			}
			for _, want := range []string{"Tengillinn gildir til 8. janúar 2000 kl. 00:00", "valid until 8 January 2000"} {
				if !strings.Contains(m.Text, want) {
					t.Errorf("no %s in\n%s", want, m.Text)
				}
			}
		}
	})
}

// checkLetter wants words in the text and in the HTML, and another in neither.
func checkLetter(t *testing.T, m mail.Message, subject string, words []string, not string) {
	t.Helper()
	if m.Subject != subject {
		t.Errorf("subject %q, want %q", m.Subject, subject)
	}
	for _, text := range []string{m.Text, m.HTML} {
		for _, word := range words {
			if !strings.Contains(text, word) {
				t.Errorf("no %q in\n%s", word, text)
			}
		}
		for _, word := range []string{not, "SENDER", "FILE", "UNTIL", "NAME", "INVITED"} {
			if strings.Contains(text, word) {
				t.Errorf("%q in\n%s", word, text)
			}
		}
	}
}

// A letter is written when it is sent: what it would tell may not be so any more.
func TestOutdatedLetters(t *testing.T) {
	for name, test := range map[string]struct {
		meanwhile func(p *posts)
		want      []string
	}{
		"nothing": {func(*posts) {}, []string{"first@example.is", "second@example.is", "viewer@example.is"}},
		"signed": {func(p *posts) {
			p.change(func(of *portal.Process) { of.Participants[0].Signature = &portal.Signature{At: now()} })
		}, []string{"second@example.is", "viewer@example.is"}},
		"declined": {func(p *posts) {
			p.change(func(of *portal.Process) { of.Participants[0].Decline = &portal.Decline{At: now()} })
		}, []string{"viewer@example.is"}},
		"opened with the link from the API": {func(p *posts) {
			p.change(func(of *portal.Process) {
				one := &of.Participants[0]
				one.Person, one.Link.Hash, one.Link.Token = &portal.Person{Kennitala: "0101302989", At: now()}, nil, nil
			})
		}, []string{"first@example.is", "second@example.is", "viewer@example.is"}},
		"invited again": {func(p *posts) {
			p.change(func(of *portal.Process) {
				of.Participants[0].Link = portal.Link{InvitedAt: now().Add(time.Second), Hash: []byte("h"), Token: []byte("t")}
			})
		}, []string{"second@example.is", "viewer@example.is"}},
		"expired": {func(*posts) { time.Sleep(portal.InvitationTime + time.Second) }, nil}, // time: in the bubble of postsOf
		"deleted": {func(p *posts) {
			p.store(func(ctx context.Context) error { return p.Processes.DeleteProcess(ctx, p.process.ID) })
		}, nil},
		"withdrawn": {func(p *posts) {
			p.store(func(ctx context.Context) error { return p.Withdraw(ctx, p.process.ID) })
		}, nil},
		"another one withdrawn": {func(p *posts) {
			p.store(func(ctx context.Context) error { return p.Withdraw(ctx, "another") })
		}, []string{"first@example.is", "second@example.is", "viewer@example.is"}},
	} {
		t.Run(name, func(t *testing.T) {
			postsOf(t, func(p *posts) {
				p.inviteAll()
				test.meanwhile(p)
				if diff := cmp.Diff(test.want, p.work()); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// Who has logged in is led to a page that needs a login, and does not expire.
func TestInvitationOfWhoHasLoggedIn(t *testing.T) {
	postsOf(t, func(p *posts) {
		p.change(func(of *portal.Process) {
			one := &of.Participants[0]
			one.Person, one.Link.Hash, one.Link.Token = &portal.Person{Kennitala: "0101302989", At: now()}, nil, nil
		})
		p.store(func(ctx context.Context) error { return p.Invite(ctx, p.process, p.process.Participants[0]) })
		if diff := cmp.Diff([]string{"first@example.is"}, p.work()); diff != "" {
			t.Fatal(diff)
		}
		for _, not := range []string{"gildir", "valid until", "persónulegur", "janúar 2000", "January 2000"} {
			checkLetter(t, p.sent[0], "Skjal til undirritunar / A document to sign: Leigusamningur.pdf", []string{"https://sign.example/sign/" + p.process.ID + "/first"}, not)
		}
	})
}

// The admins are told who has declined, and why.
func TestRefusals(t *testing.T) {
	for reason, told := range map[string]bool{"Rangt verð.\nReynið aftur.": true, " \n": false} {
		postsOf(t, func(p *posts) {
			p.change(func(of *portal.Process) { of.Participants[1].Decline = &portal.Decline{Reason: reason, At: now()} })
			p.store(func(ctx context.Context) error { return p.Declined(ctx, p.process, p.process.Participants[1]) })
			if diff := cmp.Diff([]string{"one@example.is", "two@example.is"}, p.work()); diff != "" {
				t.Error(diff)
			}
			for _, m := range p.sent {
				checkLetter(t, m, "Undirritun var hafnað / Signing was declined: Leigusamningur.pdf",
					[]string{"Name of second hafnaði", "Name of second has declined", p.process.ID}, "sign.example")
				if strings.Contains(m.Text, "Skýring: Rangt verð. Reynið aftur.\n") != told || strings.Contains(m.HTML, "Reason") != told {
					t.Errorf("the reason in\n%s", m.Text)
				}
			}
		})
	}
}

// They are told the name of the electronic ID, if that is another than was invited: the place may have
// been taken by whom it was not meant for.
func TestRefusalOfAnotherRecipient(t *testing.T) {
	for name, words := range map[string][]string{
		"Jón Einarsson":  {"Jón Einarsson, sem var boðið undir nafninu „Name of second“, hafnaði", "Jón Einarsson, invited as “Name of second”, has declined"},
		"Name of second": {"Name of second hafnaði", "Name of second has declined"},
		"":               {"Name of second hafnaði", "Name of second has declined"},
	} {
		postsOf(t, func(p *posts) {
			p.change(func(of *portal.Process) {
				one := &of.Participants[1]
				one.Person, one.Decline = &portal.Person{Name: name, Kennitala: "0202302129", At: now()}, &portal.Decline{At: now()}
			})
			p.store(func(ctx context.Context) error { return p.Declined(ctx, p.process, p.process.Participants[1]) })
			p.work()
			for _, m := range p.sent {
				checkLetter(t, m, "Undirritun var hafnað / Signing was declined: Leigusamningur.pdf", words, "0202302129")
			}
			if len(p.sent) != 2 {
				t.Errorf("%d letters", len(p.sent))
			}
		})
	}
}
