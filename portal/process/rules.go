package process

import (
	"errors"
	"slices"
	"time"
)

// Errors of events that are refused. Each is the error of the conditions that name it ([Rules]).
var (
	// ErrNotFound: the process has no such participant, or no participant whose last link has the
	// hash, or that link has expired.
	ErrNotFound = errors.New("process: not found")
	// ErrViewer: the participant is a viewer, who does not sign.
	ErrViewer = errors.New("process: participant is a viewer")
	// ErrAnswered: the participant has signed or declined.
	ErrAnswered = errors.New("process: participant has already answered")
	// ErrNotLoggedIn: no person has logged in as the participant.
	ErrNotLoggedIn = errors.New("process: no person has logged in as the participant")
	// ErrOtherPerson: the participant is a person with another kennitala.
	ErrOtherPerson = errors.New("process: kennitala does not match")
	// ErrCannotSign: the sandbox user does not sign, or not at once.
	ErrCannotSign = errors.New("process: sandbox user cannot sign now")
	// ErrNotWaiting: the process is completed, declined or expired, or there is no participant to invite.
	ErrNotWaiting = errors.New("process: process is not waiting")
	// ErrTurn: a participant is signing.
	ErrTurn = errors.New("process: a signature is under way")
	// ErrChanged: a signature was added since the person read the document.
	ErrChanged = errors.New("process: the document has changed")
	// ErrTurnOver: the turn of a signature is not the current one, or its participant has answered.
	ErrTurnOver = errors.New("process: the turn is over")
)

// Rule is the rule of an event: all of its conditions have to be met.
type Rule struct {
	Event      string // name of the event's type
	Conditions []Condition
}

// Condition is a condition of an event.
type Condition struct {
	Text string // a sentence, such as "The participant is a signer."
	Err  error  // returned if the condition is not met

	holds func(situation) bool
}

// situation is an event that is to be applied to a process.
type situation struct {
	*Process
	event   Event
	subject *Participant // the participant that the event is about; nil: none, or not found
	now     time.Time
}

// The conditions.
var (
	exists = Condition{"The participant exists.", ErrNotFound,
		func(s situation) bool { return s.subject != nil }}
	linkExists = Condition{"A participant's last link has that hash.", ErrNotFound,
		func(s situation) bool { return s.subject != nil }}
	linkWorks = Condition{"The link is not expired, and if it is used up, a person has logged in with it.", ErrNotFound,
		func(s situation) bool {
			one := s.subject
			return one.Person != nil || one.Link.Hash != nil && !one.Link.expired(s.now)
		}}
	isPerson = Condition{"The participant is this person, or has no kennitala and no person has logged in yet.", ErrOtherPerson,
		func(s situation) bool { return s.subject.isPerson(s.event.kennitala()) }}
	isSigner = Condition{"The participant is a signer.", ErrViewer,
		func(s situation) bool { return s.subject.Role == Signer }}
	unanswered = Condition{"The participant has neither signed nor declined.", ErrAnswered,
		func(s situation) bool { return s.subject.waits() }}
	hasLoggedIn = Condition{"A person has logged in as the participant.", ErrNotLoggedIn,
		func(s situation) bool { return s.subject.Person != nil }}
	isReady = Condition{"The sandbox user signs at once.", ErrCannotSign,
		func(s situation) bool { e, ok := s.event.(BeginSigningAs); return ok && e.Ready }}
	isWaiting = Condition{"The process is waiting.", ErrNotWaiting,
		func(s situation) bool { return s.Status(s.now) == Waiting }}
	noTurn = Condition{"No participant is signing.", ErrTurn,
		func(s situation) bool { return s.Turn == nil }}
	notInTurn = Condition{"The participant is not signing.", ErrTurn,
		func(s situation) bool { return s.Turn == nil || s.Turn.Participant != s.subject.ID }}
	unchanged = Condition{"No signature was added since the person read the document.", ErrChanged,
		func(s situation) bool { e, ok := s.event.(BeginSigning); return ok && e.Revision == s.Revision() }}
	inTurn = Condition{"The turn is the current one.", ErrTurnOver,
		func(s situation) bool { return s.subject != nil }}
	turnLasts = Condition{"The turn is the current one.", ErrTurnOver,
		func(s situation) bool {
			e, ok := s.event.(EndTurn)
			return ok && s.Turn != nil && s.Turn.Number == e.Turn
		}}
	notSigning = Condition{"A person has logged in as the participant, or no sandbox user is signing as the participant.", ErrTurn,
		func(s situation) bool { return s.subject.Person != nil || notInTurn.holds(s) }}
	turnUnanswered = Condition{"The participant has neither signed nor declined.", ErrTurnOver, unanswered.holds}
	turnIsPerson   = Condition{"The participant is the person who signed.", ErrOtherPerson, isPerson.holds}
	someInvited    = Condition{"There is a signer to wait for, or a viewer who has not logged in.", ErrNotWaiting,
		func(s situation) bool {
			return slices.ContainsFunc(s.Participants, func(one Participant) bool { return s.invitedAgain(&one) })
		}}
)

// The rules, one for each event.
var (
	logIn            = Rule{"LogIn", []Condition{linkExists, linkWorks, isPerson, notSigning}}
	logInAgain       = Rule{"LogInAgain", []Condition{exists, hasLoggedIn, isPerson}}
	beginSigning     = Rule{"BeginSigning", []Condition{exists, isSigner, unanswered, hasLoggedIn, isWaiting, noTurn, unchanged}}
	beginSigningAs   = Rule{"BeginSigningAs", []Condition{exists, isSigner, unanswered, isPerson, isReady, isWaiting, noTurn}}
	addSignature     = Rule{"AddSignature", []Condition{inTurn, turnUnanswered, turnIsPerson}}
	endTurn          = Rule{"EndTurn", []Condition{turnLasts}}
	declineSigning   = Rule{"DeclineSigning", []Condition{exists, isSigner, unanswered, hasLoggedIn, isWaiting, notInTurn}}
	declineSigningAs = Rule{"DeclineSigningAs", []Condition{exists, isSigner, unanswered, isWaiting, notInTurn}}
	inviteAgain      = Rule{"InviteAgain", []Condition{someInvited}}
	expireLinks      = Rule{"ExpireLinks", nil}
	deleteProcess    = Rule{"Delete", nil}
)

// Rules returns the rules of all events.
func Rules() []Rule {
	rules := []Rule{logIn, logInAgain, beginSigning, beginSigningAs, addSignature, endTurn, declineSigning, declineSigningAs, inviteAgain, expireLinks, deleteProcess}
	for i := range rules {
		rules[i].Conditions = slices.Clone(rules[i].Conditions)
	}
	return rules
}

func (LogIn) rule() *Rule            { return &logIn }
func (LogInAgain) rule() *Rule       { return &logInAgain }
func (BeginSigning) rule() *Rule     { return &beginSigning }
func (BeginSigningAs) rule() *Rule   { return &beginSigningAs }
func (AddSignature) rule() *Rule     { return &addSignature }
func (EndTurn) rule() *Rule          { return &endTurn }
func (DeclineSigning) rule() *Rule   { return &declineSigning }
func (DeclineSigningAs) rule() *Rule { return &declineSigningAs }
func (InviteAgain) rule() *Rule      { return &inviteAgain }
func (ExpireLinks) rule() *Rule      { return &expireLinks }
func (Delete) rule() *Rule           { return &deleteProcess }
