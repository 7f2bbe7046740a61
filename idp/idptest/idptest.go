// Package idptest is a test suite for implementations of [idp.Provider]. The author of a provider runs it from a test,
// with a test double of the identity provider:
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
//				Lacks:  map[idptest.Need]string{idptest.Renews: "certificates cannot be renewed"},
//			}
//		})
//	}
//
// Each test checks one rule of the contract of package idp, and is named after it. [Backend].Lacks has the reasons
// why a backend cannot provide something. The suite logs the tests that need it instead of running them. A test
// fails if something that it needs is missing without a reason.
//
// Every test encodes and decodes each State before its next use, as a store does, and checks each event by the rules of
// its type: values verify, codes do not change, and so on.
//
// The States that a version has stored are in golden files ([Golden]). Later versions continue with them, or refuse
// them and use another State.Version.
//
// A provider that uses no network can run the suite by [RunInBubble], in which waiting takes no time. With [Run], the
// people should answer quickly. Run the suite with -race, too.
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

// Backend is a provider under test, with its people.
type Backend struct {
	Provider idp.Provider
	Methods  []idp.Method // the methods that Provider supports

	// Person returns a person who behaves as needed, which is one of [Approves], [Late], [Refuses], [Silent] and
	// [Unknown]. Each call returns another person.
	Person func(t testing.TB, m idp.Method, n Need) idp.Person
	// Break turns a network fault on or off, during which no request reaches the identity provider.
	Break func(t testing.TB, on bool)
	// Renew gives a person another certificate, for another key.
	Renew func(t testing.TB, p idp.Person)
	// Reopen returns another Provider with the settings of the first, as in a server after a restart, or in a second
	// server.
	Reopen func(t testing.TB) idp.Provider
	// Notification returns the notification that the identity provider sends for the conversation with a state, if
	// Provider is an [idp.Notifier].
	Notification func(t testing.TB, s idp.State) *http.Request

	// Wait waits until the provider may be polled again. It may return earlier if the provider allows it. nil:
	// time.Sleep.
	Wait func(t testing.TB, d time.Duration)
	// Code returns the verification code that the provider derives from digests, or "" for a method with random codes.
	// nil: the codes of all methods are random.
	Code func(m idp.Method, digests []ades.Digest) string
	// Older has the States that this version and earlier ones of the provider have stored; see [Golden]. The
	// provider continues with each, or refuses one of an earlier Version by an error. It has to refuse Versions
	// without an example here.
	Older []Stored
	// Lacks has the reasons why the backend does not provide something.
	Lacks map[Need]string

	bubble bool // the test runs in a bubble, in which time passes only while all goroutines wait
}

// Need is what a test needs of a [Backend].
type Need string

// The people. Every backend has to provide Approves.
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

// has reports whether the backend provides something.
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

// Run runs the suite. It opens a backend for each test.
func Run(t *testing.T, open func(t testing.TB) Backend) {
	run(t, open, func(t *testing.T, f func(t *testing.T)) { f(t) })
}

// RunInBubble runs each test of the suite in a bubble of testing/synctest.
func RunInBubble(t *testing.T, open func(t testing.TB) Backend) {
	run(t, func(t testing.TB) Backend {
		b := open(t)
		b.bubble = true
		return b
	}, synctest.Test)
}

// run runs each rule for each method, by way of within.
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
		if reason, missing := rule.missing(t, b); missing {
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
	when  func(b Backend, m idp.Method) bool // reports whether the rule applies to a method; nil: to all
	test  func(t testing.TB, b Backend, m idp.Method)
}

// methods returns the methods of a backend to which the rule applies.
func (r rule) methods(b Backend) (methods []idp.Method) {
	for _, m := range b.Methods {
		if r.when == nil || r.when(b, m) {
			methods = append(methods, m)
		}
	}
	return methods
}

// missing reports whether the backend lacks something that the rule needs, and returns the reason.
func (r rule) missing(t testing.TB, b Backend) (reason string, missing bool) {
	for _, n := range r.needs {
		if reason, ok := b.Lacks[n]; ok {
			return fmt.Sprintf("there is not %s (%s)", n, reason), true
		}
		if !b.has(n) {
			t.Errorf("there is not %s, and Backend.Lacks does not say why", n)
			return "something is missing", true
		}
	}
	return "", false
}
