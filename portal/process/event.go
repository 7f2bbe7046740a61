package process

import "time"

// Event is something that happens to a process: one of the event types of this package.
type Event interface {
	// rule returns the conditions of the event.
	rule() *Rule
	// subject returns the participant that the event is about; nil if there is none.
	subject(p *Process) *Participant
	// kennitala returns the kennitala of the person who acts; "" if the event has none.
	kennitala() string
	// apply changes the process. It is called only if the conditions of the event are met.
	apply(p *Process, now time.Time) []Effect
}

// LogIn is the login of a person with the link of an invitation. The person becomes the participant, and
// the link is used up. If the same person has used the link before, for example in another tab, the
// event is admitted, changes nothing and has no effects. It is refused while a sandbox user signs as the
// participant.
type LogIn struct {
	Link   []byte // hash of the link's token
	Person Person
}

// LogInAgain is a later login of the person who is the participant, on the page of the participant. It
// changes nothing, and is recorded.
type LogInAgain struct {
	Participant string
	Person      Person
}

// TurnEvent is an event that begins a turn: [BeginSigning] or [BeginSigningAs].
type TurnEvent interface {
	Event
	// WithRequest returns the event with the ID of a signing request. [Process.Check] does not need the ID,
	// [Process.Apply] does.
	WithRequest(id string) TurnEvent
}

// BeginSigning is the start of a signature by a participant who has logged in.
type BeginSigning struct {
	Participant string
	Revision    int    // of the document that the person has read: [Process.Revision] at that time
	Request     string // ID of the signing request
	NotShown    string // pages that could not be shown, which the person has confirmed to have read, such as "3,7-9"; "all"
}

// BeginSigningAs is the start of a signature by a sandbox user, without a login.
type BeginSigningAs struct {
	Participant string
	Kennitala   string // of the sandbox user
	Ready       bool   // the sandbox user signs at once when asked
	Request     string
}

// AddSignature is the arrival of the signature that was made in a turn. The turn lasts until [EndTurn].
type AddSignature struct {
	Turn      int64 // number of the turn
	Signature Signature
}

// EndTurn is the end of a turn, with or without a signature.
type EndTurn struct {
	Turn int64 // number of the turn
}

// DeclineSigning is the answer of a participant who has logged in and does not sign. It declines the
// whole process. A signature that another participant is making is still added.
type DeclineSigning struct {
	Participant string
	Reason      string // may be empty
}

// DeclineSigningAs is [DeclineSigning] by a sandbox user, without a login.
type DeclineSigningAs DeclineSigning

// InviteAgain renews the invitations of all signers who have not answered, if the process is not
// declined, and of viewers who have not logged in. Participants who have logged in keep their page; the
// others get new links, which replace the earlier ones. An expired process waits again.
type InviteAgain struct {
	// NewLink returns a link with a new token and its hash, for one participant: each call returns
	// another one. Apply sets InvitedAt. nil: the participants get no link.
	NewLink func() Link
}

// ExpireLinks removes the tokens of links that were not opened in time.
type ExpireLinks struct{}

// Delete is the deletion of the process.
type Delete struct{}

// Effect is what the caller of [Process.Apply] has to do after an event.
type Effect struct {
	Kind        EffectKind
	Participant string // ID; "" for effects about the process
	Request     string // ID of the signing request, for RecordStart, ReportSigned and CancelRequest
}

// EffectKind is the kind of an effect. The effects of one event come in this order.
type EffectKind string

const (
	CancelRequest    EffectKind = "CancelRequest"    // cancel the signing request
	RecordLogin      EffectKind = "RecordLogin"      // record the login
	RecordStart      EffectKind = "RecordStart"      // record that the person was asked to sign
	ReportSigned     EffectKind = "ReportSigned"     // report participant.signed
	ReportCompleted  EffectKind = "ReportCompleted"  // report process.completed, and tell the participants
	ReportDeclined   EffectKind = "ReportDeclined"   // report participant.declined, and tell the account
	WithdrawMessages EffectKind = "WithdrawMessages" // withdraw messages about the process that are not sent yet
	SendInvitation   EffectKind = "SendInvitation"   // send the invitation with the participant's link
	DeleteProcess    EffectKind = "DeleteProcess"    // delete the process and its document
)

// Apply applies an event at a time. It changes the process and returns the effects, or returns the error
// of the first condition that is not met and changes nothing.
func (p *Process) Apply(e Event, now time.Time) ([]Effect, error) {
	if err := p.Check(e, now); err != nil {
		return nil, err
	}
	return e.apply(p, now), nil
}

// Check returns the error that [Process.Apply] would return. It changes nothing.
func (p *Process) Check(e Event, now time.Time) error {
	s := situation{Process: p, event: e, subject: e.subject(p), now: now}
	for _, c := range e.rule().Conditions {
		if !c.holds(s) {
			return c.Err
		}
	}
	return nil
}

// WithRequest implements [TurnEvent].
func (e BeginSigning) WithRequest(id string) TurnEvent {
	e.Request = id
	return e
}

// WithRequest implements [TurnEvent].
func (e BeginSigningAs) WithRequest(id string) TurnEvent {
	e.Request = id
	return e
}

