package idptest

import (
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// mistake is a provider that is wrong in one thing.
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
		found: "a code was shown before somebody signs"},
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
		{name: "a renewed certificate is missed", inside: wrongs{missesRenewal: true}, found: "a certificate that was renewed since is found out: value 0"},
		{name: "a certificate renewed in the middle is missed", inside: wrongs{missesRenewal: true}, found: "never signed for as the earlier one: value 0"},
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
	{name: "impatience", around: impatient, found: "who asks too early is not refused"},
	{name: "a call that waits", around: blocking, found: "while there is no answer the event is Waiting"},
	{name: "a busy provider refuses", around: busy, found: "conversations go on at the same time"},
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
	{name: "a fault ends the conversation", inside: wrongs{fatalFaults: true}, found: "a fault on the way to the provider passes: the State is good"},
	{name: "an ended context ends the conversation", around: after(func(a *answer) {
		if a.ctx.Err() != nil {
			a.event, a.err = idp.Failed{Failure: idp.Failure{Code: idp.CommunicationError}}, nil
		}
	}), found: "who calls with an ended context is answered promptly: the State is good"},
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

// impatient refuses who asks twice in a second.
func impatient(p idp.Provider) idp.Provider {
	var last time.Time
	return after(func(a *answer) {
		if _, ok := a.event.(idp.Waiting); ok && a.call == "Poll" && time.Since(last) < time.Second { // time: virtual; mistakes are made in bubbles
			a.event = idp.Failed{Failure: idp.Failure{Code: idp.InvalidRequest}}
		}
		last = time.Now()
	})(p)
}

// busy takes a second for each call, and no other call meanwhile.
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

// blocking comes back from a call when the person has answered.
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
