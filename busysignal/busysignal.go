// Package busysignal implements busy signals: locks by which callers let one signing request at a time work
// on a file that several people sign one after another (spec 3.11).
//
// A busy signal has an id, a UUID, that the callers agree on. A request takes the signal before it starts and
// releases it when it ends. While a request holds the signal, Take returns a [HeldError] to every other
// request, with the user that the holder named. A hold expires after [HoldTimeout], so a request that is never
// ended does not block the file. A signal that was not taken for a year is deleted.
//
//	signals := busysignal.New(store, tx, busysignal.Options{})
//	id, err := signals.Create(ctx, account)
//
//	err = signals.Take(ctx, account, id, busysignal.Holder{ID: request})
//	var held *busysignal.HeldError
//	if errors.As(err, &held) {
//		// another request, of the user held.UserID, is running
//	}
//	defer signals.Release(ctx, id, request)
//
// Take and Release join the transaction of their context, so that a request and its hold are stored together
// or not at all. The package does not know the file.
package busysignal

import (
	"errors"
	"time"
)

// ErrNotFound: the account has no such signal.
var ErrNotFound = errors.New("busysignal: not found")

// HoldTimeout is the longest time that a request holds a signal (spec 3.11).
const HoldTimeout = 5 * time.Minute

// Signal is a busy signal.
type Signal struct {
	ID        string // a UUID
	Account   string
	CreatedAt time.Time
	UsedAt    time.Time // when it was created or last taken
	Holder    *Holder   // the request that took it last; nil once released
}

// Holder is a request that holds a signal.
type Holder struct {
	ID     string    // the request
	UserID *string   // the user that the request names, if any
	Since  time.Time // set by Take
}

// HeldError is returned for a signal that another request holds.
type HeldError struct {
	UserID *string // the user that the holder named; nil if it named none
}

func (e *HeldError) Error() string { return "busysignal: held by another request" }

// HeldAt reports whether a request holds the signal at the given time: it took the signal less than
// [HoldTimeout] before and has not released it. A hold that begins HoldTimeout or more after the given time was
// stored by a server with a wrong clock, and does not count.
func (s Signal) HeldAt(now time.Time) bool {
	return s.Holder != nil && now.Sub(s.Holder.Since).Abs() < HoldTimeout
}

// expired reports whether the signal was not used for a year.
func (s Signal) expired(now time.Time) bool {
	return !s.UsedAt.After(expiryCutoff(now))
}

// expiryCutoff returns the latest UsedAt of a signal that is expired now.
func expiryCutoff(now time.Time) time.Time {
	return now.AddDate(-1, 0, 0)
}

// take returns the signal as it is after the request h took it. Taking the signal again does not prolong the
// hold.
func (s Signal) take(h Holder, now time.Time) (Signal, error) {
	h.Since = now
	if s.HeldAt(now) {
		if !s.lastTakenBy(h.ID) {
			return Signal{}, &HeldError{UserID: s.Holder.UserID}
		}
		h.Since = s.Holder.Since
	}
	s.Holder, s.UsedAt = &h, now
	return s, nil
}

// lastTakenBy reports whether the request took the signal last and has not released it.
func (s Signal) lastTakenBy(request string) bool {
	return s.Holder != nil && s.Holder.ID == request
}
