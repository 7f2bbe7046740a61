package idptest

import (
	"bytes"
	"context"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// mistake is a provider with one mistake.
type mistake struct {
	name   string
	cms    bool
	inside wrongs
	around func(idp.Provider) idp.Provider
	found  string // what the suite says
}

func mistakes(t testing.TB) []mistake {
	return slices.Concat(wrongCodes, wrongEvents(t), wrongAnswers, wrongStates, wrongNotifications)
}

var wrongCodes = []mistake{
	{name: "no code", around: code(func(string) string { return "" }),
		found: "a code was shown before the person signs"},
	{name: "a code that is shown once", around: after(func(a *answer) {
		if a.call == "Poll" {
			a.event = withCode(a.event, func(string) string { return "" })
		}
	}), found: "a code is 4 digits (spec 3.5), but Poll shows \"\""},
	{name: "a code of 3 digits", around: code(func(c string) string { return c[:min(3, len(c))] }),
		found: "a code is 4 digits"},
	{name: "a new code at each call", around: after(func(a *answer) {
		if w, ok := a.event.(idp.Waiting); ok && a.call == "Poll" {
			w.Code = fmt.Sprintf("%04d", time.Now().Unix()%10_000)
			w.RetryAfter = time.Second / 2
			a.event = w
		}
	}), found: "a code stays once it was shown"},
	{name: "no code in the start call", around: after(func(a *answer) {
		if a.call != "Poll" {
			a.event = withCode(a.event, func(string) string { return "" })
		}
	}), found: "the start call shows the SIM's code"},
}

func code(change func(string) string) func(idp.Provider) idp.Provider {
	return after(func(a *answer) { a.event = withCode(a.event, change) })
}

func withCode(event idp.Event, change func(string) string) idp.Event {
	switch e := event.(type) {
	case idp.Waiting:
		e.Code = change(e.Code)
		return e
	case idp.NeedDigest:
		e.Code = change(e.Code)
		return e
	}
	return event
}

func wrongEvents(t testing.TB) []mistake {
	stranger := certtest.Issue(t, x509.Certificate{Subject: pkix.Name{SerialNumber: "9999999999"}, NotAfter: time.Now().AddDate(1, 0, 0), NotBefore: time.Unix(0, 0)}, certtest.NewKey(t, elliptic.P256()), nil, nil)
	return []mistake{
		{name: "an event by pointer", around: on(func(e idp.Waiting) idp.Event { return &e }), found: "which is no event"},
		{name: "less than no time to wait", around: on(func(e idp.Waiting) idp.Event { e.RetryAfter = -1; return e }), found: "RetryAfter lies in the conversation"},
		{name: "a day to wait", around: on(func(e idp.Waiting) idp.Event { e.RetryAfter = 24 * time.Hour; return e }), found: "RetryAfter lies in the conversation"},
		{name: "never quick enough", around: on(func(e idp.Waiting) idp.Event { e.SlowDown = true; return e }), found: "is not told to slow down"},
		{name: "a stranger's certificate", around: on(func(e idp.NeedDigest) idp.Event { e.Certificate = stranger; return e }), found: "the certificate names the person"},
		{name: "no certificate", around: on(func(e idp.NeedDigest) idp.Event { e.Certificate = nil; return e }), found: "NeedDigest has a certificate"},
		{name: "nothing in the chain", around: on(func(e idp.NeedDigest) idp.Event { e.Chain = make([]*x509.Certificate, 1); return e }), found: "nil certificate"},
		{name: "a certificate before the CMS", cms: true, around: on(func(e idp.NeedDigest) idp.Event { e.Certificate = stranger; return e }), found: "with Traits.CMS NeedDigest has no certificate"},
		{name: "no CMS", cms: true, around: on(func(e idp.Signed) idp.Event { e.Values = [][]byte{{1}}; return e }), found: "verifies over its digest"},
		{name: "values in another order", around: on(func(e idp.Signed) idp.Event { slices.Reverse(e.Values); return e }), found: "values are in the order of the digests: value 0"},
		{name: "one value for many digests", around: on(func(e idp.Signed) idp.Event { e.Values = e.Values[:1]; return e }), found: "Signed has a value for each digest"},
		{name: "another digest", around: before(func(a *answer) {
			if len(a.digests) > 0 {
				a.digests = []ades.Digest{a.digests[0].Algorithm.Digest([]byte("another"))}
			}
		}), found: "verifies over its digest"},
		{name: "words without end", around: on(func(e idp.Failed) idp.Event { e.Description = strings.Repeat("no ", 1<<20); return e }), found: "a failure's words are short"},
		{name: "a failure that is none", around: on(func(e idp.Failed) idp.Event { e.Code = idp.AuthorizationPending; return e }), found: "is no end"},
		{name: "an expired certificate", inside: wrongs{keepsExpired: true}, found: "the certificate is valid now"},
		{name: "a known certificate is forgotten", inside: wrongs{forgetsKnown: true}, found: "Begin answers NeedDigest with the certificate that is known"},
		{name: "a renewed certificate is missed", inside: wrongs{missesRenewal: true}, found: "a renewed certificate is detected: value 0"},
		{name: "a certificate renewed in the middle is missed", inside: wrongs{missesRenewal: true}, found: "does not sign for the earlier one: value 0"},
	}
}

var wrongAnswers = []mistake{
	{name: "a refusal is a failure like others", around: failing(idp.UserCancelled, idp.AccessDenied), found: "the failure is UserCancelled"},
	{name: "the unknown are refused", around: failing(idp.UserNotFound, idp.AccessDenied), found: "the failure is UserNotFound"},
	{name: "silence is a refusal", around: failing(idp.ExpiredToken, idp.AccessDenied), found: "it ends with ExpiredToken"},
	{name: "silence for ever", around: on(func(e idp.Failed) idp.Event {
		if e.Code == idp.ExpiredToken {
			return idp.Waiting{}
		}
		return e
	}), found: "has ended by its Expires"},
	{name: "an end before its time", around: after(func(a *answer) { a.state.Expires = a.state.Expires.Add(time.Hour) }), found: "it expires when its State does"},
	{name: "impatience", around: impatient, found: "an early Poll is not refused"},
	{name: "a call that waits", around: blocking, found: "while there is no answer the event is Waiting"},
	{name: "a busy provider refuses", around: busy, found: "conversations run concurrently"},
	{name: "nothing is signed", around: after(func(a *answer) {
		if a.call == "Sign" && len(a.digests) == 0 {
			a.event, a.err = idp.Signed{}, nil
		}
	}), found: "Sign without digests answers Signed"},
	{name: "a text that is too short", around: before(func(a *answer) {
		if a.call == "Begin" {
			_ = a.text.Document[:5]
		}
	}), found: "any text can be shown: no input makes a provider panic"},
	{name: "an answer that is lost", inside: wrongs{noContinue: true}, found: "a lost answer to Poll can be had again"},
	{name: "a fault ends the conversation", inside: wrongs{fatalFaults: true}, found: "a conversation survives a network fault: the State is good"},
	{name: "an ended context ends the conversation", around: after(func(a *answer) {
		if a.ctx.Err() != nil {
			a.event, a.err = idp.Failed{Failure: idp.Failure{Code: idp.CommunicationError}}, nil
		}
	}), found: "a call with an ended context returns promptly: the State is good"},
	{name: "an ended context is not noticed", around: after(func(a *answer) {
		if a.ctx.Err() != nil {
			time.Sleep(time.Minute) // time: virtual; mistakes are made in bubbles
		}
	}), found: "with an ended context takes 1m0s"},
}

func failing(as, with idp.ErrorCode) func(idp.Provider) idp.Provider {
	return on(func(e idp.Failed) idp.Event {
		if e.Code == as {
			e.Code = with
		}
		return e
	})
}

// impatient refuses two polls within a second.
func impatient(p idp.Provider) idp.Provider {
	var last time.Time
	return after(func(a *answer) {
		if _, ok := a.event.(idp.Waiting); ok && a.call == "Poll" && time.Since(last) < time.Second { // time: virtual; mistakes are made in bubbles
			a.event = idp.Failed{Failure: idp.Failure{Code: idp.InvalidRequest}}
		}
		last = time.Now()
	})(p)
}

// busy takes a second for each call, during which it makes no other call.
func busy(p idp.Provider) idp.Provider {
	var taken atomic.Bool
	return after(func(a *answer) {
		if !taken.CompareAndSwap(false, true) {
			a.event, a.err = nil, errors.New("busy")
			return
		}
		time.Sleep(time.Second) // time: virtual; mistakes are made in bubbles
		taken.Store(false)
	})(p)
}

// blocking returns from a call only after the person has answered.
func blocking(p idp.Provider) idp.Provider {
	return after(func(a *answer) {
		for {
			waiting, ok := a.event.(idp.Waiting)
			if !ok || a.err != nil {
				return
			}
			time.Sleep(waiting.RetryAfter) // time: virtual; mistakes are made in bubbles
			a.state, a.event, a.err = p.Poll(a.ctx, a.state)
		}
	})(p)
}

var wrongStates = []mistake{
	{name: "a State without its key", around: after(func(a *answer) { a.state.Key = "" }), found: "not Begin's"},
	{name: "a State for ever", around: after(func(a *answer) { a.state.Expires = time.Time{} }), found: "does not expire"},
	{name: "a State of another version", around: after(func(a *answer) {
		if _, ok := a.event.(idp.Signed); ok {
			a.state.Version = 7
		}
	}), found: "the State of Poll is of"},
	{name: "a State is kept in memory", around: remembering, found: "a conversation continues in another process"},
	{name: "conversations mix", around: mixing, found: "interleaved conversations do not mix"},
	{name: "States of others are taken", inside: wrongs{anyState: true}, found: "a State of another provider is refused"},
	{name: "States of the version before are taken", inside: wrongs{oldStates: true}, found: "a State of the version before is refused"},
	{name: "what was stored is refused", around: after(func(a *answer) {
		if a.before.Key == storedKey {
			a.err = io.ErrUnexpectedEOF
		}
	}), found: "a State of the present version is not refused, but Poll of ready"},
	{name: "a State that cannot be read panics", inside: wrongs{anyState: true}, found: "a damaged State does not panic: no input makes a provider panic"},
	{name: "a State that cannot be read waits", around: after(func(a *answer) {
		if a.call == "Poll" && a.err != nil {
			a.event, a.err = idp.Waiting{}, nil
		}
	}), found: "a truncated State is refused"},
	{name: "who called Sign is asked for the digest", around: askingAgain, found: "for another certificate only"},
	{name: "earlier States are refused", around: lastStateAlone, found: "a caller that crashed goes on with the State it stored last"},
	{name: "who never called Sign waits", around: silentAfterNeedDigest, found: "NeedDigest comes again if Sign was not called: the conversation has no end"},
}

// remembering keeps the secret part of a State in memory instead of the State.
func remembering(p idp.Provider) idp.Provider {
	secrets := map[string][]byte{}
	return twisted{p.(idp.Notifier), func(a *answer) { a.before.Secret = secrets[a.before.Key] }, func(a *answer) {
		if a.err == nil {
			secrets[a.state.Key], a.state.Secret = a.state.Secret, []byte("{}")
		}
	}}
}

// mixing stores only the last conversation.
func mixing(p idp.Provider) idp.Provider {
	var last []byte
	return twisted{p.(idp.Notifier), func(a *answer) { a.before.Secret = last }, func(a *answer) { last = a.state.Secret }}
}

// askingAgain returns NeedDigest once more after the person has signed.
func askingAgain(p idp.Provider) idp.Provider {
	asked := map[string]idp.Event{}
	return after(func(a *answer) {
		switch a.event.(type) {
		case idp.NeedDigest:
			asked[a.state.Key] = a.event
		case idp.Continue:
			if again := asked[a.state.Key]; again != nil {
				a.event = again
			}
		}
	})(p)
}

// lastStateAlone refuses a State after which a poll was answered with NeedDigest.
func lastStateAlone(p idp.Provider) idp.Provider {
	asked := map[string][]byte{}
	return after(func(a *answer) {
		if _, ok := a.event.(idp.NeedDigest); !ok || a.call != "Poll" {
			return
		}
		if bytes.Equal(asked[a.before.Key], a.before.Secret) {
			a.event = idp.Failed{Failure: idp.Failure{Code: idp.InvalidGrant}}
			return
		}
		asked[a.before.Key] = a.before.Secret
	})(p)
}

// silentAfterNeedDigest returns Waiting from a Poll after NeedDigest.
func silentAfterNeedDigest(p idp.Provider) idp.Provider {
	answered := map[string]bool{}
	return after(func(a *answer) {
		if _, ok := a.event.(idp.NeedDigest); !ok {
			return
		}
		if a.call == "Poll" && answered[a.state.Key] {
			a.event = idp.Waiting{}
		}
		answered[a.state.Key] = true
	})(p)
}

var wrongNotifications = []mistake{
	{name: "everything is authentic", around: reading(func(p idp.Notifier, r *http.Request) (string, func(idp.State) bool, error) {
		return r.URL.Path, func(idp.State) bool { return true }, nil
	}), found: "the notification is not one for the State of"},
	{name: "authentic without a secret", around: reading(func(p idp.Notifier, r *http.Request) (string, func(idp.State) bool, error) {
		return r.URL.Path, func(s idp.State) bool { return s.Key == r.URL.Path }, nil
	}), found: "a request without its header is no notification"},
	{name: "nothing is authentic", around: reading(func(p idp.Notifier, r *http.Request) (string, func(idp.State) bool, error) {
		return r.URL.Path, func(idp.State) bool { return false }, nil
	}), found: "is one for the State of its conversation"},
	{name: "another key", around: reading(func(p idp.Notifier, r *http.Request) (string, func(idp.State) bool, error) {
		_, authentic, err := p.Notification(r)
		return "key", authentic, err
	}), found: "the key is Begin's"},
	{name: "one secret for all", inside: wrongs{sharedSecret: true}, found: "each conversation has a secret of its own"},
	{name: "a body of any length", around: reading(func(p idp.Notifier, r *http.Request) (string, func(idp.State) bool, error) {
		io.Copy(io.Discard, r.Body)
		return p.Notification(r)
	}), found: "a body without an end is given up"},
}

// answer is a call with its result, to which a mistake is applied.
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

// twisted wraps a provider and makes a mistake.
type twisted struct {
	idp.Notifier
	before func(*answer) // before the call, with what it is given
	after  func(*answer)
}

// after wraps providers and changes their results.
func after(change func(*answer)) func(idp.Provider) idp.Provider {
	return func(p idp.Provider) idp.Provider {
		return twisted{p.(idp.Notifier), func(*answer) {}, change}
	}
}

// before wraps providers and changes their arguments.
func before(change func(*answer)) func(idp.Provider) idp.Provider {
	return func(p idp.Provider) idp.Provider {
		return twisted{p.(idp.Notifier), change, func(*answer) {}}
	}
}

// on wraps providers and changes their events of type E.
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

// twistedNotifier wraps a notifier and reads notifications with a mistake.
type twistedNotifier struct {
	idp.Notifier
	read func(p idp.Notifier, r *http.Request) (string, func(idp.State) bool, error)
}

func (p twistedNotifier) Notification(r *http.Request) (string, func(idp.State) bool, error) {
	return p.read(p.Notifier, r)
}

func reading(read func(p idp.Notifier, r *http.Request) (string, func(idp.State) bool, error)) func(idp.Provider) idp.Provider {
	return func(p idp.Provider) idp.Provider { return twistedNotifier{p.(idp.Notifier), read} }
}
