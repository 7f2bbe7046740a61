// Package process is the state machine of a signing process: one document that several people sign or
// read. It consists of values and functions: it depends on nothing but the standard library, and neither
// reads a clock nor stores anything.
//
// # Use
//
// A [Process] is its participants and the signature that is being made. Everything that can happen to it
// is an [Event]. [Process.Apply] checks whether the event is admitted, changes the process and returns
// the effects, which are the caller's to carry out:
//
//	p := process.Process{Participants: []process.Participant{
//		{ID: "1", Role: process.Signer, Link: process.Link{InvitedAt: now, Hash: hash}},
//	}}
//	effects, err := p.Apply(process.LogIn{Link: hash, Person: person}, now)
//
// An event that is refused changes nothing, and its error says why. [Process.Check] asks without
// changing anything. To keep processes in a database, read one in a transaction, apply the event, store
// the process with what the effects ask for, and commit.
//
// # Status
//
// The status of a process is computed from its participants and the time ([Process.Status]) and never
// stored. If any signer has declined, it is [Declined]. If all have signed, it is [Completed]. If an
// invitation of a signer who has not signed is older than [InvitationTime], it is [Expired]. Otherwise
// it is [Waiting]. An expired process waits again when its signers are invited again.
//
// # Signing
//
// One participant signs at a time. [BeginSigning] gives the participant the [Turn], whose number no
// other turn of the process has. The signature may take minutes, and a signature that the participant
// gave is not refused for what happened meanwhile: [AddSignature] is admitted while the turn lasts, also
// when the process was declined or has expired since.
//
// # Rules
//
// [Rules] returns the rules of all events. Each rule is the list of conditions that an event has to meet,
// in the order in which they are checked, each with the error that is returned if it is not met.
package process

import (
	"bytes"
	"slices"
	"time"
)

// InvitationTime is how long an invitation is valid: the link until it is used, and the process until
// the signer has answered.
const InvitationTime = 7 * 24 * time.Hour

// Role is what a participant is invited to do.
type Role string

const (
	Signer Role = "Signer"
	Viewer Role = "Viewer" // reads the document
)

// Status is the status of a process or of a participant.
type Status string

const (
	Waiting   Status = "Waiting"
	Completed Status = "Completed"
	Declined  Status = "Declined"
	Expired   Status = "Expired" // only of processes
	None      Status = "None"    // only of viewers
)

// Process is the state of a signing process. IDs of participants and hashes of links are unique,
// kennitalas have ten digits, and at least one participant is a signer. The methods rely on that and do
// not check it.
type Process struct {
	Participants []Participant
	Turn         *Turn // of the participant who is signing; nil: no signature is being made
	Turns        int64 // how many turns there were: the number of the last one
}

// Participant is the state of a participant. Without a Kennitala, the first person to log in is the participant.
type Participant struct {
	ID        string     `json:"id"`
	Role      Role       `json:"role"`
	Kennitala string     `json:"kennitala,omitempty"` // of the invited person, ten digits; "" if anyone may log in
	Link      Link       `json:"link"`
	Person    *Person    `json:"person,omitempty"`    // who has logged in
	Signature *Signature `json:"signature,omitempty"` // nil: has not signed
	Decline   *Decline   `json:"decline,omitempty"`   // nil: has not declined
}

// Link is the last invitation of a participant. Its token is a credential that is used up by the first
// login.
type Link struct {
	InvitedAt time.Time `json:"invitedAt"`
	Hash      []byte    `json:"hash,omitempty"`  // of the token; nil: the link was used up, or ExpireLinks has removed it
	Was       []byte    `json:"was,omitempty"`   // the Hash before that
	Token     []byte    `json:"token,omitempty"` // nil if Hash is nil, or if the store could not decrypt it
}

// Person is a person whom an electronic ID has identified.
type Person struct {
	Name      string    `json:"name"`
	Kennitala string    `json:"kennitala"` // ten digits
	At        time.Time `json:"at"`        // of the first login; Apply sets it
	// Authentication is how the person logged in, for the evidence log. It is not stored in the process.
	Authentication *Authentication `json:"authentication,omitempty"`
}

// Authentication is how a person logged in. Members that are not known are empty.
type Authentication struct {
	Method   string `json:"method,omitempty"`      // of the page, such as "app"
	Provider string `json:"provider,omitempty"`    // the issuer
	ACR      string `json:"acr,omitempty"`         // the method in the ID token
	Address  string `json:"address,omitempty"`     // of the person's browser
	Token    string `json:"tokenSha256,omitempty"` // SHA-256 of the ID token as it was received, in hex
}

// Signature is the signature of a participant, with the name and the kennitala in the certificate.
type Signature struct {
	Name      string    `json:"name"`
	Kennitala string    `json:"kennitala"`
	Value     []byte    `json:"value"`
	At        time.Time `json:"at"` // when the person gave it; the caller sets it
}

// Decline is the refusal of a participant to sign.
type Decline struct {
	Reason    string    `json:"reason"`              // may be empty
	Kennitala string    `json:"kennitala,omitempty"` // of the person, if known
	At        time.Time `json:"at"`
}

// Turn is the time in which a participant makes a signature.
type Turn struct {
	Number      int64     `json:"number"` // 1 for the first of the process
	Participant string    `json:"participant"`
	Request     string    `json:"request"` // ID of the signing request
	Since       time.Time `json:"since"`
}

