package portal

import (
	"strings"

	"github.com/innsigli/innsigli/stamp"
)

// Draft is what a process is created from (spec 4.1).
type Draft struct {
	Account      string
	Client       string // ID of the API client that calls, for the evidence log; empty for [Web]
	Origin       Origin // empty: [API]
	FileName     string
	Document     string // uploaded with signing.Service.Upload, not yet kept; the service's from now on
	Page         int    // of the stamps; the first is 1
	Corner       stamp.Corner
	Participants []Invitee
	Key          *DraftKey // nil: a repetition makes another process
}

// Invitee is a participant of a draft.
type Invitee struct {
	Name      string
	Email     string
	Role      Role
	Kennitala string // 10 digits; empty: whoever logs in first
	Phone     string // at most 7 digits; may be empty
}

// DraftKey is the idempotency key that a process is created with.
type DraftKey struct {
	Value       string
	Fingerprint string // of the body
}

// Fault is what is wrong with a field. Field is its path in the JSON of spec 4.1, such as
// "participants[1].email"; Message is a sentence.
type Fault struct{ Field, Message string }

// InvalidError is what is wrong with a draft: all of it.
type InvalidError struct{ Faults []Fault }

func (e *InvalidError) Error() string {
	var list []string
	for _, f := range e.Faults {
		list = append(list, f.Field+": "+f.Message)
	}
	return "portal: invalid: " + strings.Join(list, "; ")
}
