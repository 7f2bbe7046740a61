package signing

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/storage"
)

// defaultReason is the reason for signing when none is given (service.md 2.1).
const defaultReason = "Undirritun"

// Start is what a request is started with. Its fields were checked by the caller.
type Start struct {
	Account  string
	Client   string // ID of the API client that called, for the evidence log
	Document string // stored, not yet kept; it belongs to the service from now on
	Name     string // of the document
	Person   idp.Person
	Reason   string // empty: defaultReason
	City     string
	Country  string
	Level    ades.Level

	BusySignal *BusySignalUse
	Key        *IdempotencyKey
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

// Start starts a request: it clears what the account abandoned, takes the busy
// signal, stores the request and asks the provider. It returns a [*Refusal] when
// the provider refuses, the error of [BusySignal.Take] when the signal cannot be
// had, and [ErrLevel], [ErrKeyReused] or [ErrKeyInUse]; storage.ErrUnavailable or storage.ErrFull when the
// store was away, after which the start may be made again, best with an idempotency key. The
// document of a start that failed is removed. Once the request is stored, a client that hangs up stops nothing
// half-way.
func (s *Service) Start(ctx context.Context, in Start) (Started, error) {
	r, replay, err := s.create(ctx, in)
	if err != nil || replay {
		if removeErr := s.Discard(ctx, in.Document); err == nil && !away(removeErr) { // else it is swept
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

// createTries bounds how often a start gives way to another with the same idempotency key.
const createTries = 3

// create stores the request, or finds the one that the same idempotency key made. Another
// server may make that one between our looking for it and our adding ours.
func (s *Service) create(ctx context.Context, in Start) (r Request, replay bool, err error) {
	if in.Level > s.highest(in.Person.Method) {
		return r, false, ErrLevel
	}
	if err := s.clear(ctx, in.Account); err != nil {
		return r, false, err
	}
	original, err := s.uploaded(ctx, in.Document)
	if err != nil {
		return r, false, err
	}
	for range createTries {
		if r, replay, err = s.tryCreate(ctx, in, original); !errors.Is(err, storage.ErrExists) {
			break
		}
	}
	switch {
	case errors.Is(err, storage.ErrExists):
		err = ErrKeyInUse
	case err == nil && replay && r.Key.Fingerprint != in.Key.Fingerprint:
		err = ErrKeyReused
	}
	return r, replay, err
}

func (s *Service) tryCreate(ctx context.Context, in Start, original content) (r Request, replay bool, err error) {
	now := now()
	fresh := in.request(now)
	fresh.Lease = s.newLease(now)
	err = s.inTx(ctx, func(ctx context.Context) error {
		if in.Key != nil {
			r, err = s.store.RequestByKey(ctx, in.Key.Client, in.Key.Key)
			if replay = err == nil && !(s.diedStarting(r, now) && r.Key.Fingerprint == in.Key.Fingerprint); replay {
				return nil
			}
			if err == nil {
				err = s.remove(ctx, r)
			}
			if err != nil && !errors.Is(err, storage.ErrNotFound) {
				return err
			}
		}
		r = fresh
		if err := s.store.CreateRequest(ctx, fresh); err != nil {
			return err
		}
		if b := in.BusySignal; b != nil {
			if err := s.busy.Take(ctx, in.Account, b.ID, busysignal.Holder{ID: fresh.ID, UserID: b.UserID}); err != nil {
				return err
			}
		}
		return errors.Join(s.documents.Keep(ctx, in.Document), s.recordAsked(ctx, &r, in.Client, original))
	})
	if away(err) { // it may have been stored
		s.afterwards(s.newTurn(fresh).discardNow)
	}
	return r, replay, err
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

func (in Start) request(now time.Time) Request {
	r := Request{
		ID: uuid.NewString(), Account: in.Account, CreatedAt: now, UpdatedAt: now, Phase: Starting,
		Person: in.Person, Document: in.Document, Level: in.Level, Key: in.Key,
		Text:  idp.Text{Document: in.Name, Reason: in.Reason},
		Place: place(in.City, in.Country),
	}
	r.Person.Account = in.Account
	if r.Text.Reason == "" {
		r.Text.Reason = defaultReason
	}
	if in.BusySignal != nil {
		r.BusySignal = in.BusySignal.ID
	}
	return r
}

// place is where the signer signs from, as one line (decisions.md 4.12).
func place(city, country string) string {
	return strings.Trim(city+", "+country, ", ")
}
