package delivery

import (
	"context"
	"iter"
	"time"
)

// Store keeps subscriptions, what is sent to them, and the keys that sign. Methods that write join
// the transaction of their context. Times are whole microseconds in UTC.
type Store interface {
	// CreateSubscription adds a subscription, unless its account has limit of them or more:
	// [ErrTooMany], also when several are added at once. storage.ErrExists: that ID is taken.
	CreateSubscription(ctx context.Context, s Subscription, limit int) error
	// UpdateSubscription replaces a subscription; storage.ErrNotFound.
	UpdateSubscription(ctx context.Context, s Subscription) error
	// DeleteSubscription removes a subscription; storage.ErrNotFound.
	DeleteSubscription(ctx context.Context, id string) error
	// Subscription returns a subscription; storage.ErrNotFound.
	Subscription(ctx context.Context, id string) (Subscription, error)
	// Subscriptions returns those of an account in the order of their creation.
	Subscriptions(ctx context.Context, account string) ([]Subscription, error)

	// AddAttempt adds an attempt to the log.
	AddAttempt(ctx context.Context, a Attempt) error
	// Attempts lists those of a subscription, the latest first; of those at the same time, the
	// one that was added last. Attempts that are added or deleted meanwhile may be in it or not.
	Attempts(ctx context.Context, subscription string) iter.Seq2[Attempt, error]
	// DeleteAttempts removes attempts made before the time given, the earliest first and at most
	// limit of them, and says how many.
	DeleteAttempts(ctx context.Context, before time.Time, limit int) (int, error)
	// DeleteAttemptsOf removes up to limit attempts of a subscription and returns how many.
	DeleteAttemptsOf(ctx context.Context, subscription string, limit int) (int, error)

	// AddDropped adds an event that was given up, or replaces the one of the same subscription
	// and event.
	AddDropped(ctx context.Context, d Dropped) error
	// Dropped lists those of a subscription in the order in which they were given up, without their bodies.
	Dropped(ctx context.Context, subscription string) ([]Dropped, error)
	// RemoveDropped removes one and returns it; storage.ErrNotFound.
	RemoveDropped(ctx context.Context, subscription, event string) (Dropped, error)
	// DeleteDropped is like DeleteAttempts, by the time at which they were given up.
	DeleteDropped(ctx context.Context, before time.Time, limit int) (int, error)

	// CreateKey adds a key; storage.ErrExists when one has its number.
	CreateKey(ctx context.Context, k SigningKey) error
	// UpdateKey replaces the key of that number; storage.ErrNotFound.
	UpdateKey(ctx context.Context, k SigningKey) error
	// Keys returns all keys by their numbers. Keys that are read in a transaction stay as they are
	// until it ends.
	Keys(ctx context.Context) ([]SigningKey, error)
	// DeleteKey removes the key of that number; storage.ErrNotFound.
	DeleteKey(ctx context.Context, number int) error
}

// Purpose is what a request is made for.
type Purpose string

const (
	ForDelivery   Purpose = "delivery"
	ForPing       Purpose = "ping"
	ForCheck      Purpose = "check"      // signed so that it cannot verify; 401 is right
	ForActivation Purpose = "activation" // a ping
	ForTest       Purpose = "test"       // a ping
)

// Attempt is a request that was made, as the log keeps it.
type Attempt struct {
	Subscription string
	Event        string // the webhook-id
	Type         string // of the event
	Purpose      Purpose
	Number       int       // of the attempt, from 1; 0: it is no delivery
	At           time.Time // when it began
	Duration     time.Duration
	Status       int       // of the answer; 0: there was none
	Failure      Failure   // empty: all went as it should
	Detail       string    // what went wrong, in a sentence without personal data
	Next         time.Time // when it is tried again; zero: it is not
}

// Dropped is an event that was given up after its last attempt (spec 5.7).
type Dropped struct {
	Subscription string
	Event        string // the webhook-id
	Type         string
	At           time.Time // when it was given up
	Body         []byte    // of its requests, to the byte
}

// SigningKey is a key of v1a. Those that have not ended all sign, so that receivers may know any of
// them (spec 5.5).
type SigningKey struct {
	Number    int    // from 1; each key has the one after its predecessor's
	Public    []byte // 32 bytes
	Private   []byte // the seed of RFC 8032, 32 bytes
	CreatedAt time.Time
	EndsAt    time.Time // zero: it is the latest
}
