package signing

import (
	"context"
	"crypto/x509"
	"errors"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/storage"
)

// ErrUnwanted is returned by [Owner.Signed] to refuse a signature that comes too late. The request ends
// without it.
var ErrUnwanted = errors.New("signing: the owner of the document refuses the signature")

// Order makes a request sign a document of an [Owner], which several people sign one after another. The request
// is not polled: a job drives it to its end.
type Order struct {
	// ID is the owner's ID of the order. It should contain a fencing number, by which the owner tells the
	// calls for this order from those for an earlier one.
	ID    string
	Stamp *Stamp // as [Service.Plan] planned it; nil: the signature is not visible
	// Signer names the participant who signs, for [Options].Prompts. It is not stored.
	Signer string
	// Begin is called in the transaction that stores the request of the order, which may be run more than once, and
	// joins it. After an error there is no request, and [Service.Start] returns the error. After nil, the owner accepts
	// no other order for the document until [Owner.Ended] is called for this one.
	Begin func(ctx context.Context, request string) error
}

// Owner has documents that are signed to order. The service calls its methods in the transactions of the changes
// that they report, which may be run more than once. They join the transaction of their context. An error rolls it
// back.
type Owner interface {
	// Signed is called in the transaction that appends the signature to the document. After [ErrUnwanted] the
	// request ends without a signature, after another error it is tried again.
	Signed(ctx context.Context, order string, s Signature) error
	// Ended is called once for an order that has begun, in the transaction in which its request ends, after
	// Signed if there is a signature. Neither is called for the order again.
	Ended(ctx context.Context, order string) error
}

// Signature is a signature of a person under the document of an order.
type Signature struct {
	Request     string // ID
	Certificate *x509.Certificate
	Value       []byte    // as the identity provider gave it
	At          time.Time // when it was given
	Bytes       int64     // by which the document grew
}

// Ledger counts signatures. AddSignature joins the transaction in which a signed document is stored, the
// last but for [Owner.Ended] to do so; ordered says that it was signed to order.
type Ledger interface {
	AddSignature(ctx context.Context, account, request string, ordered bool, at time.Time) error
}

// noOwner is the Owner of a service that has none.
type noOwner struct{}

var errNoOwner = errors.New("signing: order for a service without an owner")

func (noOwner) Signed(context.Context, string, Signature) error { return ErrUnwanted }
func (noOwner) Ended(context.Context, string) error             { return nil }

// orderCompleteFor is how long the service tries to complete the signature of an order, which no client waits
// for in a call: the signature is put into the document also after a long outage of a source of validation
// data. During the outage no other signature could be completed either.
const orderCompleteFor = 12 * time.Hour

func (r *Request) ordered() bool { return r.Order != "" }

// completeFor returns how long the service tries to complete the signature.
func (r *Request) completeFor() time.Duration {
	if r.ordered() {
		return orderCompleteFor
	}
	return clientCompleteFor
}

// order begins an order, and stores the job that drives its request. It returns the identity of the document, which no
// other request signs from then on.
func (s *Service) order(ctx context.Context, r *Request, o *Order) (found content, err error) {
	if s.options.Owner == (noOwner{}) {
		return found, errNoOwner
	}
	if err := o.Begin(ctx, r.ID); err != nil {
		return found, err
	}
	if err := s.enqueue(ctx, DriveKind, r, r.CreatedAt.Add(s.options.Interval)); err != nil {
		return found, err
	}
	return s.identify(ctx, r.Document)
}

// unwanted is the failure of a signature that the owner refuses, or whose document has changed.
var unwanted = idp.Failure{Code: idp.InternalError, Description: "The document no longer allows the signature."}

// notifyOwner tells the owner of the document about the signature, and then the ledger. It ends the request of
// an order, which has no client that polls for the result.
func (sess *session) notifyOwner(ctx context.Context, r *Request, signature Signature) error {
	if r.ordered() {
		if err := sess.options.Owner.Signed(ctx, r.Order, signature); err != nil {
			return err
		}
	}
	if ledger := sess.options.Ledger; ledger != nil {
		if err := ledger.AddSignature(ctx, r.Account, r.ID, r.ordered(), sess.now(ctx)); err != nil {
			return err
		}
	}
	if r.ordered() {
		return sess.end(ctx, r)
	}
	return nil
}

// Cancel removes the request of an order whatever it is at; one that does not exist is no error.
// It joins the transaction of its context, and calls [Owner.Ended] in it. A signature that the person
// gives from then on goes nowhere.
func (s *Service) Cancel(ctx context.Context, request string) error {
	return s.inTx(ctx, func(ctx context.Context) error {
		r, err := s.store.Request(ctx, request)
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return s.remove(ctx, r)
	})
}

