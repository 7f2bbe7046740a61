// Package portal has several people sign one document: signing processes with their
// participants, from creation to the last signature (spec 4.2 and 4.3).
//
// # A process
//
// A process is one PDF and a list of people, who sign it or only read it. Its status is computed
// from its signers and the time, and is not stored: [Process.Status]. Declined always wins, and is
// final; an invitation that is older than seven days makes what is unfinished Expired. What may happen
// to a process is a method of it that checks and changes the record alone, knows no store and takes the
// time: rules.go, with its test, is the whole state machine.
//
// # A signature
//
// One participant signs at a time. Who begins takes the process' [Turn], which lasts as long as the
// signing request does and has a number that no other turn of the process has, so that a signature
// once given always lands: nobody else appends to the document meanwhile, and what comes of an
// earlier turn changes nothing. Who begins names the revision of the document that they have read; when
// another signature has landed since, that is [ErrChanged]. The signature, its event, its mail, its line
// in the ledger and the end of the turn are one transaction.
//
// # A place
//
// What a page tells a participant is their [Place], which the link leads to and which is theirs from the
// first login on: the same person may come back by the link that was used up, or log in to the page.
// Nothing but a login opens a link; looking at it changes nothing. Who is admitted to a place is for
// whoever calls [Service.Open], [Service.Sign] and [Service.Decline] to see to.
//
// # Who does what
//
// How a signature is made is package signing's concern, of which [Service] is the Owner. What an
// event goes to, what a signature costs and what a mail looks like are the concerns of whoever meets
// [Events], [Accounts] and [Mail].
package portal

import (
	"errors"
	"time"

	"github.com/innsigli/innsigli/signing"
)

var (
	// ErrNotFound: the account has no such process, or the process no such participant; or the
	// link has expired, another has taken its place, or it never was one.
	ErrNotFound = errors.New("portal: not found")
	// ErrViewer: the participant reads, and signs nothing.
	ErrViewer = errors.New("portal: participant is a viewer")
	// ErrAnswered: the participant has signed or declined already.
	ErrAnswered = errors.New("portal: participant has already answered")
	// ErrOtherPerson: the participant's place is that of a person with another kennitala.
	ErrOtherPerson = errors.New("portal: kennitala does not match")
	// ErrCannotSign: the test person does not answer at once, or does not sign.
	ErrCannotSign = errors.New("portal: test person cannot sign now")
	// ErrNotWaiting: the process is completed, declined or expired.
	ErrNotWaiting = errors.New("portal: process is not waiting")
	// ErrNotLoggedIn: nobody has logged in as the participant.
	ErrNotLoggedIn = errors.New("portal: nobody has logged in as the participant")
	// ErrTurn: a signature of the process is under way.
	ErrTurn = errors.New("portal: a signature is under way")
	// ErrChanged: the document is not any more what the person has read: somebody else has signed it.
	ErrChanged = errors.New("portal: the document has changed")
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

// InvitationTime is how long an invitation is valid: its link while it is unopened, and its process
// while it is unfinished (spec 4.2).
const InvitationTime = 7 * 24 * time.Hour

// Role is what a participant is invited to do.
type Role string

const (
	Signer Role = "Signer"
	Viewer Role = "Viewer"
)

// Status is that of a process or of a participant.
type Status string

const (
	Waiting   Status = "Waiting"
	Completed Status = "Completed"
	Declined  Status = "Declined"
	Expired   Status = "Expired" // of processes alone
	None      Status = "None"    // of viewers alone
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
}

// Participant is a person who takes part in a process.
type Participant struct {
	ID        string         `json:"id"` // UUID
	Name      string         `json:"name"`
	Email     string         `json:"email"`
	Role      Role           `json:"role"`
	Kennitala string         `json:"kennitala,omitempty"` // whose place it is; empty: that of who logs in first
	Phone     string         `json:"phone,omitempty"`
	Stamp     *signing.Stamp `json:"stamp,omitempty"` // nil: a viewer's
	Link      Link           `json:"link"`
	Person    *Person        `json:"person,omitempty"`    // who has logged in
	Signature *Signature     `json:"signature,omitempty"` // nil: has not signed
	Decline   *Decline       `json:"decline,omitempty"`   // nil: has not declined
}

// Link is the invitation of a participant.
type Link struct {
	InvitedAt time.Time `json:"invitedAt"`
	Hash      []byte    `json:"hash,omitempty"`  // SHA-256 of the token; nil: the link is used up
	Was       []byte    `json:"was,omitempty"`   // the Hash that it had, when it is used up
	Token     []byte    `json:"token,omitempty"` // a credential; nil with Hash, or when it cannot be shown
}

// Person is somebody whom an electronic ID has identified.
type Person struct {
	Name      string    `json:"name"`
	Kennitala string    `json:"kennitala"`
	At        time.Time `json:"at"` // of the first login
}

// Signature is that of a participant, with what the electronic ID says of the person.
type Signature struct {
	Name      string    `json:"name"`
	Kennitala string    `json:"kennitala"`
	Value     []byte    `json:"value"`
	At        time.Time `json:"at"` // when it was given
}

// Decline is a participant's refusal to sign.
type Decline struct {
	Reason    string    `json:"reason"` // may be empty
	Kennitala string    `json:"kennitala,omitempty"`
	At        time.Time `json:"at"`
}

// Turn is a participant's while their signing request lasts.
type Turn struct {
	Number      int64     `json:"number"` // from 1, of this process; the fencing number
	Participant string    `json:"participant"`
	Request     string    `json:"request"` // of package signing
	Since       time.Time `json:"since"`
}
