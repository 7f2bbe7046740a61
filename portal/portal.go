// Package portal runs signing processes: several people sign one document, from the creation of the process to the last
// signature (spec 4.2 and 4.3).
//
// # A process
//
// A process is one PDF and a list of people, who sign it or only read it. Package [process] is its
// state machine: what may happen to it and what follows. [Service] applies the events in transactions
// and carries out the effects.
//
// # A signature
//
// One participant signs at a time and has the process' [Turn] for as long as the signing request lasts. The turn has a
// number that no other turn of the process has. A signature that a person gave is always added to the document: no other
// participant adds one meanwhile, and calls for an earlier turn change nothing. The participant names the revision of
// the document that they have read; when another signature was added since, that is [ErrChanged].
//
// Package signing makes the signature. [Service] calls it, and it calls [Owner] back in the transactions of its own
// changes:
//
//  1. [Service.Sign], or [Service.SignAs] in a sandbox, checks whether the participant may begin, and calls
//     signing.Service.Start with a signing.Order. The ID of the order has the number of the next turn.
//  2. The transaction that stores the signing request calls [Owner.Begun], which gives the turn to the participant.
//  3. Sign returns what the page has to show. The page looks at [Service.Progress]. SignAs waits for the end with
//     signing.Service.Drive.
//  4. A job of package signing asks the person's identity provider, and another one completes the signature.
//  5. The transaction that appends the signature to the document calls [Owner.Signed], which stores the signature in the
//     process with its event and its mail, and [Owner.Ended], which ends the turn. The ledger counts the signature
//     in the same transaction.
//  6. A request without a signature calls [Owner.Ended] alone: the participant may sign again.
//  7. [Service.Delete] calls signing.Service.Cancel in its transaction, which calls [Owner.Ended].
//
// So an Owner is made first, the signing service is given it, and [New] is given both.
//
// # A place
//
// The page of a participant shows their [ParticipantView]. A link leads to it, and after the first login it belongs to the person
// who logged in: the same person may come back by the link that was used up, or log in to the page. Only a login opens a
// link; looking at it changes nothing. The callers of [Service.Open], [Service.Sign] and [Service.Decline] check who is
// admitted.
//
// # Other packages
//
// [Events] delivers events, [Accounts] knows prices and quotas, and [Mail] sends messages. Each is an interface that
// the server connects.
package portal

import (
	"errors"
	"time"

	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/signing"
)

// Errors of package process that methods of [Service] return.
var (
	ErrNotFound    = process.ErrNotFound // also for a process of another account, and a link that has expired
	ErrViewer      = process.ErrViewer
	ErrAnswered    = process.ErrAnswered
	ErrOtherPerson = process.ErrOtherPerson
	ErrCannotSign  = process.ErrCannotSign
	ErrNotWaiting  = process.ErrNotWaiting
	ErrNotLoggedIn = process.ErrNotLoggedIn
	ErrTurn        = process.ErrTurn
	ErrChanged     = process.ErrChanged
)

var (
	// ErrPayment: the account has no payment method, and its free signatures do not cover the
	// signers.
	ErrPayment = errors.New("portal: payment method required")
	// ErrQuota: the account has no room left for the document.
	ErrQuota = errors.New("portal: storage quota exceeded")
	// ErrTooMany: the page has no room for so many stamps.
	ErrTooMany = errors.New("portal: too many participants for the page")
	// ErrNotDrawn: the page cannot be drawn, so that it is not known whether it has room for the stamps.
	ErrNotDrawn = errors.New("portal: page cannot be drawn to look for places for the stamps")
	// ErrKeyReused: the idempotency key came with another body.
	ErrKeyReused = errors.New("portal: idempotency key used with another request")
	// ErrKeyInUse: a process with that idempotency key is just being created.
	ErrKeyInUse = errors.New("portal: process with that idempotency key is being created")
)

// The types of events (spec 5.4).
const (
	SignedEvent    = "participant.signed"
	DeclinedEvent  = "participant.declined"
	CompletedEvent = "process.completed"
)

// EventTypes are those that can be subscribed to.
func EventTypes() []string { return []string{SignedEvent, DeclinedEvent, CompletedEvent} }

// The types of package process that are part of a [Process].
type (
	Role      = process.Role
	Status    = process.Status
	Link      = process.Link
	LinkState = process.LinkState
	Person    = process.Person
	Signature = process.Signature
	Decline   = process.Decline
	Turn      = process.Turn
)

const (
	Signer = process.Signer
	Viewer = process.Viewer

	Waiting   = process.Waiting
	Completed = process.Completed
	Declined  = process.Declined
	Expired   = process.Expired
	None      = process.None

	Unopened    = process.Unopened
	Opened      = process.Opened
	LinkExpired = process.LinkExpired

	InvitationTime = process.InvitationTime
)

// Origin is where a process was made (spec 4.5).
type Origin string

const (
	API Origin = "api"
	// Web processes are those of another product on the same store: invisible to the API, and
	// silent.
	Web Origin = "web"
)

// Process is a document that people sign. Times are whole microseconds in UTC.
type Process struct {
	ID           string // UUID
	Account      string
	Origin       Origin
	CreatedAt    time.Time
	FileName     string
	Document     string        // in storage.Documents
	Participants []Participant // in the order of the request
	Turn         *Turn         // who is signing; nil: nobody
	Turns        int64         // how many there were: the number of the last
	// EndedAt is when the process ended, as it was last noted: by each change, and soon after the process has expired.
	// It is zero for a process that waits, and for one that nothing was noted about.
	EndedAt time.Time
}

// Participant is a person who takes part in a process.
type Participant struct {
	process.Participant
	Name  string         `json:"name"`
	Email string         `json:"email"`
	Phone string         `json:"phone,omitempty"`
	Stamp *signing.Stamp `json:"stamp,omitempty"` // nil: a viewer's
}