func (e LogIn) subject(p *Process) *Participant            { return p.Linked(e.Link) }
func (e LogInAgain) subject(p *Process) *Participant       { return p.Participant(e.Participant) }
func (e BeginSigning) subject(p *Process) *Participant     { return p.Participant(e.Participant) }
func (e BeginSigningAs) subject(p *Process) *Participant   { return p.Participant(e.Participant) }
func (e AddSignature) subject(p *Process) *Participant     { return p.inTurn(e.Turn) }
func (e EndTurn) subject(p *Process) *Participant          { return p.inTurn(e.Turn) }
func (e DeclineSigning) subject(p *Process) *Participant   { return p.Participant(e.Participant) }
func (e DeclineSigningAs) subject(p *Process) *Participant { return p.Participant(e.Participant) }
func (InviteAgain) subject(*Process) *Participant          { return nil }
func (ExpireLinks) subject(*Process) *Participant          { return nil }
func (Delete) subject(*Process) *Participant               { return nil }

func (e LogIn) kennitala() string          { return e.Person.Kennitala }
func (e LogInAgain) kennitala() string     { return e.Person.Kennitala }
func (e BeginSigningAs) kennitala() string { return e.Kennitala }
func (e AddSignature) kennitala() string   { return e.Signature.Kennitala }
func (BeginSigning) kennitala() string     { return "" }
func (EndTurn) kennitala() string          { return "" }
func (DeclineSigning) kennitala() string   { return "" }
func (DeclineSigningAs) kennitala() string { return "" }
func (InviteAgain) kennitala() string      { return "" }
func (ExpireLinks) kennitala() string      { return "" }
func (Delete) kennitala() string           { return "" }

// inTurn returns the participant whose turn has that number; nil if the turn is over.
func (p *Process) inTurn(number int64) *Participant {
	if p.Turn == nil || p.Turn.Number != number {
		return nil
	}
	return p.Participant(p.Turn.Participant)
}

func (e LogIn) apply(p *Process, now time.Time) []Effect {
	one := p.Linked(e.Link)
	if one.Person != nil {
		return nil
	}
	one.Person = &Person{Name: e.Person.Name, Kennitala: e.Person.Kennitala, At: now}
	one.Link.useUp()
	return []Effect{{Kind: RecordLogin, Participant: one.ID}}
}

func (e LogInAgain) apply(*Process, time.Time) []Effect {
	return []Effect{{Kind: RecordLogin, Participant: e.Participant}}
}

func (e BeginSigning) apply(p *Process, now time.Time) []Effect {
	return p.beginTurn(e.Participant, e.Request, now)
}

func (e BeginSigningAs) apply(p *Process, now time.Time) []Effect {
	return p.beginTurn(e.Participant, e.Request, now)
}

func (p *Process) beginTurn(participant, request string, now time.Time) []Effect {
	p.Turns++
	p.Turn = &Turn{Number: p.Turns, Participant: participant, Request: request, Since: now}
	return []Effect{{Kind: RecordStart, Participant: participant, Request: request}}
}

func (e AddSignature) apply(p *Process, now time.Time) []Effect {
	one := p.inTurn(e.Turn)
	one.Signature = &e.Signature
	one.Link.useUp()
	effects := []Effect{{Kind: ReportSigned, Participant: one.ID, Request: p.Turn.Request}}
	if p.Status(now) == Completed {
		effects = append(effects, Effect{Kind: ReportCompleted})
	}
	return effects
}

func (e EndTurn) apply(p *Process, _ time.Time) []Effect {
	p.Turn = nil
	return nil
}

func (e DeclineSigning) apply(p *Process, now time.Time) []Effect {
	one := p.Participant(e.Participant)
	one.Decline = &Decline{Reason: e.Reason, Kennitala: one.knownKennitala(), At: now}
	one.Link.useUp()
	return []Effect{{Kind: ReportDeclined, Participant: one.ID}}
}

func (e DeclineSigningAs) apply(p *Process, now time.Time) []Effect {
	return DeclineSigning(e).apply(p, now)
}

// invitedAgain reports whether InviteAgain renews the invitation of a participant.
func (p *Process) invitedAgain(one *Participant) bool {
	asked := one.waits() && !p.declined()
	return asked || one.Role == Viewer && one.Person == nil
}

func (e InviteAgain) apply(p *Process, now time.Time) (effects []Effect) {
	if !p.WaitsUntil().IsZero() { // a completed or declined process has messages about that, which stay
		effects = append(effects, Effect{Kind: WithdrawMessages})
	}
	for i := range p.Participants {
		one := &p.Participants[i]
		if !p.invitedAgain(one) {
			continue
		}
		if one.Person == nil {
			one.Link = Link{}
			if e.NewLink != nil {
				one.Link = e.NewLink()
			}
		}
		one.Link.InvitedAt = now
		effects = append(effects, Effect{Kind: SendInvitation, Participant: one.ID})
	}
	return effects
}

func (ExpireLinks) apply(p *Process, now time.Time) []Effect {
	for i := range p.Participants {
		if link := &p.Participants[i].Link; link.expired(now) {
			link.useUp()
		}
	}
	return nil
}

func (Delete) apply(p *Process, _ time.Time) (effects []Effect) {
	if p.Turn != nil {
		effects = append(effects, Effect{Kind: CancelRequest, Participant: p.Turn.Participant, Request: p.Turn.Request})
	}
	return append(effects, Effect{Kind: WithdrawMessages}, Effect{Kind: DeleteProcess})
}
