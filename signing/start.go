package signing

import (
	"context"
	"errors"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/failpoint"
)

// defaultReason is the reason for signing when none is given (spec 3.2).
const defaultReason = "Undirritun"

// Start is what a request is started with. Its fields were checked by the caller.
type Start struct {
	Account  string
	Client   string // ID of the API client that called, for the evidence log
	Document string // stored, not yet kept; it belongs to the service from now on, but for that of an Order
	Name     string // of the document
	Person   idp.Person
	Reason   string // empty: defaultReason
	City     string
	Country  string
	Level    ades.Level
	Format   Format
	Packing  Packing       // of XML
	Stamp    *StampRequest // nil: the signature is not visible, but for that of an Order

	BusySignal *BusySignalUse
	Key        *IdempotencyKey
	Order      *Order // nil: the document is the request's own
}

// BusySignalUse names the signal to hold and who holds it.
type BusySignalUse struct {
	ID     string
	UserID *string
}

// Started is a request that the provider accepted.
type Started struct {
	ID        string
	ExpiresIn time.Duration // from the start call
	Interval  time.Duration
	Code      string // verification code, empty when it comes with a poll
}

// Refusal is the error of a start that the provider refused at once. There is no
// request to poll.
type Refusal struct{ idp.Failure }

func (r *Refusal) Error() string { return "signing: the identity provider refused: " + string(r.Code) }

// Start starts a request: it clears what the account abandoned, finds the stamp's place,
// takes the busy signal, stores the request and asks the provider. It returns a [*Refusal]
// when the provider refuses, the error of [BusySignal.Take] when the signal cannot be
// had, and [ErrFormat], [ErrLevel], [ErrKeyReused] or [ErrKeyInUse]; storage.ErrUnavailable or storage.ErrFull when the
// store was away, after which the start may be made again, best with an idempotency key. With a
// stamp also the errors of pades.Check, of stamp.ReadPage and of finding a place, and
// stamp.ErrImage; without one, a document that cannot be signed fails later. The
// documents of a start that failed are removed. Once the request is stored, a client that
// hangs up stops nothing half-way. The start of an order has the error of [Order.Accept] too, and
// [ErrFinished] when it is cancelled meanwhile; its document stays whatever comes of it.
func (s *Service) Start(ctx context.Context, in Start) (Started, error) {
	b := beginning{Start: in}
	r, replay, err := s.create(ctx, &b)
	if err != nil || replay {
		if removeErr := s.drop(ctx, b.documents()...); err == nil && !away(removeErr) { // else they are swept
			err = removeErr
		}
		if err != nil {
			return Started{}, err
		}
		return s.repeat(r)
	}
	failpoint.Here("signing/stored")
	t := s.newTurn(r)
	t.starts = true
	ctx, stop := t.hold(context.WithoutCancel(ctx))
	defer stop()
	if err := t.ask(ctx); err != nil {
		if s.cancelled(ctx, t.id, err) {
			return Started{}, ErrFinished
		}
		return Started{}, errors.Join(err, t.discard(ctx))
	}
	if t.r.refused() {
		return Started{}, &Refusal{*t.r.Failure}
	}
	failpoint.Here("signing/asked")
	return s.started(t.r), t.release(ctx)
}

// started is the answer to the start call, and to every repetition of it.
func (s *Service) started(r Request) Started {
	expires := r.StartExpires
	if expires.IsZero() { // stored by a version that did not note it
		expires = r.Expires
	}
	return Started{r.ID, expires.Sub(r.CreatedAt).Round(time.Second), s.options.Interval, r.StartCode}
}

// repeat answers a start that was made before with the same key and body.
func (s *Service) repeat(r Request) (Started, error) {
	switch {
	case r.Phase == Starting:
		return Started{}, ErrKeyInUse
	case r.refused():
		return Started{}, &Refusal{*r.Failure}
	}
	return s.started(r), nil
}

// diedStarting says whether the process that started the request died before it
// could answer, so that the same start may be made again.
func (s *Service) diedStarting(r Request, now time.Time) bool {
	return r.Phase == Starting && r.Lease.free(now, s.process, s.options.Alone)
}
