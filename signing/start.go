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
	"github.com/innsigli/innsigli/pades/inspect"
	"github.com/innsigli/innsigli/storage"
)

// defaultReason is the reason for signing when none is given (spec 3.2).
const defaultReason = "Undirritun"

// Start has the parameters of a request. The caller has checked its fields.
type Start struct {
	Account  string
	Client   string // ID of the API client that called, for the evidence log
	Document string // from [Service.Upload]; it belongs to the service from now on. With Order, the owner's
	Name     string // of the document
	Person   idp.Person
	Reason   string // empty: defaultReason
	City     string
	Country  string
	Level    ades.Level
	Format   Format
	Packing  Packing       // of XML
	Stamp    *StampRequest // nil: the signature is not visible. An Order has its own

	BusySignal *BusySignalUse
	Key        *IdempotencyKey
	Order      *Order // nil: the document is the request's own
}

// BusySignalUse names the signal to take and its holder.
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

// Refusal is the error of a start that the provider refused at once. There is no request to poll.
type Refusal struct{ idp.Failure }

func (r *Refusal) Error() string { return "signing: the identity provider refused: " + string(r.Code) }

// Start starts a request: it clears the account's abandoned requests, finds the stamp's place, takes the
// busy signal, stores the request and asks the provider. Once the request is stored, the start continues
// although the client hangs up.
//
// Start returns a [*Refusal] when the provider refuses, the error of [BusySignal.Take] when the signal is
// not free, and [ErrFormat], [ErrLevel], [ErrKeyReused] or [ErrKeyInUse]. It returns
// storage.ErrUnavailable or storage.ErrFull when the store was unavailable; the call may then be
// repeated, best with an idempotency key. It returns an [*inspect.RefusedError] if [Options].DocumentPolicy refuses the
// document, the error of [Options].CheckAccount if the account takes no requests, and an [*idp.TooManyRequestsError] if
// [Options].Prompts or a limit of the provider do not let the person be asked now. With a stamp it also returns the
// errors of pades.Check, of stamp.ReadPage and of finding a place, and stamp.ErrImage; without one, a document that
// cannot be signed fails later. The documents of a start that failed are deleted.
//
// The start of an order also returns the error of Order.Begin, and [ErrFinished] when the order is
// cancelled meanwhile. Its document is never deleted.
func (s *Service) Start(ctx context.Context, in Start) (Started, error) {
	b := startInput{Start: in}
	r, replay, err := s.create(ctx, &b)
	if err != nil || replay {
		if removeErr := s.drop(ctx, b.documents()...); err == nil && !isUnavailable(removeErr) { // else they are swept
			err = removeErr
		}
		if err != nil {
			return Started{}, err
		}
		return s.repeat(r)
	}
	failpoint.Here("signing/stored")
	sess := s.newSession(r)
	sess.isStart = true
	ctx, stop := sess.hold(context.WithoutCancel(ctx))
	defer stop()
	if err := sess.ask(ctx); err != nil {
		if s.cancelled(ctx, sess.id, err) {
			return Started{}, ErrFinished
		}
		sess.startError = err
		return Started{}, errors.Join(err, sess.discard(ctx))
	}
	if sess.r.refused() {
		return Started{}, &Refusal{*sess.r.Failure}
	}
	failpoint.Here("signing/asked")
	return s.started(sess.r), sess.release(ctx)
}

