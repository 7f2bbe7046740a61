// Package signing is the life of a signing request: one document, one signer,
// from the start call to the delivery of the signed document (spec 3.6).
//
// A signature that is to be seen has its place found at the start, in the document as it was
// sent, and before anything is held; the standard stamp is drawn when the certificate is known.
//
// # What it promises
//
// A signature that a person gave is never lost and never made twice. The request
// is stored before the provider is called, the signature value before it is used,
// and the signed document before it is delivered; delivery reads the stored bytes,
// so an answer that was cut off is repeated to the byte. The provider is called
// and results are delivered under a lease in the store, so two polls or two
// servers never do it at once. A process may die between any two lines, and the store
// may go away at any: the next poll goes on from what is stored.
//
// Most signatures are completed by the poll that brought the value. What takes longer,
// because a source of evidence is down, is a job of the kinds that [Service.Handlers]
// names; whoever runs the service runs them too.
//
// A PDF grows by its signature. The signed document of XML is another one: it is stored first, and
// takes the place of the one that was sent in the transaction that completes the request.
//
// A document that several people sign is its [Owner]'s, and each request for it an [Order]. A job
// drives that to its end, so that nobody has to poll. Its signature comes into the document in one
// piece with all its evidence, in the transaction in which the owner hears of it.
//
// Who was asked, by whom, over which digest, with which certificate and when is recorded in
// the evidence log, in the transactions in which it happens (facts.go).
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
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/storage"
)

var (
	// ErrFinished: the request has ended, was cleared, or never existed.
	ErrFinished = errors.New("signing: request has finished or does not exist")
	// ErrKeyReused: the idempotency key came with another body.
	ErrKeyReused = errors.New("signing: idempotency key used with another request")
	// ErrKeyInUse: the start call with that idempotency key is still running.
	ErrKeyInUse = errors.New("signing: request with that idempotency key is being started")
	// ErrFormat: only PDF documents are signed to order, and with a signing method whose identity
	// provider makes the CMS itself (idp.Traits.CMS).
	ErrFormat = errors.New("signing: documents of the format are not signed with the signing method")
	// ErrLevel: with the signing method there is no level but B, since the identity provider
	// makes the signature itself (idp.Traits.CMS).
	ErrLevel = errors.New("signing: level is not to be had with the signing method")
	// ErrConflict is a store's answer to a change of an outdated record.
	ErrConflict = errors.New("signing: request was changed meanwhile")
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
	// AnyPace answers polls that come too early too, as the sandbox does.
	AnyPace bool
	// Sources are where evidence comes from, and the roots that a signer's certificate
	// has to lead to. They are asked for anew each time, so that they may change while
	// the service runs. nil: nothing is trusted.
	Sources func() ades.Sources
	// Told is called with each step of a request once it is stored, with faults of the provider
	// that end nothing, and with the reason why a request could not be completed and is tried
	// again later. nil: nobody is told.
	Told func(context.Context, Step)
	// Alone: no other process uses the store, so the leases of a process that died
	// are void at once and not only when they run out.
	Alone bool
	// Renderer draws the pages on which free places are looked for; it is used by several
	// goroutines. nil: there are none (stamp.ErrNotDrawn), so each stamp needs a place that is
	// named.
	Renderer stamp.Renderer
	// Owner has the documents that are signed to order. nil: nobody has, and none is signed.
	Owner Owner
	// Ledger counts the signatures that are made. nil: nobody does.
	Ledger Ledger
	// AllowDigitalSignature accepts signers' certificates whose key usage has digitalSignature and not nonRepudiation. People
	// log in with such, as a rule, and sign with others (EN 319 412-2 4.3.2).
	AllowDigitalSignature bool
	// Keep is how long requests and their idempotency keys are remembered, counted from the
	// start; 0 is 24 h (spec 7.2). Less than an hour counts as one, in which all that
	// a request has time for is over. A request that nobody finished ends after 24 h, however
	// long it is remembered.
	Keep time.Duration
}

// storedHash is the hash that documents are stored with, so that the first signature
// with it, as most are, need not read them again.
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

	pace   pace
	images chan struct{}   // one is drawn at a time
	plans  chan struct{}   // one for each document that is planned on
	xml    rooms           // for what is read
	after  sync.WaitGroup  // what calls have left to be done
	open   context.Context // ends when the service does not wait for that any longer
	close  context.CancelFunc
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
	if options.Sources == nil {
		options.Sources = func() ades.Sources { return ades.Sources{Roots: x509.NewCertPool()} }
	}
	if options.Owner == nil {
		options.Owner = unowned{}
	}
	open, end := context.WithCancel(context.Background())
	return &Service{
		store: store, tx: tx, documents: documents, jobs: jobs, log: log, provider: provider, busy: busy,
		options: options, process: uuid.NewString(), open: open, close: end, images: make(chan struct{}, 1), plans: make(chan struct{}, plansAtOnce),
		xml: newRooms(),
	}
}
