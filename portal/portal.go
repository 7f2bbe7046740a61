// Package portal runs signing processes: several people sign one document, from the creation of the process to the last
// signature (spec 4.2 and 4.3).
//
// # Processes
//
// A process is one PDF and a list of participants, who sign it or only read it. Package [process] is its state machine:
// the events, their conditions and their effects. [Service] applies the events in transactions and carries out the
// effects.
//
// # Signatures
//
// One participant signs at a time and has the process' [Turn] for as long as the signing request lasts. The number of a
// turn is unique in its process. A signature that a person gave is always added to the document: no other participant
// adds one meanwhile, and calls for an earlier turn change nothing. The participant names the revision of the document
// that they have read. If another signature was added since, the error is [ErrChanged].
//
// Package signing makes the signature. [Service] calls it, and it calls back in the transactions of its own changes:
//
//  1. [Service.Sign], or [Service.SignAs] in a sandbox, checks whether the participant may begin, and calls
//     signing.Service.Start with a signing.Order. The ID of the order has the number of the next turn.
//  2. The transaction that stores the signing request calls the order's Begin, which checks again and gives the turn to
//     the participant. If another turn came first, the transaction is rolled back, and Sign starts anew.
//  3. Start asks the identity provider. Sign returns what the page has to show, and the page polls [Service.Progress].
//     SignAs waits for the end with signing.Service.Drive.
//  4. A job of package signing asks the person's identity provider, and another one completes the signature.
//  5. The transaction that appends the signature to the document calls [Owner.Signed], which stores the signature in the
//     process with its event and its mail, and [Owner.Ended], which ends the turn. The ledger counts the signature
//     in the same transaction.
//  6. If a request ends without a signature, only [Owner.Ended] is called. The participant may sign again.
//  7. [Service.Delete] calls signing.Service.Cancel in its transaction, which calls [Owner.Ended].
//
// Therefore the caller makes the Owner first, the signing service with it, and then the Service with [New].
//
// # Links and pages
//
// An invitation has a link. The first person who logs in with the link becomes the participant, which uses up the link.
// From then on that person reaches the page of the participant with the same link, or by logging in to the page. The page
// shows the [ParticipantView]. Reading a view changes nothing, also when a mail program opens the link.
// [Service.Open], [Service.Sign] and [Service.Decline] do not check who calls them: their callers check that the person
// has logged in.
//
// # Other packages
//
// [Events] delivers events to subscribers, [Accounts] knows quotas and payment methods, and [Mail] sends messages. The
// server implements these interfaces.
package portal

import (
	"errors"
	"time"

	"github.com/innsigli/innsigli/pades/inspect"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/signing"
)

// Errors of package process that methods of [Service] return.
var (
	ErrNotFound    = process.ErrNotFound // also for a process of another account
	ErrViewer      = process.ErrViewer
	ErrAnswered    = process.ErrAnswered
	ErrOtherPerson = process.ErrOtherPerson
	ErrCannotSign  = process.ErrCannotSign
	ErrNotWaiting  = process.ErrNotWaiting
	ErrNotLoggedIn = process.ErrNotLoggedIn
	ErrTurn        = process.ErrTurn
	ErrChanged     = process.ErrChanged
)

// Errors of [Service.Create].
var (
	// ErrPayment: the account has no payment method, and too few free signatures for the signers.
	ErrPayment = errors.New("portal: payment method required")
	// ErrQuota: the document exceeds the account's storage quota.
	ErrQuota = errors.New("portal: storage quota exceeded")
	// ErrTooMany: the stamps of the signers do not fit on the page.
	ErrTooMany = errors.New("portal: too many participants for the page")
	// ErrNotDrawn: the page cannot be rendered, so free space for the stamps cannot be found.
	ErrNotDrawn = errors.New("portal: page cannot be drawn to find places for the stamps")
	// ErrKeyReused: the idempotency key was used with another body.
	ErrKeyReused = errors.New("portal: idempotency key used with another request")
	// ErrKeyInUse: another call is creating a process with the idempotency key.
	ErrKeyInUse = errors.New("portal: process with that idempotency key is being created")
)

// The types of events (spec 5.4).
const (
	SignedEvent    = "participant.signed"
	DeclinedEvent  = "participant.declined"
	CompletedEvent = "process.completed"
)

// EventTypes returns the types of events that an account can subscribe to.
func EventTypes() []string { return []string{SignedEvent, DeclinedEvent, CompletedEvent} }

// The types of package process that are part of a [Process].
type (
	Role   = process.Role
	Status = process.Status
	Link   = process.Link
	Person = process.Person
	// Authentication is how a person logged in.
	Authentication = process.Authentication
	Signature      = process.Signature
	Decline        = process.Decline
	Turn           = process.Turn
)

// Constants of package process.
const (
	Signer = process.Signer
	Viewer = process.Viewer

	Waiting   = process.Waiting
	Completed = process.Completed
	Declined  = process.Declined
	Expired   = process.Expired

	Unopened    = process.Unopened
	Opened      = process.Opened
	LinkExpired = process.LinkExpired

	InvitationTime = process.InvitationTime
)

// Origin is the product that created a process (spec 4.5).
type Origin string

const (
	API Origin = "api"
	// Web is another product on the same store. The API does not show its processes, and they have no events.
	Web Origin = "web"
)

// Process is a document that people sign. Times are whole microseconds in UTC.
type Process struct {
	ID           string // UUID
	Account      string
	Origin       Origin
	CreatedAt    time.Time
	FileName     string
	Document     string        // ID in storage.Documents
	Participants []Participant // in the order of the request
	Turn         *Turn         // of the participant who is signing; nil: no signature is being made
	Turns        int64         // how many turns there were: the number of the last one
	// EndedAt is when the process ended. Each change stores it, and [Service.Sweep] stores it soon after the process has
	// expired. It is zero if the process was waiting when it was stored, and in processes of servers that did not
	// store it yet.
	EndedAt time.Time
	// Warnings are those about the document as it was uploaded (spec 3.12). It is nil if there were none, and in processes of
	// servers that did not look for any.
	Warnings []inspect.Warning
}

// Participant is a person who signs or reads the document of a process.
type Participant struct {
	process.Participant
	Name  string         `json:"name"`
	Email string         `json:"email"`
	Phone string         `json:"phone,omitempty"`
	Stamp *signing.Stamp `json:"stamp,omitempty"` // nil if the participant is a viewer
}
