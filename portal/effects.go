package portal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/pades/inspect"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/storage"
)

// change applies an event to a process and carries out its effects, in a transaction.
func (s core) change(ctx context.Context, id string, e process.Event) error {
	return storage.InTx(ctx, s.tx, func(ctx context.Context) error {
		p, err := s.process(ctx, id)
		if err != nil {
			return err
		}
		return s.applyAndSave(ctx, &p, e)
	})
}

// applyAndSave applies an event to a process that was read in the transaction of ctx, carries out its effects and stores
// the process. It is not for [process.Delete], which Service.delete applies.
func (s core) applyAndSave(ctx context.Context, p *Process, e process.Event) error {
	effects, err := p.apply(e, s.now(ctx))
	if err != nil {
		return err
	}
	if err := s.carryOut(ctx, p, e, effects); err != nil {
		return err
	}
	return s.save(ctx, *p)
}

// save stores a process that was changed.
func (s core) save(ctx context.Context, p Process) error {
	p.setEndedAt(s.now(ctx))
	if err := s.store.UpdateProcess(ctx, p); err != nil {
		return fmt.Errorf("portal: storing the process: %w", err)
	}
	return nil
}

// carryOut carries out the effects of an event that was applied to a process: it adds entries to the evidence log, and
// sends events to subscribers and mails. It joins the transaction of its context.
func (s core) carryOut(ctx context.Context, p *Process, e process.Event, effects []process.Effect) error {
	for _, effect := range effects {
		if err := s.carryOutOne(ctx, p, e, effect); err != nil {
			return err
		}
	}
	return nil
}

func (s core) carryOutOne(ctx context.Context, p *Process, e process.Event, effect process.Effect) error {
	one := p.participant(effect.Participant)
	switch effect.Kind {
	case process.RecordLogin:
		who := loginPerson(e)
		return s.record(ctx, p, loggedInEntry, loggedInFacts{one.ID, who.Name, who.Kennitala, who.Authentication})
	case process.RecordStart:
		return s.record(ctx, p, begunEntry, begunFacts{one.ID, effect.Request, notShown(e)})
	case process.ReportSigned:
		facts := personFacts{Participant: one.ID, Name: one.Signature.Name, Kennitala: one.Signature.Kennitala, Request: effect.Request}
		return errors.Join(s.record(ctx, p, signedEntry, facts), s.emitSigned(ctx, p, one))
	case process.ReportCompleted:
		return errors.Join(
			s.record(ctx, p, completedEntry, struct{}{}),
			s.emitCompleted(ctx, p),
			s.mail(func(m Mail) error { return m.Completed(ctx, *p) }),
		)
	case process.ReportDeclined:
		return errors.Join(
			s.record(ctx, p, declinedEntry, declinedFacts{one.ID, one.Decline.Kennitala, one.Decline.Reason}),
			s.emitDeclined(ctx, p, one),
			s.mail(func(m Mail) error { return m.Declined(ctx, *p, *one) }),
		)
	case process.WithdrawMessages:
		return s.mail(func(m Mail) error { return m.Withdraw(ctx, p.ID) })
	case process.SendInvitation:
		return s.invite(ctx, p, one)
	case process.DeleteProcess:
		return s.deleteStored(ctx, p)
	}
	return fmt.Errorf("portal: effect %q cannot be carried out", effect.Kind)
}

// loginPerson returns the person of a login.
func loginPerson(e process.Event) Person {
	switch e := e.(type) {
	case process.LogIn:
		return e.Person
	case process.LogInAgain:
		return e.Person
	}
	return Person{}
}

// notShown returns the pages that could not be shown to the person who begins to sign.
func notShown(e process.Event) string {
	if e, ok := e.(process.BeginSigning); ok {
		return e.NotShown
	}
	return ""
}

// mail sends messages, if the service has a [Mail].
func (s core) mail(send func(Mail) error) error {
	if s.options.Mail == nil {
		return nil
	}
	if err := send(s.options.Mail); err != nil {
		return fmt.Errorf("portal: sending mail: %w", err)
	}
	return nil
}

// invite sends an invitation to a participant.
func (s core) invite(ctx context.Context, p *Process, one *Participant) error {
	return s.mail(func(m Mail) error { return m.Invite(ctx, *p, *one) })
}

// The kinds of entries in the evidence log whose subject is a process (spec 7.3). Each entry is recorded in the
// transaction that makes the change. Package signing records its own entries about the signing request that
// signature.begun names.
const (
	createdEntry   = "process.created"
	invitedEntry   = "process.invited"      // again, by [Service.Resend]
	loggedInEntry  = "participant.loggedin" // with an electronic ID, each time
	begunEntry     = "signature.begun"
	signedEntry    = "participant.signed"
	declinedEntry  = "participant.declined"
	completedEntry = "process.completed" // without facts
	deletedEntry   = "process.deleted"   // without facts
)

// createdFacts are the facts of createdEntry.
type createdFacts struct {
	Client       string         `json:"client,omitempty"` // ID of the API client
	Origin       Origin         `json:"origin"`
	Document     string         `json:"document"` // file name
	Size         int64          `json:"size"`     // of the uploaded document in bytes
	Participants []inviteeFacts `json:"participants"`
	// Warnings are those about the document. They are absent in entries of earlier versions, and empty if there was nothing to
	// warn of.
	Warnings *[]inspect.Warning `json:"warnings,omitempty"`
}

