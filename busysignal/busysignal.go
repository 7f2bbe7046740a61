// Package busysignal lets one signing at a time run on a file that several people
// sign one after another (spec 3.11).
//
// A busy signal is a name, a UUID, that the callers agree on. A request takes it
// before it starts and releases it when it has ended. While one request holds
// it, another gets a [HeldError], which carries what the holder said about
// itself. Nobody has to be trusted to release: a hold ends by itself after
// [HoldFor]. A signal that nothing used for a year is deleted (spec 3.11).
//
//	signals := busysignal.New(store, tx, busysignal.Options{})
//	id, err := signals.Create(ctx, account)
//
//	err = signals.Take(ctx, account, id, busysignal.Holder{ID: request})
//	var held *busysignal.HeldError
//	if errors.As(err, &held) {
//		// another request is at work, for held.UserID
//	}
//	defer signals.Release(ctx, id, request)
//
// Take and Release join the transaction of their context, so that a request and
// its hold are stored together or not at all. What is being signed is no concern
// of this package.
package busysignal

import (
	"errors"
	"time"
)

// ErrNotFound: the account has no such signal.
var ErrNotFound = errors.New("busysignal: not found")

// HoldFor is how long a request holds a signal at most (spec 3.11).
const HoldFor = 5 * time.Minute

// Signal is a busy signal.
type Signal struct {
	ID        string // a UUID
	Account   string
	CreatedAt time.Time
	UsedAt    time.Time // when it was created or last taken
	Holder    *Holder   // who took it last, nil once released
}

// Holder is a request that holds a signal.
type Holder struct {
	ID     string    // the request
	UserID *string   // what the request calls its user, if it says
	Since  time.Time // set by Take
}

// HeldError is the refusal of a signal that another request holds.
type HeldError struct {
	UserID *string // the holder's, nil when it named none
}

func (e *HeldError) Error() string { return "busysignal: held by another request" }

// HeldAt says whether a request holds the signal at the time given: it took the
// signal less than [HoldFor] before and has not released it. A hold that lies that
// far in the future is of a clock that was wrong, and none.
func (s Signal) HeldAt(now time.Time) bool {
	return s.Holder != nil && now.Sub(s.Holder.Since).Abs() < HoldFor
}

// expired says whether a year has gone by since the last use.
func (s Signal) expired(now time.Time) bool {
	return !s.UsedAt.After(lastUse(now))
}

// lastUse is when a signal that is gone now was used at the latest.
func lastUse(now time.Time) time.Time {
	return now.AddDate(-1, 0, 0)
}

// taken is the signal after the request took it at the time given. A request
// that takes it again holds it since the first time: a hold is not prolonged.
func (s Signal) taken(by Holder, now time.Time) (Signal, error) {
	by.Since = now
	if s.HeldAt(now) {
		if !s.heldBy(by.ID) {
			return Signal{}, &HeldError{UserID: s.Holder.UserID}
		}
		by.Since = s.Holder.Since
	}
	s.Holder, s.UsedAt = &by, now
	return s, nil
}

// heldBy says whether the request took the signal last and has not released it.
func (s Signal) heldBy(request string) bool {
	return s.Holder != nil && s.Holder.ID == request
}