// cancelled reports whether an error came because the request was deleted.
func (s *Service) cancelled(ctx context.Context, request string, err error) bool {
	if !errors.Is(err, storage.ErrNotFound) {
		return false
	}
	_, err = s.store.Request(context.WithoutCancel(ctx), request)
	return errors.Is(err, storage.ErrNotFound)
}

// DriveKind is the kind of the jobs that drive the requests of orders. Each run makes one short step.
const DriveKind = "signing.drive"

// Progress is the state of an order's request.
type Progress struct {
	Order   string       // its ID
	Done    bool         // it has ended
	Failure *idp.Failure // why without a signature
	Code    string       // verification code, empty when not known
	Given   bool         // the person has signed, and the signature is being completed
	Expires time.Time    // when the server stops waiting for the person
}

// Progress returns the state of an order's request, and [ErrFinished] when it is not remembered any more.
func (s *Service) Progress(ctx context.Context, request string) (Progress, error) {
	r, err := s.request(ctx, request)
	if errors.Is(err, storage.ErrNotFound) {
		return Progress{}, ErrFinished
	}
	return Progress{Order: r.Order, Done: r.Phase == Ended, Failure: r.Failure, Code: r.Code, Given: r.Phase == Signed, Expires: r.Expires}, err
}

// Drive drives the request of an order to its end, as its job does, and waits for that. If the context or an
// error ends it before, the request is left to the job. A provider that names no time is asked again at once, and then
// after growing pauses: a sandbox user without a delay has answered when the provider is asked for the second time.
func (s *Service) Drive(ctx context.Context, request string) (Progress, error) {
	for pause := time.Duration(0); ; pause = min(max(2*pause, firstPause), s.options.Interval) {
		sess, err := s.await(ctx, request, notEnded)
		if err == nil {
			err = sess.drive(context.WithoutCancel(ctx))
		}
		switch {
		case errors.Is(err, ErrFinished), s.cancelled(ctx, request, err), err == nil && sess.r.Phase == Ended:
			return s.Progress(ctx, request)
		case err != nil && !errors.Is(err, errCompleting):
			return Progress{}, err
		}
		now := s.now(ctx)
		select {
		case <-ctx.Done():
			return Progress{}, ctx.Err()
		case <-time.After(later(sess.next(), now.Add(pause)).Sub(now)):
		}
	}
}

// notEnded admits a request that has not ended.
func notEnded(r *Request, _ time.Time) error {
	if r.Phase == Ended {
		return ErrFinished
	}
	return nil
}

// notSigned admits a request whose person has not signed. Completing a signature is another job.
func notSigned(r *Request, now time.Time) error {
	if r.Phase == Signed {
		return ErrFinished
	}
	return notEnded(r, now)
}

// drive takes a request as far as it goes now, and releases its lease.
func (sess *session) drive(ctx context.Context) error {
	work, stop := sess.hold(ctx)
	defer stop()
	err := sess.advance(work)
	stop()
	return errors.Join(err, sess.release(ctx))
}

// advance does the same as proceed, except that it fails a request whose start died before the provider had
// answered: other participants must not wait until that request would have expired. A server of a version
// without orders may have left a failed request that has not ended.
func (sess *session) advance(ctx context.Context) error {
	switch sess.r.Phase {
	case Starting:
		return sess.fail(ctx, unanswered)
	case Failed:
		return sess.store(ctx, sess.end)
	}
	return sess.proceed(ctx, false)
}

var unanswered = idp.Failure{Code: idp.InternalError, Description: "The server stopped before the identity provider had answered."}

// next returns when the request is to be driven again.
func (sess *session) next() time.Time {
	if sess.r.Phase == Signed {
		return sess.r.NextTry
	}
	return sess.r.NextAsk
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// driveDue runs a job that drives a request, again and again while the request waits for the person.
func (s *Service) driveDue(ctx context.Context, job storage.Job) (retry time.Time, err error) {
	id, err := requestOf(job)
	if err != nil {
		return retry, err
	}
	sess, _, err := s.lease(ctx, id, notSigned)
	switch {
	case errors.Is(err, ErrFinished):
		return retry, nil
	case errors.Is(err, errHeld):
		return s.now(ctx).Add(s.options.Interval), nil
	case err != nil: // the pause of the runner after many attempts may be longer than the request lives
		return s.now(ctx).Add(s.options.Interval), err
	}
	failpoint.Here("signing/driven")
	err = sess.drive(context.WithoutCancel(ctx)) // the provider's answer may be given only once
	if s.cancelled(ctx, id, err) {
		return retry, nil
	}
	if sess.r.Phase == Waiting || err != nil {
		retry = later(sess.r.NextAsk, s.now(ctx).Add(s.options.Interval))
	}
	return retry, err
}
