// Package idp defines the interface to identity providers: services that ask a person to sign a digest
// with an electronic ID on a phone. An adapter for such a service implements [Provider]. It knows nothing
// about documents.
//
// # A conversation
//
// The caller names the person to [Provider.Begin]. The signed data has to contain the signing certificate
// (EN 319 122-1 5.2.2), so the provider first returns [NeedDigest] with the certificate: from Begin, or from
// a later Poll if the person has to choose the certificate on the phone. The caller then prepares the digest,
// passes it to [Provider.Sign], and polls until the provider returns [Signed] or [Failed]. The provider
// returns NeedDigest again if the person turned out to have another certificate; the caller then prepares
// another digest. Poll also returns it again if the caller crashed before it could call Sign.
//
// Calls do not wait for the person, and the provider stores nothing between them. All that a conversation
// needs is in its [State], which the caller passes to the next call. Calls with the same state must not overlap.
//
// The caller stores the State of a call before it makes the next one, so that a conversation survives restarts and
// can continue in another process. There are two exceptions: the State that Poll returns with [Waiting], and that which
// Begin or Poll returns with NeedDigest. If the caller crashes before it has stored them, it polls with the State that it
// stored last; after Begin there is none, and the conversation is over before the person was asked to sign. An
// identity provider may give an answer only once. The adapter then returns a State with that answer and the
// event [Continue] before it sends a further request: the caller stores the State and polls immediately.
//
// # Certificates that are only in answers
//
// With some methods, nothing but the answer to a signing request has the certificate. Such a provider
// ([Traits].Remember) sends the person one more request to get it. The caller stores the certificate of
// NeedDigest and passes it to Begin the next time. If the answer then has another certificate, the provider
// returns NeedDigest again. If the answer is a CMS ([Traits].CMS), no certificate is needed.
package idp

import (
	"context"
	"crypto/x509"
	"net/http"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// Provider asks people to sign. A decision of the person or of the identity provider is an [Event]. An error
// is a fault of the provider or of the network, after which the caller may repeat the call; a [*FaultError]
// has the time to wait. If the State that Sign or Poll returns with an error has a Provider, the caller must
// store it. A Begin that returns an error has not started a conversation.
type Provider interface {
	// Traits describes a method.
	Traits(Method) Traits
	// Begin starts a conversation and asks for the person's certificate. key identifies the conversation among
	// those of the caller and becomes the Key of its State. known is the certificate that the caller stored after
	// an earlier conversation, or nil.
	Begin(ctx context.Context, key string, p Person, t Text, known *x509.Certificate) (State, Event, error)
	// Sign asks the person to sign. The caller may call it only after NeedDigest.
	Sign(ctx context.Context, s State, digests []ades.Digest) (State, Event, error)
	// Poll returns the next event of the conversation.
	Poll(ctx context.Context, s State) (State, Event, error)
}

// Notifier is a Provider whose identity provider sends a notification when an answer is available, such as a
// ping of OpenID CIBA.
type Notifier interface {
	Provider
	// Notification reads a notification. It returns the Key of the conversation that the notification is about,
	// and a function that reports whether the sender knows the secret of the conversation with a State.
	Notification(r *http.Request) (key string, authentic func(State) bool, err error)
}

// Traits describe a method of a provider.
type Traits struct {
	// Algorithm is the algorithm of digests; zero: any that fits the certificate's key.
	Algorithm ades.Algorithm
	// Remember tells the caller to store the certificate of NeedDigest for the next conversation with the same
	// person and phone, as long as the certificate is valid.
	Remember bool
	// CMS means that NeedDigest has no certificate, that the digest is that of the document by Algorithm.Hash,
	// and that the value is a detached SignedData (RFC 5652) that contains the certificate.
	CMS bool
	// ByPhone means that the provider finds the person by the phone number alone, so that the certificate may have
	// another kennitala than Person.
	ByPhone bool
}

// Text is the text that the phone shows.
type Text struct {
	Document string `json:"document"` // the document's name
	Reason   string `json:"reason"`
}

// State is the state of a conversation between calls.
type State struct {
	Provider string    `json:"provider"`
	Version  int       `json:"version"`
	Key      string    `json:"key"`              // identifies the conversation: the key of Begin
	Public   []byte    `json:"public,omitempty"` // for the provider alone
	Secret   []byte    `json:"secret,omitempty"` // for the provider alone; a store for production encrypts it
	Expires  time.Time `json:"expires"`
}

// Event is the outcome of a call: [Waiting], [NeedDigest], [Continue], [Signed] or [Failed]. The last two
// end the conversation.
type Event interface{ event() }

// Waiting means that the person has not answered yet.
type Waiting struct {
	// Code is the verification code of 4 digits that the phone shows; empty while it is not known.
	Code string
	// RetryAfter is the time to wait before the next Poll; 0: the caller uses an interval of its own.
	RetryAfter time.Duration
	// SlowDown means that the provider was polled too often. The caller may tell its client.
	SlowDown bool
	// Description is the provider's description, unchanged; may be empty.
	Description string
}

// NeedDigest means that the certificate is known and that the caller can call Sign.
type NeedDigest struct {
	Certificate *x509.Certificate   // nil with Traits.CMS
	Chain       []*x509.Certificate // further certificates from the provider
	// Code is the verification code if it is known before the digest, as when the adapter draws it.
	Code string
}

// Signed means that the person approved.
type Signed struct {
	Values [][]byte // one for each digest of Sign, in that order: ECDSA in DER; with Traits.CMS the CMS
}

// Failed means that the conversation has ended without a signature.
type Failed struct {
	Failure
	// Cause is for the operator's log. It is set if neither the person nor the identity provider decided to end
	// the conversation, and contains neither personal data nor secrets. It may be nil.
	Cause error
}

// Continue means that the State contains an answer that the identity provider does not give again. The caller
// must store the State and call Poll immediately.
type Continue struct {
	// Answer means that it is the person's answer to Sign, so that the caller's request can no longer expire
	// for lack of an answer.
	Answer bool
}

// FaultError is an error of a Provider with the time to wait before the call is repeated.
type FaultError struct {
	RetryAfter time.Duration
	Err        error
}

// TooManyRequestsError means that a person may not be asked now, because of a limit of the service or of the identity
// provider. [Provider.Begin] returns it, and Sign before the person was asked for anything; after that, such an answer of
// the identity provider is a [*FaultError]. The person was not asked, and Begin may be called again after RetryAfter.
type TooManyRequestsError struct {
	RetryAfter time.Duration
	Err        error
}

func (e *TooManyRequestsError) Error() string { return e.Err.Error() }
func (e *TooManyRequestsError) Unwrap() error { return e.Err }

func (e *FaultError) Error() string { return e.Err.Error() }
func (e *FaultError) Unwrap() error { return e.Err }

func (Waiting) event()    {}
func (NeedDigest) event() {}
func (Signed) event()     {}
func (Failed) event()     {}
func (Continue) event()   {}
