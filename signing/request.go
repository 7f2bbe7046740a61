package signing

import (
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
)

// Phase is how far a request has come. Each step is stored before the next one
// begins.
type Phase string

const (
	Starting Phase = "starting" // stored; the provider has not been asked, or not answered
	Waiting  Phase = "waiting"  // the provider was asked to sign
	Signed   Phase = "signed"   // the value is stored
	Complete Phase = "complete" // the signed document is stored
	Failed   Phase = "failed"   // there will be no signature
	Ended    Phase = "ended"    // the result was delivered, the start refused, or nobody came for it
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
	Place  string // City and Country in one line, as a PDF has it
	Level  ades.Level

	Format        Format
	Packing       Packing // of XML
	City, Country string  // which XML has apart

	Document   string // in storage.Documents
	Stamp      *Stamp // nil: the signature is not visible
	BusySignal string // empty: none
	Order      string // empty: the document is the request's own

	State    idp.State
	Pending  []byte    // a pades.Pending or xades.Pending, once the certificate is known
	Code     string    // verification code, once known
	Value    []byte    // the signature value
	Kept     []byte    // revisions in JSON that the document of an order, or one of XML, gets once they have all their evidence
	SignedAt time.Time // when the value was stored
	NextTry  time.Time // before it, completing is not tried again
	NextAsk  time.Time // before it, the provider has nothing new to say
	Failure  *idp.Failure
	Refused  bool // at the start; Failure says why

	// StartCode is the verification code that the start call answered with.
	StartCode string
	// StartExpires is until when the start call said that the request lives.
	StartExpires time.Time
	Key          *IdempotencyKey

	PolledAt time.Time
	Lease    Lease
	// Revision counts the changes of the record; a change of an outdated one fails.
	Revision int64
}

// IdempotencyKey names the start call that made a request (spec 1.8).
type IdempotencyKey struct {
	Client      string `json:"client"`
	Key         string `json:"key"`
	Fingerprint string `json:"fingerprint"` // of the body
}

// Lease is the right to call the provider and to deliver, for one at a time.
type Lease struct {
	Process string    `json:"process"` // that holds it; empty: nobody does
	Token   string    `json:"token"`   // of this one lease
	Until   time.Time `json:"until"`
}

// free says whether a lease can be had at now. alone says that no other process
// uses the store, so that the lease of another process is one of a dead one.
func (l Lease) free(now time.Time, process string, alone bool) bool {
	wrong := l.Until.Sub(now) > 20*time.Second // a clock was: no version takes a lease for that long
	return l.Process == "" || now.After(l.Until) || wrong || alone && l.Process != process
}

// given is the lease after it was given back. Its token stays, by which whoever had it
// knows what was stored by itself.
func (l Lease) given() Lease { return Lease{Token: l.Token} }

// abandonedAfter is the age at which a start call of the account clears a
// request (spec 3.6).
const abandonedAfter = 15 * time.Minute

// fail ends the request without a signature. A failure is final.
func (r *Request) fail(f idp.Failure) {
	r.Phase, r.Failure, r.Code = Failed, &f, ""
}

// pollable says whether there is something to poll for an account (spec 1.7).
func (r *Request) pollable(account string) bool {
	return r.Account == account && !r.ordered() && r.Phase != Ended
}

// over says whether it is known what came of the request.
func (r *Request) over() bool { return r.Phase == Failed || r.Phase == Ended }

// refused says whether the provider refused the start, so that there was never
// anything to poll.
func (r *Request) refused() bool { return r.Phase == Ended && r.Refused }

// repeats says whether the failure is answered until the request is cleared; every
// other one is answered once (spec 3.6).
func repeats(f *idp.Failure) bool { return f.Code == idp.ExpiredToken }