// LinkState is the state of a participant's link.
type LinkState int

const (
	Unopened    LinkState = iota
	Opened                // the participant has logged in or answered, so the link leads to the page
	LinkExpired           // not opened in time
)

// Status returns the status of the process at a time.
func (p *Process) Status(now time.Time) Status {
	until := p.WaitsUntil()
	switch {
	case p.declined():
		return Declined
	case until.IsZero():
		return Completed
	case now.After(until):
		return Expired
	}
	return Waiting
}

// WaitsUntil returns the time after which the process expires: the end of the first invitation that is
// not answered. It is zero if the process is completed or declined.
func (p *Process) WaitsUntil() time.Time {
	if p.declined() {
		return time.Time{}
	}
	return p.firstEnd((*Participant).waits)
}

// EndedAt returns when the process ended: when it was declined, when the last signature was given, or when it expired.
// It is zero if the process is waiting at the time given.
func (p *Process) EndedAt(now time.Time) (ended time.Time) {
	switch p.Status(now) {
	case Waiting:
		return time.Time{}
	case Expired:
		return p.WaitsUntil()
	}
	declined := p.declined()
	for i := range p.Participants {
		switch one := &p.Participants[i]; {
		case declined && one.Decline != nil:
			if ended.IsZero() || one.Decline.At.Before(ended) {
				ended = one.Decline.At
			}
		case !declined && one.Signature != nil && one.Signature.At.After(ended):
			ended = one.Signature.At
		}
	}
	return ended
}

// UnopenedUntil returns the time after which the first unopened link expires; zero if no link has a
// token.
func (p *Process) UnopenedUntil() time.Time {
	return p.firstEnd(func(one *Participant) bool { return one.Link.Hash != nil })
}

// firstEnd returns the end of the first invitation of the participants for which of reports true.
func (p *Process) firstEnd(of func(*Participant) bool) (first time.Time) {
	for i := range p.Participants {
		one := &p.Participants[i]
		if end := one.Link.InvitedAt.Add(InvitationTime); of(one) && (first.IsZero() || end.Before(first)) {
			first = end
		}
	}
	return first
}

// Revision returns how many participants have signed. A participant signs the revision of the document
// that they have read, so another signature since then is [ErrChanged].
func (p *Process) Revision() (n int) {
	for i := range p.Participants {
		if p.Participants[i].Signature != nil {
			n++
		}
	}
	return n
}

// Unsigned returns how many signers have not signed.
func (p *Process) Unsigned() (n int) {
	for i := range p.Participants {
		if one := &p.Participants[i]; one.Role == Signer && one.Signature == nil {
			n++
		}
	}
	return n
}

func (p *Process) declined() bool {
	return slices.ContainsFunc(p.Participants, func(one Participant) bool { return one.Decline != nil })
}

// Participant returns a participant of the process; nil if there is no such participant.
func (p *Process) Participant(id string) *Participant {
	i := slices.IndexFunc(p.Participants, func(one Participant) bool { return one.ID == id })
	return p.at(i)
}

// Linked returns the participant whose last link has a hash, also if the link is used up or expired; nil
// if no participant has it, because there was no such link or a new one has replaced it.
func (p *Process) Linked(hash []byte) *Participant {
	if len(hash) == 0 {
		return nil
	}
	i := slices.IndexFunc(p.Participants, func(one Participant) bool { return bytes.Equal(one.Link.LastHash(), hash) })
	return p.at(i)
}

func (p *Process) at(i int) *Participant {
	if i < 0 {
		return nil
	}
	return &p.Participants[i]
}

// Status returns the status of a participant.
func (p *Participant) Status() Status {
	switch {
	case p.Role != Signer:
		return None
	case p.Signature != nil:
		return Completed
	case p.Decline != nil:
		return Declined
	}
	return Waiting
}

func (p *Participant) waits() bool { return p.Status() == Waiting }

// LinkState returns the state of the participant's link at a time.
func (p *Participant) LinkState(now time.Time) LinkState {
	switch {
	case p.Person != nil, p.Signature != nil, p.Decline != nil:
		return Opened
	case p.Link.Hash == nil, p.Link.expired(now):
		return LinkExpired
	}
	return Unopened
}

// knownKennitala returns the kennitala of the person who has logged in, or else of the invited person.
func (p *Participant) knownKennitala() string {
	if p.Person != nil {
		return p.Person.Kennitala
	}
	return p.Kennitala
}

// isPerson reports whether the participant is a person with that kennitala, or may become that person
// by logging in first.
func (p *Participant) isPerson(kennitala string) bool {
	known := p.knownKennitala()
	return kennitala != "" && (known == "" || known == kennitala)
}

// LastHash returns the hash of the link, also if it is used up or expired; nil if there is none.
func (l *Link) LastHash() []byte {
	if l.Hash != nil {
		return l.Hash
	}
	return l.Was
}

func (l *Link) expired(now time.Time) bool {
	return l.Hash != nil && now.After(l.InvitedAt.Add(InvitationTime))
}

// useUp removes the token.
func (l *Link) useUp() {
	if l.Hash != nil {
		l.Was = l.Hash
	}
	l.Hash, l.Token = nil, nil
}