// inviteeFacts are the facts of a participant in createdEntry.
type inviteeFacts struct {
	Participant string `json:"participant"` // ID
	Role        Role   `json:"role"`
	Name        string `json:"name"`
	Email       string `json:"email"`
	Kennitala   string `json:"kennitala,omitempty"` // of the invited person, if given
}

// invitedFacts are the facts of invitedEntry.
type invitedFacts struct {
	Participants []string `json:"participants"` // IDs
}

// personFacts are the facts of signedEntry: the person whom the electronic ID identifies.
type personFacts struct {
	Participant string `json:"participant"` // ID
	Name        string `json:"name"`
	Kennitala   string `json:"kennitala"`
	Request     string `json:"request,omitempty"` // ID of the signing request, in signedEntry
}

// loggedInFacts are the facts of loggedInEntry.
type loggedInFacts struct {
	Participant     string `json:"participant"` // ID
	Name            string `json:"name"`
	Kennitala       string `json:"kennitala"`
	*Authentication        // absent in entries of earlier versions
}

// begunFacts are the facts of begunEntry.
type begunFacts struct {
	Participant string `json:"participant"`        // ID
	Request     string `json:"request"`            // ID of the signing request
	NotShown    string `json:"notShown,omitempty"` // as in [process.BeginSigning]
}

// declinedFacts are the facts of declinedEntry.
type declinedFacts struct {
	Participant string `json:"participant"`         // ID
	Kennitala   string `json:"kennitala,omitempty"` // of the person who has logged in, else of the invited person
	Reason      string `json:"reason"`
}

// record adds an entry about the process to the evidence log.
func (s core) record(ctx context.Context, p *Process, kind string, facts any) error {
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

func (s core) recordCreated(ctx context.Context, p *Process, client string, size int64) error {
	warnings := append([]inspect.Warning{}, p.Warnings...)
	facts := createdFacts{Client: client, Origin: p.Origin, Document: p.FileName, Size: size, Warnings: &warnings}
	for _, one := range p.Participants {
		facts.Participants = append(facts.Participants, inviteeFacts{one.ID, one.Role, one.Name, one.Email, one.Kennitala})
	}
	return s.record(ctx, p, createdEntry, facts)
}

// signedBody is a participant who has signed, in the data of an event (spec 5.4).
type signedBody struct {
	Name      string `json:"name"` // as given by the electronic ID
	Email     string `json:"email"`
	Kennitala string `json:"kennitala"`
	Phone     string `json:"phone"`
	Signature []byte `json:"signature"` // the raw value, in Base64
	SignedAt  string `json:"signedAt"`
}

// declinedBody is a participant who has declined, in the data of an event.
type declinedBody struct {
	Name          string `json:"name"`
	Email         string `json:"email"`
	Kennitala     string `json:"kennitala"` // of the person who has logged in, else of the invited person; may be empty
	Phone         string `json:"phone"`
	DeclineReason string `json:"declineReason"`
	DeclinedAt    string `json:"declinedAt"`
}

// participantBody is the data of an event about one participant.
type participantBody[T any] struct {
	Process     string `json:"signingProcessId"`
	Participant T      `json:"participant"`
}

// completedBody is the data of process.completed: the signers, without viewers.
type completedBody struct {
	Process      string       `json:"signingProcessId"`
	Participants []signedBody `json:"participants"`
}

// formatTime formats signedAt and declinedAt (spec 1.5).
func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000-07:00") }

func (p *Participant) signedBody() signedBody {
	signed := p.Signature
	return signedBody{
		Name: signed.Name, Email: p.Email, Kennitala: signed.Kennitala, Phone: p.Phone,
		Signature: signed.Value, SignedAt: formatTime(signed.At),
	}
}

func (s core) emitSigned(ctx context.Context, p *Process, one *Participant) error {
	return s.emit(ctx, p, SignedEvent, participantBody[signedBody]{p.ID, one.signedBody()})
}

func (s core) emitDeclined(ctx context.Context, p *Process, one *Participant) error {
	return s.emit(ctx, p, DeclinedEvent, participantBody[declinedBody]{p.ID, declinedBody{
		Name: one.Name, Email: one.Email, Kennitala: one.Decline.Kennitala, Phone: one.Phone,
		DeclineReason: one.Decline.Reason, DeclinedAt: formatTime(one.Decline.At),
	}})
}

func (s core) emitCompleted(ctx context.Context, p *Process) error {
	body := completedBody{Process: p.ID}
	for i := range p.Participants {
		if one := &p.Participants[i]; one.Signature != nil {
			body.Participants = append(body.Participants, one.signedBody())
		}
	}
	return s.emit(ctx, p, CompletedEvent, body)
}

// emit sends an event about a process that was created with the API (spec 5.4).
func (s core) emit(ctx context.Context, p *Process, eventType string, body any) error {
	if s.options.Events == nil || p.Origin != API {
		return nil
	}
	if err := s.options.Events.Emit(ctx, p.Account, eventType, s.now(ctx), body); err != nil {
		return fmt.Errorf("portal: sending the event: %w", err)
	}
	return nil
}
