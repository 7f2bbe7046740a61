package simulated

import (
	"context"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/idp"
)

// LoginExpiry is the lifetime of a login.
const LoginExpiry = 2 * time.Minute

// LoginOptions configure a Login. The zero value is usable.
type LoginOptions struct {
	// Delay is the time that people take to answer.
	Delay time.Duration
	// Name is as in [Options].
	Name func(kennitala string) string
}

// Login simulates logins of the people of a [Provider]: on the phone, by kennitala with [idp.App] and by phone
// number with [idp.SIM], or on a page of the caller ([Login.Identify]). The same digits select the same failures. A
// Login stores nothing and is safe for concurrent use.
type Login struct{ options LoginOptions }

// LoginState is the state of a login between calls, which the caller stores as JSON. It is not authenticated:
// anyone who can change it can log in as any person.
type LoginState struct {
	Person  idp.Person `json:"person"`
	Code    string     `json:"code"`    // the phone shows the same
	Answers time.Time  `json:"answers"` // when the person answers
	Expires time.Time  `json:"expires"`
}

// Identity is a person who has logged in.
type Identity struct{ Kennitala, Name string }

// Refusal is the error of a login that ended with a failure of the package comment.
type Refusal struct{ idp.Failure }

func (r *Refusal) Error() string { return "simulated: the login ended with " + string(r.Code) }

// NewLogin returns a Login.
func NewLogin(o LoginOptions) *Login {
	if o.Name == nil {
		o.Name = defaultName
	}
	return &Login{o}
}

// Begin starts the login of a person with a Kennitala (App) or a Phone (SIM). The error may be a [*Refusal].
func (l *Login) Begin(ctx context.Context, p idp.Person) (LoginState, error) {
	if err := ctx.Err(); err != nil {
		return LoginState{}, err
	}
	switch p.Method {
	case idp.App:
	case idp.SIM:
		p.Kennitala = KennitalaOf(p.Phone)
	default:
		return LoginState{}, fmt.Errorf("simulated: unknown method %q", p.Method)
	}
	p.Kennitala = idp.NormalizeKennitala(p.Kennitala)
	if _, b := behaviourOf(p); b != nil && b.when == immediately {
		return LoginState{}, &Refusal{b.Failure}
	}
	now := time.Now().UTC()
	return LoginState{Person: p, Code: drawCode(), Answers: now.Add(l.options.Delay), Expires: now.Add(LoginExpiry)}, nil
}

// Poll returns the identity, or nil while the person has not answered. The error may be a [*Refusal].
func (l *Login) Poll(ctx context.Context, s LoginState) (*Identity, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	now := time.Now()
	_, b := behaviourOf(s.Person)
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

// Identify returns the identity of the person with a kennitala, for a login on a page of the caller. A person who never
// answers on the phone gets a [*Refusal] with the code ExpiredToken, other failures one with their own codes.
func (l *Login) Identify(kennitala string) (Identity, error) {
	p := idp.Person{Method: idp.App, Kennitala: idp.NormalizeKennitala(kennitala)}
	if _, b := behaviourOf(p); b != nil {
		return Identity{}, &Refusal{b.Failure}
	}
	return Identity{p.Kennitala, l.options.Name(p.Kennitala)}, nil
}
