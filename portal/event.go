package portal

import (
	"context"
	"fmt"
	"time"
)

// instant is the format of signedAt and declinedAt (spec 1.5).
const instant = "2006-01-02T15:04:05.000-07:00"

func instantOf(t time.Time) string { return t.UTC().Format(instant) }

// signedBody is a participant who has signed, as events tell it (spec 5.4).
type signedBody struct {
	Name      string `json:"name"` // as given by the electronic ID
	Email     string `json:"email"`
	Kennitala string `json:"kennitala"`
	Phone     string `json:"phone"`
	Signature []byte `json:"signature"` // the raw value, in Base64
	SignedAt  string `json:"signedAt"`
}

// declinedBody is a participant who has declined.
type declinedBody struct {
	Name          string `json:"name"`
	Email         string `json:"email"`
	Kennitala     string `json:"kennitala"`
	Phone         string `json:"phone"`
	DeclineReason string `json:"declineReason"`
	DeclinedAt    string `json:"declinedAt"`
}

// answerBody is the data of an event about one participant.
type answerBody[T any] struct {
	Process     string `json:"signingProcessId"`
	Participant T      `json:"participant"`
}

// completedBody is the data of process.completed: the signers, without viewers.
type completedBody struct {
	Process      string       `json:"signingProcessId"`
	Participants []signedBody `json:"participants"`
}

func (p *Participant) signedBody() signedBody {
	signed := p.Signature
	return signedBody{
		Name: signed.Name, Email: p.Email, Kennitala: signed.Kennitala, Phone: p.Phone,
		Signature: signed.Value, SignedAt: instantOf(signed.At),
	}
}

func (s records) emitSigned(ctx context.Context, p *Process, one *Participant) error {
	return s.emit(ctx, p, SignedEvent, answerBody[signedBody]{p.ID, one.signedBody()})
}

// emitDeclined tells of a kennitala even where nobody has logged in: that of the person whose place it
// is (spec 5.4).
func (s records) emitDeclined(ctx context.Context, p *Process, one *Participant) error {
	return s.emit(ctx, p, DeclinedEvent, answerBody[declinedBody]{p.ID, declinedBody{
		Name: one.Name, Email: one.Email, Kennitala: one.Decline.Kennitala, Phone: one.Phone,
		DeclineReason: one.Decline.Reason, DeclinedAt: instantOf(one.Decline.At),
	}})
}

func (s records) emitCompleted(ctx context.Context, p *Process) error {
	body := completedBody{Process: p.ID}
	for i := range p.Participants {
		if one := &p.Participants[i]; one.Signature != nil {
			body.Participants = append(body.Participants, one.signedBody())
		}
	}
	return s.emit(ctx, p, CompletedEvent, body)
}

// emit sends an event, but for a process that was not made with the API (spec 5.4).
func (s records) emit(ctx context.Context, p *Process, eventType string, body any) error {
	if s.options.Events == nil || p.Origin != API {
		return nil
	}
	if err := s.options.Events.Emit(ctx, p.Account, eventType, s.now(ctx), body); err != nil {
		return fmt.Errorf("portal: sending the event: %w", err)
	}
	return nil
}

// mail sends mails, where there are any.
func (s records) mail(send func(Mail) error) error {
	if s.options.Mail == nil {
		return nil
	}
	if err := send(s.options.Mail); err != nil {
		return fmt.Errorf("portal: sending mail: %w", err)
	}
	return nil
}

// invite sends a participant an invitation.
func (s records) invite(ctx context.Context, p *Process, one *Participant) error {
	return s.mail(func(m Mail) error { return m.Invite(ctx, *p, *one) })
}
