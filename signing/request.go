package signing

import (
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
)

// Phase is the phase of a request. Each is stored before the next one begins.
type Phase string

const (
	Starting Phase = "starting" // stored; the provider was not asked, or has not answered
	Waiting  Phase = "waiting"  // the provider was asked to sign
	Signed   Phase = "signed"   // the value is stored
	Complete Phase = "complete" // the signed document is stored
	Failed   Phase = "failed"   // there will be no signature
	Ended    Phase = "ended"    // the result was delivered, the start refused, or the request abandoned
)

// Request is a signing request from its start to its delivery.
type Request struct {
	ID        string // UUID, the pollingId
	Account   string
	CreatedAt time.Time
	UpdatedAt time.Time
	Expires   time.Time
	Phase     Phase

	Person idp.Person
	Text   idp.Text
	Place  string // City and Country in one line, for PDF
	Level  ades.Level

	Format        Format
	Packing       Packing // of XML
	City, Country string  // apart, for XML

	Document   string // in storage.Documents
	Stamp      *Stamp // nil: the signature is not visible
	BusySignal string // empty: none
	Order      string // empty: the document is the request's own

	State    idp.State
	Pending  []byte    // a pades.Pending or xades.Pending, once the certificate is known
	Code     string    // verification code, once known
	Value    []byte    // the signature value
	Draft    []byte    // of an order or XML: revisions in JSON that go into the document once they are complete
	SignedAt time.Time // when the value was stored
	NextTry  time.Time // no attempt to complete the signature is made before it
	NextAsk  time.Time // the provider is not asked before it
	Failure  *idp.Failure
	Refused  bool // at the start; Failure says why

	StartCode    string    // verification code that the start call answered with
	StartExpires time.Time // expiry that the start call answered with
	Key          *IdempotencyKey

	PolledAt time.Time
	Lease    Lease
	// Revision counts the changes of the record; a change of an outdated revision fails.
	Revision int64
}

// IdempotencyKey identifies the start call that made a request (spec 1.8).
type IdempotencyKey struct {
	Client      string `json:"client"`
	Key         string `json:"key"`
	Fingerprint string `json:"fingerprint"` // of the body
}

// Lease is the right to call the provider, to complete the signature and to deliver the result. One
// session has it at a time.
type Lease struct {
	Process string    `json:"process"` // that holds it; empty: the lease is free
	Token   string    `json:"token"`   // of the session
	Until   time.Time `json:"until"`
}

// free reports whether the lease can be taken at now. singleProcess: no other process uses the
// store, so that a lease of another process is void.
func (l Lease) free(now time.Time, process string, singleProcess bool) bool {
	wrong := l.Until.Sub(now) > 20*time.Second // no version takes a lease for that long: a clock was wrong
	return l.Process == "" || now.After(l.Until) || wrong || singleProcess && l.Process != process
}

// released returns the lease after its release. The token stays: by it the session that had the lease
// recognizes what it has stored itself.
func (l Lease) released() Lease { return Lease{Token: l.Token} }

// abandonedAfter is the age at which a later start call of the account clears a request (spec 3.6).
const abandonedAfter = 15 * time.Minute

// fail ends the request without a signature. A failure is final.
func (r *Request) fail(f idp.Failure) {
	r.Phase, r.Failure, r.Code = Failed, &f, ""
}

// pollable reports whether the account may poll the request (spec 1.7).
func (r *Request) pollable(account string) bool {
	return r.Account == account && !r.ordered() && r.Phase != Ended
}

// decided reports whether the request has failed or ended.
func (r *Request) decided() bool { return r.Phase == Failed || r.Phase == Ended }

// refused reports whether the provider refused the start, so that the client got no polling ID.
func (r *Request) refused() bool { return r.Phase == Ended && r.Refused }

// repeats reports whether polls get the failure until the request is cleared. Every other failure is
// answered once (spec 3.6).
func repeats(f *idp.Failure) bool { return f.Code == idp.ExpiredToken }
