// Package idp is the seam to identity providers: services that ask one person to
// sign a digest with an electronic ID on a phone. An adapter implements
// [Provider]; it knows nothing of documents.
//
// # A conversation
//
// [Provider.Begin] names the person. Since the signing certificate has to be in
// what is signed (EN 319 122-1 5.2.2), the provider first answers [NeedDigest]
// with the certificate: at once, or in a later Poll when the person has to choose
// it on the phone. The caller then prepares the digest and hands it over with
// [Provider.Sign], and polls until the answer is [Signed] or [Failed]. NeedDigest
// may come again when the person turned out to have another certificate; the
// digest is then prepared anew. It also comes again, from Poll, when the caller
// died before it could call Sign.
//
// Calls return at once and hold nothing: all that a conversation needs travels in
// its [State], which the caller stores after each call and passes to the next, so
// a conversation survives restarts and may go on in another process. Calls for one
// state must not overlap. An answer that the identity provider gives only once is in the State
// before anything else is asked of it: the event is [Continue] then, after which the caller
// stores the State and polls at once.
//
// # Certificates that are known afterwards
//
// Of some methods an answer tells the certificate, and nothing before it does. Such a provider
// ([Traits].Remember) asks the person once more to learn it; the caller keeps the certificate
// of NeedDigest and names it to Begin the next time. Should the answer then come with another
// one, NeedDigest comes again. Where a whole CMS is the answer ([Traits].CMS), no certificate
// is needed.
package idp

import (
	"context"
	"crypto/x509"
	"net/http"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// Method is how the person is reached (spec 3.2).
type Method string

const (
	App Method = "IdpApp" // the provider's app
	SIM Method = "IdpSim" // the electronic ID on the phone's SIM card
)

// Provider asks people to sign. Its errors are faults of its own or of the way to
// it, after which the same call may be tried again ([*FaultError] says when); what the person
// or the provider decided is an [Event]. The State that Sign and Poll return with an error
// is still to be stored, where it has a Provider; a Begin that failed has begun
// nothing.
type Provider interface {
	// Traits says what to expect of a method.
	Traits(Method) Traits
	// Begin asks for the person's certificate. key names the conversation among the caller's,
	// and is the Key of its State. known is the certificate kept from an earlier one, or nil.
	Begin(ctx context.Context, key string, p Person, t Text, known *x509.Certificate) (State, Event, error)
	// Sign asks the person to sign. It is called after NeedDigest only.
	Sign(ctx context.Context, s State, digests []ades.Digest) (State, Event, error)
	// Poll asks how far it is.
	Poll(ctx context.Context, s State) (State, Event, error)
}

// Notifier is a Provider that the identity provider tells when there is news, as by a ping
// of OpenID CIBA.
type Notifier interface {
	Provider
	// Notification reads what the identity provider sent: which conversation it is about, by
	// its Key, and whether the sender knows the secret of the conversation with that State.
	Notification(r *http.Request) (key string, authentic func(State) bool, err error)
}

// Traits are what callers need to know of a provider's method beforehand.
type Traits struct {
	// Algorithm restricts what is signed; zero leaves it to the certificate's key.
	Algorithm ades.Algorithm
	// Remember: the certificate of NeedDigest is worth keeping for the next conversation
	// with the same person and phone, as long as it is valid.
	Remember bool
	// CMS: NeedDigest has no certificate, what is signed is the digest of the document by
	// Algorithm.Hash, and the value is a detached SignedData (RFC 5652) with the certificate
	// in it.
	CMS bool
	// ByPhone: the phone number alone finds the person, so the certificate may
	// name another kennitala than Person does.
	ByPhone bool
}

// Person is who is asked to sign.
type Person struct {
	Account   string `json:"account"` // on whose behalf
	Method    Method `json:"method"`
	Kennitala string `json:"kennitala"`       // without hyphens
	Phone     string `json:"phone,omitempty"` // as the client wrote it; for SIM
}

// Text is what the phone shows.
type Text struct {
	Document string `json:"document"` // its name
	Reason   string `json:"reason"`
}

// State is a conversation between calls.
type State struct {
	Provider string    `json:"provider"`
	Version  int       `json:"version"`
	Key      string    `json:"key"`              // names the conversation: Begin's
	Public   []byte    `json:"public,omitempty"` // the provider's own
	Secret   []byte    `json:"secret,omitempty"` // the provider's own; a store for production seals it
	Expires  time.Time `json:"expires"`
}

// Event is where a conversation stands: [Waiting], [NeedDigest], [Signed] or
// [Failed]; or [Continue].
type Event interface{ event() }

// Waiting: the person has not answered.
type Waiting struct {
	// Code is the 4-digit verification code that the phone shows, empty while it
	// is not known.
	Code string
	// RetryAfter is how long there will be nothing new to hear, where the provider knows;
	// 0 leaves it to the caller's own interval.
	RetryAfter time.Duration
	// SlowDown: the provider was asked too often, which the client may hear.
	SlowDown bool
	// Description is the provider's own words, passed on unchanged; empty: it said none.
	Description string
}

// NeedDigest: the certificate is known, and Sign can be called.
type NeedDigest struct {
	Certificate *x509.Certificate   // nil with Traits.CMS
	Chain       []*x509.Certificate // further certificates that the provider gave
	// Code is the verification code where it is known before the digest, as it is
	// when the provider's adapter draws it.
	Code string
}

// Signed: the person approved.
type Signed struct {
	Values [][]byte // for the digests of Sign, in their order; ECDSA in DER, with Traits.CMS the CMS
}

// Failed: the conversation has ended without a signature.
type Failed struct {
	Failure
	// Cause is for the operator's log, where it is not the person's or the provider's decision
	// that ended it. It tells nothing of persons and no secret. nil: there is no more to say.
	Cause error
}

// Continue: the State has what cannot be had again. It is to be stored, and Poll to be called
// at once.
type Continue struct {
	// Answer: it is what the person answered to Sign, so that a request does not expire any
	// more for want of an answer.
	Answer bool
}

// FaultError is an error of a Provider that says when the same may be tried again.
type FaultError struct {
	RetryAfter time.Duration
	Err        error
}

func (e *FaultError) Error() string { return e.Err.Error() }
func (e *FaultError) Unwrap() error { return e.Err }

func (Waiting) event()    {}
func (NeedDigest) event() {}
func (Signed) event()     {}
func (Failed) event()     {}
func (Continue) event()   {}
