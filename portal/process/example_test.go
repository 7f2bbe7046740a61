package process_test

import (
	"fmt"
	"time"

	"github.com/innsigli/innsigli/portal/process"
)

// A program drives a process with one signer, from the invitation to the signature.
func Example() {
	now := time.Date(2026, time.November, 2, 12, 0, 0, 0, time.UTC)
	person := process.Person{Name: "Name in the electronic ID", Kennitala: "0101302989"}
	p := process.Process{Participants: []process.Participant{
		{ID: "1", Role: process.Signer, Link: process.Link{InvitedAt: now, Hash: []byte("hash of the link's token")}},
	}}
	for _, e := range []process.Event{
		process.DeclineSigning{Participant: "1"}, // refused: the person has not logged in
		process.LogIn{Link: []byte("hash of the link's token"), Person: person},
		process.BeginSigning{Participant: "1", Revision: p.Revision()},
		process.AddSignature{Turn: 1, Signature: process.Signature{Name: person.Name, Kennitala: person.Kennitala, At: now}},
		process.EndTurn{Turn: 1},
	} {
		effects, err := p.Apply(e, now)
		fmt.Printf("%T: %v %v\n", e, p.Status(now), err)
		for _, effect := range effects {
			fmt.Println("effect:", effect.Kind)
		}
	}
	// Output:
	// process.DeclineSigning: Waiting process: no person has logged in as the participant
	// process.LogIn: Waiting <nil>
	// effect: RecordLogin
	// process.BeginSigning: Waiting <nil>
	// effect: RecordStart
	// process.AddSignature: Completed <nil>
	// effect: ReportSigned
	// effect: ReportCompleted
	// process.EndTurn: Completed <nil>
}