// started returns the answer to the start call, and to every repetition of it.
func (s *Service) started(r Request) Started {
	expires := r.StartExpires
	if expires.IsZero() { // stored by a version without StartExpires
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

// diedStarting reports whether the process that started the request died before it could answer, so
// that the same start may be made again. A lease in memory does not count: it may be the caller's.
func (s *Service) diedStarting(r Request) bool {
	return r.Phase == Starting && s.isFreeInStore(&r)
}

// startInput is a start with the facts that are established before the request is stored.
type startInput struct {
	Start
	original content           // the document as it was sent; that of an order when the order is accepted
	warnings []inspect.Warning // about that PDF; none with an Order, whose owner has them
	stamp    *Stamp
}

// lacksPlace reports whether the place of the stamp is still to be found.
func (b *startInput) lacksPlace() bool { return b.Stamp != nil && b.stamp == nil }

// documents returns the documents that are kept with the request, and dropped if it is not stored.
func (b *startInput) documents() []string {
	if b.Order != nil {
		return b.stamp.documents()
	}
	return append(b.stamp.documents(), b.Document)
}

// createTries bounds how often create repeats its transaction after another start with the same
// idempotency key.
const createTries = 3

// create stores the request, or finds the one that the same idempotency key made before. Another server
// may store that one between the look for it and the transaction here.
func (s *Service) create(ctx context.Context, b *startInput) (r Request, replay bool, err error) {
	if err := s.allows(b.Start); err != nil {
		return r, false, err
	}
	if b.Order != nil {
		b.stamp = b.Order.Stamp
	} else if err := s.prepareUpload(ctx, b); err != nil {
		return r, false, err
	}
	for range createTries {
		if err := s.findPlace(ctx, b); err != nil {
			return r, false, err
		}
		if r, replay, err = s.tryCreate(ctx, b); !errors.Is(err, storage.ErrExists) {
			break
		}
	}
	switch {
	case errors.Is(err, storage.ErrExists):
		err = ErrKeyInUse
	case err == nil && replay && r.Key.Fingerprint != b.Key.Fingerprint:
		err = ErrKeyReused
	}
	return r, replay, err
}

// prepareUpload clears the account's abandoned requests, and identifies and inspects the uploaded document. Only a start
// of the Signing API clears (spec 3.6).
func (s *Service) prepareUpload(ctx context.Context, b *startInput) (err error) {
	if err := s.clear(ctx, b.Account); err != nil {
		return err
	}
	if b.original, err = s.identify(ctx, b.Document); err == nil && b.Format == PDF {
		b.warnings, err = s.Warnings(ctx, b.Account, b.Document)
	}
	return err
}

// findPlace finds the stamp's place, unless the same idempotency key made a request before.
func (s *Service) findPlace(ctx context.Context, b *startInput) (err error) {
	if !b.lacksPlace() {
		return nil
	}
	_, replay, err := s.before(ctx, b.Start)
	if replay || err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	b.stamp, err = s.plan(ctx, b.Start)
	return err
}

// before returns the request that the start's idempotency key made before, else storage.ErrNotFound.
// replay reports that it answers this start too, and is not to be replaced.
func (s *Service) before(ctx context.Context, in Start) (r Request, replay bool, err error) {
	if in.Key == nil {
		return r, false, storage.ErrNotFound
	}
	r, err = s.store.RequestByKey(ctx, in.Key.Client, in.Key.Key)
	replay = err == nil && !(s.diedStarting(r) && s.isFree(&r) && r.Key.Fingerprint == in.Key.Fingerprint)
	return r, replay, err
}

func (s *Service) tryCreate(ctx context.Context, b *startInput) (r Request, replay bool, err error) {
	now := s.now(ctx)
	fresh := b.request(now)
	fresh.Lease = s.newLease()
	err = s.inTx(ctx, func(ctx context.Context) error {
		if r, replay, err = s.before(ctx, b.Start); replay {
			return nil
		}
		if err == nil {
			err = s.remove(ctx, r)
		}
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		if b.lacksPlace() { // the request that findPlace found is gone
			return storage.ErrExists
		}
		r = fresh
		if err := s.store.CreateRequest(ctx, fresh); err != nil {
			return err
		}
		if signal := b.BusySignal; signal != nil {
			if err := s.busy.Take(ctx, b.Account, signal.ID, busysignal.Holder{ID: fresh.ID, UserID: signal.UserID}); err != nil {
				return err
			}
		}
		for _, id := range b.documents() {
			if err := s.documents.Keep(ctx, id); err != nil {
				return err
			}
		}
		if b.Order != nil {
			if b.original, err = s.order(ctx, &r, b.Order); err != nil {
				return err
			}
		}
		if err := s.options.CheckAccount(ctx, b.Account); err != nil { // accounts are locked after requests and processes
			return err
		}
		if err := s.checkPolicy(ctx, b.Account, b.warnings); err != nil {
			return err
		}
		if err := s.recordAsked(ctx, &r, b); err != nil {
			return err
		}
		return s.countPrompt(ctx, &r, b.Order)
	})
	if isUnavailable(err) { // it may have been stored
		s.afterwards(s.newSession(fresh).discardNow)
	}
	return r, replay, err
}

func (b *startInput) request(now time.Time) Request {
	r := Request{
		ID: uuid.NewString(), Account: b.Account, CreatedAt: now, UpdatedAt: now, Phase: Starting,
		Person: b.Person, Document: b.Document, Stamp: b.stamp, Level: b.Level, Key: b.Key,
		Text:  idp.Text{Document: b.Name, Reason: b.Reason},
		Place: place(b.City, b.Country), City: b.City, Country: b.Country,
		Format: b.Format, Packing: b.Packing,
	}
	r.Person.Account = b.Account
	if r.Text.Reason == "" {
		r.Text.Reason = defaultReason
	}
	if b.BusySignal != nil {
		r.BusySignal = b.BusySignal.ID
	}
	if b.Order != nil {
		r.Order = b.Order.ID
	}
	return r
}

// place returns the place that the signer signs from as one line (spec 3.2).
func place(city, country string) string {
	return strings.Trim(city+", "+country, ", ")
}

// discard removes a request whose start failed by an error of the server, of the connection to the provider
// or of the store. While the store is unavailable, that is left for after the call.
func (sess *session) discard(ctx context.Context) error {
	err := sess.discardNow(context.WithoutCancel(ctx))
	if isUnavailable(err) {
		sess.afterwards(sess.discardNow)
		return nil
	}
	return err
}

// failedAtStart records in the evidence log that the start failed. The person may have been asked.
func (sess *session) failedAtStart(ctx context.Context, r *Request) error {
	if r.decided() {
		return nil
	}
	return sess.failed(ctx, r, idp.Failure{Code: idp.InternalError})
}

// discardNow removes the request. One that has started after all, by a commit that was not answered, stays if
// it has an idempotency key, for the client that repeats its call, or an order, for its job.
func (sess *session) discardNow(ctx context.Context) error {
	return sess.inTx(ctx, func(ctx context.Context) error {
		r, err := sess.Service.store.Request(ctx, sess.id)
		switch {
		case errors.Is(err, storage.ErrNotFound):
			return nil
		case err != nil:
			return err
		case r.Lease.Token != sess.token:
			return errLeaseLost
		case r.Phase != Starting && (r.Key != nil || r.ordered()):
			return errors.Join(clearLease(ctx, &r), sess.put(ctx, &r))
		}
		if err := sess.failedAtStart(ctx, &r); err != nil {
			return err
		}
		if err := sess.remove(ctx, r); err != nil {
			return err
		}
		return sess.settleFailedStart(ctx, &r)
	})
}
