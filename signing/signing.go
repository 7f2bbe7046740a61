// Package signing runs signing requests: one document and one signer, from the start call to the delivery
// of the signed document (spec 3.6).
//
// # Promises
//
// A signature that a person gave is never lost and never made twice. The request is stored before the
// provider is called, the signature value before it is used, and the signed document before it is
// delivered. Delivery reads the stored bytes, so an answer that was cut off is repeated to the byte. The
// provider is called and results are delivered under a lease in the store, so two polls or two servers
// never do it at once. A process may die between any two lines, and the store may become unavailable at any:
// the next poll continues from what is stored.
//
// Most signatures are completed by the poll that brought the value. One that takes longer, because a source
// of validation data is down, is completed by a job of the kinds that [Service.Handlers] names. The program
// that makes the service also runs these jobs.
//
// # Documents
//
// A signature is appended to a PDF. The signed document of XML is a new one: it is stored first, and
// replaces the one that was sent in the transaction that completes the request.
//
// The place of a visible signature is found at the start, in the document as it was sent, before the busy signal
// is taken. The standard stamp is drawn when the certificate is known.
//
// # Orders
//
// A document that several people sign belongs to an [Owner], such as package portal's, and each request to sign it is an
// [Order]. The owner calls the service, and the service calls the owner back in the transactions of its own changes:
//
//  1. The owner calls [Service.Start] with the order. The transaction that stores the request calls Order.Begin,
//     and stores a job of [DriveKind].
//  2. Start calls the identity provider, as for every request, and returns what the person has to be shown.
//  3. The job drives the request to its end, so that it is not polled: it asks the provider until the person has
//     answered. The owner may wait for that with [Service.Drive], and look with [Service.Progress].
//  4. Another job completes the signature. The transaction that appends it to the document, at once with all its
//     validation data, calls [Owner.Signed] and then [Owner.Ended].
//  5. A request that ends without a signature calls [Owner.Ended] alone. So does [Service.Cancel], in the transaction
//     of its caller.
//
// # Evidence
//
// Who was asked, by whom, over which digest, with which certificate and when is recorded in the evidence log,
// in the same transactions as the changes (evidence.go).
package signing

import (
	"context"
	"crypto"
	"crypto/x509"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/admission"
	"github.com/innsigli/innsigli/internal/promptlimit"
	"github.com/innsigli/innsigli/pades/inspect"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/storage"
)

var (
	// ErrFinished: the request has ended, was cleared, or does not exist.
	ErrFinished = errors.New("signing: request has finished or does not exist")
	// ErrKeyReused: the idempotency key was used with another body.
	ErrKeyReused = errors.New("signing: idempotency key used with another request")
	// ErrKeyInUse: the start call with that idempotency key is still running.
	ErrKeyInUse = errors.New("signing: request with that idempotency key is being started")
	// ErrFormat: the document is not a PDF, and the request is an order's or uses a signing method whose
	// identity provider makes the CMS itself (idp.Traits.CMS).
	ErrFormat = errors.New("signing: documents of the format are not signed with the signing method")
	// ErrLevel: the signing method makes signatures of level B alone, since the identity provider makes the
	// CMS itself (idp.Traits.CMS).
	ErrLevel = errors.New("signing: level is not available with the signing method")
	// ErrConflict is returned by a store for a change of an outdated record.
	ErrConflict = errors.New("signing: request was changed by another call")
)

// Store keeps requests and certificates. Methods that write join a transaction and answer
// storage.ErrNoTx outside one.
type Store interface {
	Certificates

	// CreateRequest adds a request; storage.ErrExists when its ID or its
	// idempotency key is taken.
	CreateRequest(ctx context.Context, r Request) error
	// Request returns a request; storage.ErrNotFound.
	Request(ctx context.Context, id string) (Request, error)
	// RequestByKey returns the request of a client's idempotency key;
	// storage.ErrNotFound.
	RequestByKey(ctx context.Context, client, key string) (Request, error)
	// UpdateRequest replaces the request whose stored Revision is one less than
	// r's; ErrConflict when it is another, storage.ErrNotFound.
	UpdateRequest(ctx context.Context, r Request) error
	// DeleteRequest removes a request and its idempotency key; one that does not
	// exist is no error.
	DeleteRequest(ctx context.Context, id string) error
	// Abandoned returns up to limit requests of an account that have not Ended and
	// were created before the time given, oldest first.
	Abandoned(ctx context.Context, account string, before time.Time, limit int) ([]Request, error)
	// RequestsBefore returns up to limit requests of all accounts that were created
	// before the time given, oldest first.
	RequestsBefore(ctx context.Context, before time.Time, limit int) ([]Request, error)
	// Unfinished returns up to limit requests of all accounts that have not Ended and were
	// created before the time given, oldest first.
	Unfinished(ctx context.Context, before time.Time, limit int) ([]Request, error)
}

// BusySignal holds a signal for one request at a time; *busysignal.Service is
// one. Both methods join the transaction in ctx.
type BusySignal interface {
	// Take takes the signal for a request. Its errors are passed to the caller of
	// Start.
	Take(ctx context.Context, account, id string, h busysignal.Holder) error
	// Release frees the signal if the request still has it.
	Release(ctx context.Context, id, request string) error
}

var _ BusySignal = (*busysignal.Service)(nil)

