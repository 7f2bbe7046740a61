package portal

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/innsigli/innsigli/storage"
)

// The kinds of entries in the evidence log about a process, whose ID is their subject, and their facts
// (spec 7.3). Each is recorded in the transaction of what it tells of. What is asked of whom and
// signed is in the entries about the request that signature.begun names.
const (
	createdEntry   = "process.created"
	invitedEntry   = "process.invited"      // again
	loggedInEntry  = "participant.loggedin" // with an electronic ID, each time
	begunEntry     = "signature.begun"
	signedEntry    = "participant.signed"
	declinedEntry  = "participant.declined"
	completedEntry = "process.completed" // no facts
	deletedEntry   = "process.deleted"   // no facts
)

// createdFacts are what was sent to whom.
type createdFacts struct {
	Client       string         `json:"client,omitempty"` // ID of the API client
	Origin       Origin         `json:"origin"`
	Document     string         `json:"document"` // its name
	Size         int64          `json:"size"`     // bytes, as it was uploaded
	Participants []invitedFacts `json:"participants"`
}

// invitedFacts are who was invited.
type invitedFacts struct {
	Participant string `json:"participant"` // ID
	Role        Role   `json:"role"`
	Name        string `json:"name"`
	Email       string `json:"email"`
	Kennitala   string `json:"kennitala,omitempty"` // whose place it is
}

// againFacts are who was invited again.
type againFacts struct {
	Participants []string `json:"participants"` // IDs
}

// personFacts are who came as a participant, as the electronic ID says.
type personFacts struct {
	Participant string `json:"participant"` // ID
	Name        string `json:"name"`
	Kennitala   string `json:"kennitala"`
	Request     string `json:"request,omitempty"` // that the signature comes from
}

// begunFacts are who was asked to sign.
type begunFacts struct {
	Participant string `json:"participant"` // ID
	Request     string `json:"request"`     // of package signing
}

// declinedFacts are who did not want to sign.
type declinedFacts struct {
	Participant string `json:"participant"`         // ID
	Kennitala   string `json:"kennitala,omitempty"` // of the person who has logged in, else whose place it was
	Reason      string `json:"reason"`
}

// record adds an entry about the process.
func (s records) record(ctx context.Context, p *Process, kind string, facts any) error {
	encoded, err := json.Marshal(facts)
	if err != nil {
		return fmt.Errorf("portal: encoding evidence: %w", err)
	}
	err = s.log.Record(ctx, storage.Entry{Subject: p.ID, Account: p.Account, Kind: kind, At: s.now(ctx), Facts: encoded})
	if err != nil {
		return fmt.Errorf("portal: recording evidence: %w", err)
	}
	return nil
}

func (s records) recordCreated(ctx context.Context, p *Process, client string, size int64) error {
	facts := createdFacts{Client: client, Origin: p.Origin, Document: p.FileName, Size: size}
	for _, one := range p.Participants {
		facts.Participants = append(facts.Participants, invitedFacts{one.ID, one.Role, one.Name, one.Email, one.Kennitala})
	}
	return s.record(ctx, p, createdEntry, facts)
}

func (s records) recordLogin(ctx context.Context, p *Process, participant string, who Person) error {
	return s.record(ctx, p, loggedInEntry, personFacts{Participant: participant, Name: who.Name, Kennitala: who.Kennitala})
}
