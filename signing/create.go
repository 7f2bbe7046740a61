package signing

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/storage"
)

// beginning is a start with what is found out before the request is stored.
type beginning struct {
	Start
	original content // of an order, as it is when that is accepted
	stamp    *Stamp
}

// lacksPlace says whether the place of the stamp is still to be found.
func (b *beginning) lacksPlace() bool { return b.Stamp != nil && b.stamp == nil }

// documents are those that are to be kept with the request, or dropped without it.
func (b *beginning) documents() []string {
	if b.Order != nil {
		return b.stamp.documents()
	}
	return append(b.stamp.documents(), b.Document)
}

// createTries bounds how often a start gives way to another with the same idempotency key.
const createTries = 3

// create stores the request, or finds the one that the same idempotency key made. Another
// server may make that one between our looking for it and our adding ours.
func (s *Service) create(ctx context.Context, b *beginning) (r Request, replay bool, err error) {
	if err := s.allows(b.Start); err != nil {
		return r, false, err
	}
	if b.Order != nil {
		b.stamp = b.Order.Stamp
	} else if err := s.takeIn(ctx, b); err != nil {
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

// takeIn begins a start call of the Signing API, which alone clears what was abandoned there
// (spec 3.6).
func (s *Service) takeIn(ctx context.Context, b *beginning) (err error) {
	if err := s.clear(ctx, b.Account); err != nil {
		return err
	}
	b.original, err = s.uploaded(ctx, b.Document)
	return err
}

// findPlace finds the stamp's place. A start that was made before with the same idempotency
// key has its place already.
func (s *Service) findPlace(ctx context.Context, b *beginning) (err error) {
	if !b.lacksPlace() {
		return nil
	}
	_, replay, err := s.before(ctx, b.Start, now())
	if replay || err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	b.stamp, err = s.plan(ctx, b.Start)
	return err
}

// before returns the request that the start's idempotency key made before; storage.ErrNotFound.
// replay says that it answers this start too, and is not to be replaced.
func (s *Service) before(ctx context.Context, in Start, now time.Time) (r Request, replay bool, err error) {
	if in.Key == nil {
		return r, false, storage.ErrNotFound
	}
	r, err = s.store.RequestByKey(ctx, in.Key.Client, in.Key.Key)
	replay = err == nil && !(s.diedStarting(r, now) && r.Key.Fingerprint == in.Key.Fingerprint)
	return r, replay, err
}

func (s *Service) tryCreate(ctx context.Context, b *beginning) (r Request, replay bool, err error) {
	now := now()
	fresh := b.request(now)
	fresh.Lease = s.newLease(now)
	err = s.inTx(ctx, func(ctx context.Context) error {
		if r, replay, err = s.before(ctx, b.Start, now); replay {
			return nil
		}
		if err == nil {
			err = s.remove(ctx, r)
		}
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		if b.lacksPlace() { // the request that had it is gone since it was looked for
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
		return s.recordAsked(ctx, &r, b.Client, b.original)
	})
	if away(err) { // it may have been stored
		s.afterwards(s.newTurn(fresh).discardNow)
	}
	return r, replay, err
}

func (b *beginning) request(now time.Time) Request {
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

// place is where the signer signs from, as one line (spec 3.2).
func place(city, country string) string {
	return strings.Trim(city+", "+country, ", ")
}
