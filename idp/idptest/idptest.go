// Package idptest is the suite that every [idp.Provider] passes. The author of a provider
// runs it from a test of their own, against the real provider's test double:
//
//	func TestProvider(t *testing.T) {
//		idptest.Run(t, func(t testing.TB) idptest.Backend {
//			double := startDouble(t) // stopped by t.Cleanup
//			return idptest.Backend{
//				Provider: openProvider(t, double),
//				Methods:  []idp.Method{idp.App, idp.SIM},
//				Person: func(t testing.TB, m idp.Method, n idptest.Need) idp.Person {
//					return double.add(m, n == idptest.Refuses, ...)
//				},
//				Break:  func(t testing.TB, on bool) { ... },
//				Reopen: func(t testing.TB) idp.Provider { return openProvider(t, double) },
//				Older:  idptest.Golden(t, "testdata/state-1", nil),
//				Lacks:  map[idptest.Need]string{idptest.Renews: "its people have one certificate for good"},
//			}
//		})
//	}
//
// A test is a rule of the contract of package idp, and bears its name. What the provider
// lacks is said in [Backend].Lacks; the tests that need it are not run, and the log says
// which and why. What is missing without a reason fails.
//
// In every test each State is encoded and decoded before its next use, as by a store, and
// every event is held to the rules of its kind: values verify, codes are constant, and so on.
//
// What a version has stored is kept in golden files ([Golden]): later ones go on with it, or
// refuse it under another State.Version.
//
// A provider that uses no network may run the suite by [RunInBubble], where waiting takes no
// time; with [Run] the people should be quick. Each is worth running with -race.
package idptest

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
)

// Backend is a provider under test, with the people behind it.
type Backend struct {
	Provider idp.Provider
	Methods  []idp.Method // those that it has

	// Person returns somebody who does what is needed, one of [Approves], [Late], [Refuses],
	// [Silent] and [Unknown]: another person at each call.
	Person func(t testing.TB, m idp.Method, n Need) idp.Person
	// Break makes the way to the provider faulty: nothing arrives there. Or good again.
	Break func(t testing.TB, on bool)
	// Renew gives the person another certificate, for another key.
	Renew func(t testing.TB, p idp.Person)
	// Reopen returns another Provider with the settings of the first, as a server has after a
	// restart, or a second server.
	Reopen func(t testing.TB) idp.Provider
	// Notification is what the provider sends of the conversation with the state, where
	// Provider is an [idp.Notifier].
	Notification func(t testing.TB, s idp.State) *http.Request

	// Wait lets the time pass after which the provider may be asked again; it may come back
	// earlier where the provider can bear it. nil is time.Sleep.
	Wait func(t testing.TB, d time.Duration)
	// Code is the verification code of the digests by the provider's rule, "" for a method of
	// which the code is drawn. nil: it is with all.
	Code func(m idp.Method, digests []ades.Digest) string
	// Older is what this version and earlier ones of the provider have stored; see [Golden].
	// Each goes on as it would have, or is refused by an error if its State has an earlier
	// Version. Versions of which nothing is here have to be refused.
	Older []Stored
	// Lacks says why the provider cannot be shown with something.
	Lacks map[Need]string

	virtual bool // time: it passes only while a call waits
}

// Need is what a test needs of a [Backend].
type Need string

// The people. Approves is the one that no provider can lack.
const (
	Approves Need = "a person who approves"
	Late     Need = "a person who approves, but not at once"
	Refuses  Need = "a person who refuses"
	Silent   Need = "a person who never answers" // and a conversation that expires soon
	Unknown  Need = "a person whom the provider does not know"
)

// The functions of Backend.
const (
	Breaks   Need = "Backend.Break"
	Renews   Need = "Backend.Renew"
	Reopens  Need = "Backend.Reopen"
	Notifies Need = "Backend.Notification"
	Keeps    Need = "Backend.Older"
)

func (b Backend) has(n Need) bool {
	switch n {
	case Breaks:
		return b.Break != nil
	case Renews:
		return b.Renew != nil
	case Reopens:
		return b.Reopen != nil
	case Notifies:
		return b.Notification != nil
	case Keeps:
		return b.Older != nil
	}
	return b.Person != nil
}

// Run runs the suite. Each test opens a backend of its own.
func Run(t *testing.T, open func(t testing.TB) Backend) {
	run(t, open, func(t *testing.T, f func(t *testing.T)) { f(t) })
}

// RunInBubble runs each test of the suite in a bubble of testing/synctest.
func RunInBubble(t *testing.T, open func(t testing.TB) Backend) {
	run(t, func(t testing.TB) Backend {
		b := open(t)
		b.virtual = true
		return b
	}, synctest.Test)
}

func run(t *testing.T, open func(t testing.TB) Backend, within func(t *testing.T, f func(t *testing.T))) {
	b := open(t)
	if b.Provider == nil || b.Person == nil || len(b.Methods) == 0 {
		t.Fatal("Backend has no Provider, no Person or no Methods")
	}
	for _, rule := range rules() {
		methods := rule.methods(b)
		if len(methods) == 0 {
			continue
		}
		if reason, lacking := rule.lacking(t, b); lacking {
			t.Logf("not run, because %s: %s", reason, rule.name)
			continue
		}
		t.Run(rule.name, func(t *testing.T) {
			for _, m := range methods {
				t.Run(string(m), func(t *testing.T) {
					within(t, func(t *testing.T) { rule.test(t, open(t), m) })
				})
			}
		})
	}
}

func rules() []rule {
	return slices.Concat(answers, certificates, losses, faults, states, stored, notifications, together)
}

// rule is a rule of the contract with its test.
type rule struct {
	name  string
	needs []Need
	when  func(b Backend, m idp.Method) bool // nil: it is one for all methods
	test  func(t testing.TB, b Backend, m idp.Method)
}

// methods are those that the rule is for.
func (r rule) methods(b Backend) (methods []idp.Method) {
	for _, m := range b.Methods {
		if r.when == nil || r.when(b, m) {
			methods = append(methods, m)
		}
	}
	return methods
}

// lacking says what of the rule's needs is not there, and why.
func (r rule) lacking(t testing.TB, b Backend) (reason string, lacking bool) {
	for _, n := range r.needs {
		if why, lacks := b.Lacks[n]; lacks {
			return fmt.Sprintf("there is not %s (%s)", n, why), true
		}
		if !b.has(n) {
			t.Errorf("there is not %s, and Backend.Lacks does not say why", n)
			return "something is missing", true
		}
	}
	return "", false
}
