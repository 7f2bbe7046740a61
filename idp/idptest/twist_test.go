package idptest

import (
	"context"
	"crypto/x509"
	"net/http"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
)

// answer is what a provider answers to a call, before a mistake is made with it.
type answer struct {
	call    string
	ctx     context.Context
	person  idp.Person // Begin's
	text    idp.Text
	digests []ades.Digest // Sign's
	before  idp.State     // what Sign and Poll were called with

	state idp.State
	event idp.Event
	err   error
}

// twisted is a provider around which a mistake is made.
type twisted struct {
	idp.Notifier
	before func(*answer) // before the call, with what it is given
	after  func(*answer)
}

// after makes providers of which the answers are changed.
func after(change func(*answer)) func(idp.Provider) idp.Provider {
	return func(p idp.Provider) idp.Provider {
		return twisted{p.(idp.Notifier), func(*answer) {}, change}
	}
}

// before makes providers of which the calls are changed.
func before(change func(*answer)) func(idp.Provider) idp.Provider {
	return func(p idp.Provider) idp.Provider {
		return twisted{p.(idp.Notifier), change, func(*answer) {}}
	}
}

// on makes providers of which the events of a type are changed.
func on[E idp.Event](change func(E) idp.Event) func(idp.Provider) idp.Provider {
	return after(func(a *answer) {
		if e, ok := a.event.(E); ok {
			a.event = change(e)
		}
	})
}

func (p twisted) Begin(ctx context.Context, key string, person idp.Person, text idp.Text, known *x509.Certificate) (idp.State, idp.Event, error) {
	return p.answer(answer{call: "Begin", ctx: ctx, person: person, text: text}, func(a *answer) {
		a.state, a.event, a.err = p.Notifier.Begin(ctx, key, person, a.text, known)
	})
}

func (p twisted) Sign(ctx context.Context, state idp.State, digests []ades.Digest) (idp.State, idp.Event, error) {
	return p.answer(answer{call: "Sign", ctx: ctx, before: state, digests: digests}, func(a *answer) {
		a.state, a.event, a.err = p.Notifier.Sign(ctx, a.before, a.digests)
	})
}

func (p twisted) Poll(ctx context.Context, state idp.State) (idp.State, idp.Event, error) {
	return p.answer(answer{call: "Poll", ctx: ctx, before: state}, func(a *answer) {
		a.state, a.event, a.err = p.Notifier.Poll(ctx, a.before)
	})
}

func (p twisted) answer(a answer, call func(*answer)) (idp.State, idp.Event, error) {
	p.before(&a)
	call(&a)
	p.after(&a)
	return a.state, a.event, a.err
}

// told is a provider of which the notifications are read otherwise.
type told struct {
	idp.Notifier
	read func(p idp.Notifier, r *http.Request) (string, func(idp.State) bool, error)
}

func (p told) Notification(r *http.Request) (string, func(idp.State) bool, error) {
	return p.read(p.Notifier, r)
}

func reading(read func(p idp.Notifier, r *http.Request) (string, func(idp.State) bool, error)) func(idp.Provider) idp.Provider {
	return func(p idp.Provider) idp.Provider { return told{p.(idp.Notifier), read} }
}
