package notify

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/portal"
)

// All are told of the end, signers with the page that they log in to.
func TestCompletions(t *testing.T) {
	postsOf(t, func(p *posts) {
		p.change(func(of *portal.Process) {
			for i := range of.Participants[:2] {
				one := &of.Participants[i]
				one.Signature, one.Person = &portal.Signature{At: now()}, &portal.Person{Kennitala: "0101302989", At: now()}
				one.Link.Hash, one.Link.Token = nil, nil
			}
		})
		p.store(func(ctx context.Context) error { return p.Completed(ctx, p.process) })
		if diff := cmp.Diff([]string{"first@example.is", "second@example.is", "viewer@example.is"}, p.work()); diff != "" {
			t.Error(diff)
		}
		for _, m := range p.sent {
			who, _, _ := strings.Cut(m.To[0], "@")
			link := "https://sign.example/sign/" + p.process.ID + "/" + who
			if who == "viewer" { // who has not logged in yet
				link = "https://sign.example/sign/token-of-viewer"
			}
			checkLetter(t, m, "Undirritun er lokið / All signers have signed: Leigusamningur.pdf", []string{link, "Allir hafa undirritað", "All signers have signed the document", "Íslenskt fyrirtæki ehf."}, "0001")
		}
	})
}

// Whose link has expired unopened is told of the end without it, and where to get another. So is whose
// link was swept.
func TestCompletionsWithoutALink(t *testing.T) {
	for _, swept := range []bool{false, true} {
		postsOf(t, func(p *posts) {
			p.change(func(of *portal.Process) {
				for i := range of.Participants[:2] {
					of.Participants[i].Signature = &portal.Signature{At: now()}
					of.Participants[i].Person = &portal.Person{Kennitala: "0101302989", At: now()}
				}
				if viewer := &of.Participants[2]; swept {
					viewer.Link.Hash, viewer.Link.Token = nil, nil
				}
			})
			time.Sleep(portal.InvitationTime + time.Second)
			p.store(func(ctx context.Context) error { return p.Completed(ctx, p.process) })
			if to := p.work(); len(to) != 3 {
				t.Error(to)
			}
			for _, m := range p.sent {
				words, not := []string{"sækja undirritaða skjalið", "To download the signed document", "https://sign.example/sign/" + p.process.ID + "/"}, "gildir ekki lengur"
				if m.To[0] == "viewer@example.is" {
					words, not = []string{"Íslenskt fyrirtæki ehf. getur látið þig fá skjalið", "Íslenskt fyrirtæki ehf. can give you the document"}, "sign.example"
				}
				checkLetter(t, m, "Undirritun er lokið / All signers have signed: Leigusamningur.pdf", words, not)
			}
		})
	}
}

// A letter waits for a server that has the key of its link.
func TestLinksThatDoNotOpen(t *testing.T) {
	w := writer{process: portal.Process{ID: "p", Participants: []portal.Participant{invited("first", portal.Signer)}}, baseURL: "https://sign.example"}
	w.participant = w.process.Participants[0]
	w.participant.Link.Token = nil
	made := w.participant.Link.InvitedAt
	for after, want := range map[time.Duration]error{0: errSealed, portal.InvitationTime: errSealed, portal.InvitationTime + 1: errOutdated} {
		if _, err := w.invitation(made, made.Add(after)); !errors.Is(err, want) {
			t.Errorf("an invitation after %v: %v, want %v", after, err, want)
		}
	}
	if _, err := w.completion(made); !errors.Is(err, errSealed) {
		t.Errorf("a completion: %v", err)
	}
	if n, err := w.completion(made.Add(portal.InvitationTime + 1)); err != nil || n.Languages[0].Link != "" {
		t.Errorf("a completion: %+v, %v", n, err)
	}
}
