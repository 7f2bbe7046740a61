package main

import (
	"crypto/sha256"
	"time"

	"github.com/google/uuid"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
)

// What all processes of an archive are made from.
const (
	contractName = "contract.pdf"
	contractMax  = 1 << 20
	fingerprint  = "that of the body"
)

var contractFile = pdftest.Build(pdftest.Options{})

var invitees = []portal.Invitee{
	{Name: "Anna Jónsdóttir", Email: "anna@example.is", Role: portal.Signer, Kennitala: "0101302989"},
	{Name: "Jón Önnuson", Email: "jon@example.is", Role: portal.Signer, Phone: "5550101"},
	{Name: "Vala Viðarsdóttir", Email: "vala@example.is", Role: portal.Viewer},
}

// sample is a process of an archive as it is now: of ten, six are completed, one is declined, and
// three wait, or have expired.
type sample struct {
	number int
	at     time.Time // of its creation, in whole microseconds
}

func (s sample) process() portal.Process {
	p := portal.Process{ID: uuid.NewString(), Origin: portal.API, CreatedAt: s.at, FileName: contractName, Turns: 2}
	for n, in := range invitees {
		one := portal.Participant{Name: in.Name, Email: in.Email, Phone: in.Phone}
		one.ID, one.Role, one.Kennitala, one.Link = uuid.NewString(), in.Role, in.Kennitala, portal.Link{InvitedAt: s.at}
		if in.Role == portal.Signer {
			left := 8 + 119*float64(n)
			one.Stamp = &signing.Stamp{Page: 1, Rect: [4]float64{left, 8, left + 117, 63}}
		}
		s.answer(&one)
		p.Participants = append(p.Participants, one)
	}
	return p
}

// answer has a participant do what was to be done.
func (s sample) answer(one *portal.Participant) {
	signs, answered := one.Role == portal.Signer, s.at.Add(time.Hour)
	switch sort := s.number % 10; {
	case signs && sort < 6:
		one.Signature = &portal.Signature{Name: one.Name, Kennitala: "0101302989", Value: make([]byte, 64), At: answered}
	case signs && sort == 6:
		one.Decline = &portal.Decline{Reason: "The rent is too high.", At: answered}
	case time.Since(s.at) < portal.InvitationTime: // else the link is erased
		hash := sha256.Sum256([]byte(one.ID))
		one.Link.Hash, one.Link.Token = hash[:], []byte(one.ID)
	}
}
