package simulated

import (
	"context"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/idp"
)

// LoginExpiry is how long a [Login] waits for a person.
const LoginExpiry = 2 * time.Minute

// LoginOptions are the choices of a Login. The zero value is of use.
type LoginOptions struct {
	// Delay is how long people take to answer.
	Delay time.Duration
	// Name is as in [Options].
	Name func(kennitala string) string
}

// Login plays the logins of the people whom a [Provider] has sign: on the phone, by kennitala with
// [idp.App] and by phone number with [idp.SIM], or on pages that a caller makes ([Login.Identify]).
// The same digits choose the same failures. It keeps nothing and may be used by several goroutines.
type Login struct{ options LoginOptions }

// LoginState is a login between the calls, to be kept as JSON. It is as secret as the caller's
// confidence that nobody else makes one.
type LoginState struct {
	Person  idp.Person `json:"person"`
	Code    string     `json:"code"`    // that the phone shows too
	Answers time.Time  `json:"answers"` // when the person does
	Expires time.Time  `json:"expires"`
}

// Identity is who a person is.
type Identity struct{ Kennitala, Name string }

// Refusal is the error that a failure of the package comment is to a login.
type Refusal struct{ idp.Failure }

func (r *Refusal) Error() string { return "simulated: the login ended with " + string(r.Code) }

// NewLogin returns a Login.
func NewLogin(o LoginOptions) *Login {
	if o.Name == nil {
		o.Name = sameName
	}
	return &Login{o}
}

// Begin asks a person, of whom the Kennitala or the Phone is known. [*Refusal].
func (l *Login) Begin(ctx context.Context, p idp.Person) (LoginState, error) {
	if err := ctx.Err(); err != nil {
		return LoginState{}, err
	}
	switch p.Method {
	case idp.App:
	case idp.SIM:
		p.Kennitala = KennitalaOf(p.Phone)
	default:
		return LoginState{}, fmt.Errorf("simulated: people cannot be reached by %q", p.Method)
	}
	p.Kennitala = idp.NormalKennitala(p.Kennitala)
	if _, b := choose(p); b != nil && b.when == atOnce {
		return LoginState{}, &Refusal{b.Failure}
	}
	now := time.Now().UTC()
	return LoginState{Person: p, Code: drawCode(), Answers: now.Add(l.options.Delay), Expires: now.Add(LoginExpiry)}, nil
}

// Poll asks whether the person has answered; nil: not yet. [*Refusal].
func (l *Login) Poll(ctx context.Context, s LoginState) (*Identity, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	now := time.Now()
	_, b := choose(s.Person)
	switch {
	case !now.Before(s.Expires):
		return nil, &Refusal{expired}
	case b != nil && b.when == never, now.Before(s.Answers):
		return nil, nil
	case b != nil:
		return nil, &Refusal{b.Failure}
	}
	return &Identity{s.Person.Kennitala, l.options.Name(s.Person.Kennitala)}, nil
}

// Identify is the answer of somebody who says to be the person with a kennitala, on a page of the
// caller's. Who never answers on the phone has not answered there in time. [*Refusal].
func (l *Login) Identify(kennitala string) (Identity, error) {
	p := idp.Person{Method: idp.App, Kennitala: idp.NormalKennitala(kennitala)}
	if _, b := choose(p); b != nil {
		return Identity{}, &Refusal{b.Failure}
	}
	return Identity{p.Kennitala, l.options.Name(p.Kennitala)}, nil
}
