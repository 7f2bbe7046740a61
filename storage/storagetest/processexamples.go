package storagetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/signing"
)

// exampleProcess has something in every field, in one participant or another. The first two have links
// that are used up, one of which nobody knows, and the last two have links that were not opened.
func exampleProcess(name string) portal.Process {
	person := &portal.Person{Name: "Þór Önundarson", Kennitala: "0101302989", At: after(1)}
	return portal.Process{
		ID: id(name), Account: id("a"), Origin: portal.Web, CreatedAt: base, FileName: "Samningur “漢字” <1>.pdf", Document: id("document"),
		Participants: []portal.Participant{
			{
				Participant: process.Participant{
					ID: id(name + " 1"), Role: portal.Signer, Kennitala: "0101302989",
					Link: usedUp(name+" 1", 0), Person: person,
					Signature: &portal.Signature{Name: "ÞÓR ÖNUNDARSON", Kennitala: "0101302989", Value: []byte{0, 1, 255}, At: after(2)},
				},
				Name: "Þór \u2028<b>\x00&\\\"", Email: "þór@example.is", Phone: "5550101", Stamp: &signing.Stamp{Page: 3, Rect: [4]float64{36.5, 0.1, 153.5, 1.0 / 3}},
			},
			{
				Participant: process.Participant{
					ID: id(name + " 2"), Role: portal.Signer,
					Link: portal.Link{InvitedAt: after(3)}, Person: person,
					Decline: &portal.Decline{Reason: "„Nei“\n", Kennitala: "0101302989", At: after(4)},
				},
				Name: "Anna",
			},
			{Participant: process.Participant{ID: id(name + " 3"), Role: portal.Signer, Link: invitation(name+" 3", 5)}, Name: "Jón"},
			{Participant: process.Participant{ID: id(name + " 4"), Role: portal.Viewer, Link: invitation(name+" 4", 6)}, Name: "Páll"},
		},
		Turn: &portal.Turn{Number: 1 << 40, Participant: id(name + " 3"), Request: id("request"), Since: after(7)}, Turns: 1 << 40,
	}
}

// invitation is a link that was not opened, sent so many seconds after base.
func invitation(name string, seconds int) portal.Link {
	token := []byte("token of " + name)
	hash := sha256.Sum256(token)
	return portal.Link{InvitedAt: after(seconds), Hash: hash[:], Token: token}
}

// usedUp is a link that was opened.
func usedUp(name string, seconds int) portal.Link {
	link := invitation(name, seconds)
	return portal.Link{InvitedAt: link.InvitedAt, Was: link.Hash}
}

// invited is a process of an account with one signer, who was invited so many seconds after base.
func invited(name, account string, seconds int) portal.Process {
	return portal.Process{
		ID: id(name), Account: id(account), Origin: portal.API, CreatedAt: after(seconds), FileName: name + ".pdf", Document: id("document"),
		Participants: []portal.Participant{{
			Participant: process.Participant{
				ID: id(name + " 1"), Role: portal.Signer,
				Link: invitation(name, seconds),
			},
			Name: "Jón",
		}},
	}
}

// crowd is a process of so many who have signed, each with a signature of 1 KiB, but for the last one.
func crowd(name string, size int) portal.Process {
	p := exampleProcess(name)
	p.Participants, p.Turn = nil, nil
	for i := range size {
		one := exampleProcess(fmt.Sprint(name, i)).Participants[0]
		one.Signature.Value = bytes.Repeat([]byte{byte(i), 0, 255, 'a'}, 256)
		if i == size-1 {
			one.Signature, one.Person, one.Link = nil, nil, invitation(name, i)
		}
		p.Participants = append(p.Participants, one)
	}
	return p
}

func addProcesses(t *testing.T, b Backend, list ...portal.Process) {
	t.Helper()
	for _, p := range list {
		do(t, b, func(ctx context.Context) error { return b.Processes.CreateProcess(ctx, p) })
	}
}

func updateProcess(t *testing.T, b Backend, p portal.Process) {
	t.Helper()
	do(t, b, func(ctx context.Context) error { return b.Processes.UpdateProcess(ctx, p) })
}

// isProcess fails the test unless a process is stored as it is wanted.
func isProcess(t *testing.T, b Backend, want portal.Process) {
	t.Helper()
	got, err := b.Processes.Process(t.Context(), want.ID)
	found(t, got, err, want)
}