// Options are a service's choices. The zero value asks people for at most 290
// seconds, with two seconds between polls.
type Options struct {
	// Expiry bounds how long a request lives; 0 is 290 s, which is less than a
	// busy signal is held (spec 3.5).
	Expiry time.Duration
	// Interval is the least time between polls; 0 is 2 s.
	Interval time.Duration
	// IgnoreInterval also serves polls that come before the interval is over, as the sandbox does.
	IgnoreInterval bool
	// Sources returns the sources of validation data, and the roots that a signer's certificate must lead
	// to. It is called for each use, so that they may change while the service runs. nil: no root is
	// trusted.
	Sources func() ades.Sources
	// OnStep is called with each step of a request once it is stored, with faults of the provider that do
	// not end the request, with the reason why an attempt to complete a signature failed and is repeated
	// later, and with the reason why the end of a request could not be stored. nil: not called.
	OnStep func(context.Context, Step)
	// SingleProcess: no other process uses the store, so the leases of a process that died are void at
	// once and not only when they run out.
	SingleProcess bool
	// EndDelay is for how long the ends of requests whose documents were delivered are collected, to be stored in one
	// transaction. A poll meanwhile waits for the end. If the process dies before, the document is delivered again. 0: each
	// end is stored before Poll returns. The most is a second.
	EndDelay time.Duration
	// Renderer renders pages to find free places; several goroutines use it. nil: each stamp needs a place
	// that is named, else stamp.ErrNotDrawn is returned.
	Renderer stamp.Renderer
	// Rendering is the queue for the renderer, in which all wait that use it. nil: others do not use it.
	Rendering *admission.Queue
	// Owner has the documents that are signed to order. nil: orders fail.
	Owner Owner
	// Ledger counts the signatures that are made. nil: they are not counted.
	Ledger Ledger
	// CheckAccount returns an error if an account takes no new requests, which Start returns. It is called in the
	// transaction that stores a request. nil: all accounts take requests.
	CheckAccount func(ctx context.Context, account string) error
	// DocumentPolicy returns what the account wants to become of a PDF with warnings that Start is called with. It is
	// called in the transaction that stores a request. nil: every document is accepted.
	DocumentPolicy func(ctx context.Context, account string) (inspect.Policy, error)
	// Prompts limits how often a person is asked to sign. nil: there are no limits.
	Prompts *promptlimit.Limiter
	// AllowDigitalSignature accepts signers' certificates whose key usage has digitalSignature and not
	// nonRepudiation. Such certificates are usually for logins (EN 319 412-2 4.3.2).
	AllowDigitalSignature bool
	// Keep is how long requests and their idempotency keys are remembered, counted from the start; 0 is 24 h
	// (spec 7.2). The least is an hour, within which every phase of a request is over. A request that has not
	// ended after 24 h is ended, however long it is remembered.
	Keep time.Duration
	// Now tells the time; nil is the machine's clock, by which leases last in any case.
	Now storage.Clock
}

// storedHash is the hash that is computed while a document is stored, so that a first signature with it need
// not read the document again.
const storedHash = crypto.SHA256

// leaseTime is how long a lease lasts without being renewed, and with it an idempotency key whose server died. It is so
// short that a request whose holder dies, and whose next holder dies too, is completed within 20 seconds by a third. The
// version before took leases of 10 seconds.
const leaseTime = 6 * time.Second

// Service runs signing requests. It may be used by several goroutines, and by
// several processes on one store.
type Service struct {
	store     Store
	tx        storage.Transactor
	documents storage.Documents
	jobs      storage.Jobs
	log       storage.EvidenceLog
	provider  idp.Provider
	busy      BusySignal
	options   Options
	process   string // this one, in leases

	planning *planning
	polls    pollLimiter
	images   chan struct{} // full while an image is drawn
	xml      xmlMemory
	after    sync.WaitGroup  // writes that calls left for after their answer
	open     context.Context // ends when Close stops waiting for them
	close    context.CancelFunc
	closing  context.Context // ends when Close begins
	hurry    context.CancelFunc
	alone    alone
	ends     ends
}

// New returns a service.
func New(store Store, tx storage.Transactor, documents storage.Documents, jobs storage.Jobs, log storage.EvidenceLog, provider idp.Provider, busy BusySignal, options Options) *Service {
	if options.Expiry == 0 {
		options.Expiry = 290 * time.Second
	}
	if options.Interval == 0 {
		options.Interval = 2 * time.Second
	}
	if options.Keep == 0 {
		options.Keep = 24 * time.Hour
	}
	options.Keep = max(options.Keep, time.Hour)
	if options.CheckAccount == nil {
		options.CheckAccount = func(context.Context, string) error { return nil }
	}
	if options.DocumentPolicy == nil {
		options.DocumentPolicy = func(context.Context, string) (inspect.Policy, error) { return inspect.Warn, nil }
	}
	if options.Sources == nil {
		options.Sources = func() ades.Sources { return ades.Sources{Roots: x509.NewCertPool()} }
	}
	if options.Owner == nil {
		options.Owner = noOwner{}
	}
	open, end := context.WithCancel(context.Background())
	closing, hurry := context.WithCancel(open)
	return &Service{
		store: store, tx: tx, documents: documents, jobs: jobs, log: log, provider: provider, busy: busy,
		options: options, process: uuid.NewString(), open: open, close: end, closing: closing, hurry: hurry, images: make(chan struct{}, 1),
		planning: newPlanning(options), xml: newXMLMemory(),
	}
}

func (s *Service) now(ctx context.Context) time.Time { return s.options.Now.Now(ctx) }

// whole returns a time in the precision that every backend keeps.
func whole(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
