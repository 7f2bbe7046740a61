package bolt

import (
	"bytes"
	"context"
	"iter"
	"time"

	"github.com/innsigli/innsigli/webhook/delivery"
)

var (
	subscriptionsOfAccount = index[subscriptionRecord]{bucket: "webhook.subscription.account", key: func(s subscriptionRecord) []byte { return text(s.Account) }}
	subscriptionTable      = table[subscriptionRecord]{bucket: "webhook.subscription", indexes: []index[subscriptionRecord]{subscriptionsOfAccount}}

	signingKeyOrder = index[signingKeyRecord]{bucket: "webhook.key.order", unique: true, key: func(k signingKeyRecord) []byte { return number(uint64(k.Number)) }}
	signingKeyTable = table[signingKeyRecord]{bucket: "webhook.key", indexes: []index[signingKeyRecord]{signingKeyOrder}}
)

type subscriptionRecord struct {
	ID           string          `json:"id"`
	Account      string          `json:"account"`
	URL          string          `json:"url"`
	EventTypes   []string        `json:"eventTypes"`
	Active       bool            `json:"active"`
	Reason       delivery.Reason `json:"reason,omitempty"`
	CreatedAt    time.Time       `json:"createdAt"`
	UpdatedAt    time.Time       `json:"updatedAt"`
	Secret       []byte          `json:"secret"`
	Generation   int             `json:"generation"`
	ActivatedAt  time.Time       `json:"activatedAt,omitzero"`
	FailingSince time.Time       `json:"failingSince,omitzero"`
	AlertedAt    time.Time       `json:"alertedAt,omitzero"`
}

type signingKeyRecord struct {
	Number    int       `json:"number"`
	Public    []byte    `json:"public"`
	Private   []byte    `json:"private"`
	CreatedAt time.Time `json:"createdAt"`
	EndsAt    time.Time `json:"endsAt,omitzero"`
}

func signingKeyID(n int) string { return string(number(uint64(n))) }

// webhooks is the delivery.Store of a DB.
type webhooks struct{ db *DB }

var _ delivery.Store = webhooks{}

// Webhooks is the store of subscriptions and of what is sent to them.
func (db *DB) Webhooks() delivery.Store { return webhooks{db} }

func (s webhooks) CreateSubscription(ctx context.Context, sub delivery.Subscription, limit int) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		if len(subscriptionsOfAccount.ids(tx, under(text(sub.Account)), limit)) >= limit {
			return delivery.ErrTooMany
		}
		return subscriptionTable.insert(tx, sub.ID, subscriptionRecord(sub))
	})
}

func (s webhooks) UpdateSubscription(ctx context.Context, sub delivery.Subscription) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return subscriptionTable.update(tx, sub.ID, subscriptionRecord(sub))
	})
}

func (s webhooks) DeleteSubscription(ctx context.Context, id string) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return subscriptionTable.remove(tx, id)
	})
}

func (s webhooks) Subscription(ctx context.Context, id string) (delivery.Subscription, error) {
	record, err := read(ctx, s.db, subscriptionTable, id)
	return delivery.Subscription(record), err
}

func (s webhooks) Subscriptions(ctx context.Context, account string) ([]delivery.Subscription, error) {
	records, err := list(ctx, s.db, subscriptionTable, subscriptionsOfAccount, under(text(account)))
	return convert(records, func(r subscriptionRecord) delivery.Subscription { return delivery.Subscription(r) }), err
}

func (s webhooks) CreateKey(ctx context.Context, k delivery.SigningKey) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return signingKeyTable.insert(tx, signingKeyID(k.Number), signingKeyRecord(k))
	})
}

func (s webhooks) UpdateKey(ctx context.Context, k delivery.SigningKey) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return signingKeyTable.update(tx, signingKeyID(k.Number), signingKeyRecord(k))
	})
}

func (s webhooks) Keys(ctx context.Context) ([]delivery.SigningKey, error) {
	records, err := list(ctx, s.db, signingKeyTable, signingKeyOrder, every())
	return convert(records, func(r signingKeyRecord) delivery.SigningKey { return delivery.SigningKey(r) }), err
}

func (s webhooks) DeleteKey(ctx context.Context, number int) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return signingKeyTable.remove(tx, signingKeyID(number))
	})
}

// The key of an attempt is its place in the log of its subscription, so that the table is in that
// order and adding an attempt writes two entries only.
var (
	attemptsByTime = index[attemptRecord]{bucket: "webhook.attempt.time", grows: true, key: func(a attemptRecord) []byte { return instant(a.At) }}
	attemptTable   = table[attemptRecord]{bucket: "webhook.attempt", indexes: []index[attemptRecord]{attemptsByTime}}
)

type attemptRecord struct {
	Subscription string           `json:"subscription"`
	Event        string           `json:"event"`
	Type         string           `json:"type"`
	Purpose      delivery.Purpose `json:"purpose"`
	Number       int              `json:"number,omitempty"`
	At           time.Time        `json:"at"`
	Duration     time.Duration    `json:"duration"`
	Status       int              `json:"status,omitempty"`
	Failure      delivery.Failure `json:"failure,omitempty"`
	Detail       string           `json:"detail,omitempty"`
	Next         time.Time        `json:"next,omitzero"`
}

func (s webhooks) AddAttempt(ctx context.Context, a delivery.Attempt) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		next := tx.Bucket([]byte(attemptTable.bucket)).Sequence() + 1 // which insert takes
		place := bytes.Join([][]byte{text(a.Subscription), instant(a.At), number(next)}, nil)
		return attemptTable.insert(tx, string(place), attemptRecord(a))
	})
}

func (s webhooks) Attempts(ctx context.Context, subscription string) iter.Seq2[delivery.Attempt, error] {
	return func(yield func(delivery.Attempt, error) bool) {
		for in := under(text(subscription)); ; {
			batch, first, err := s.latest(ctx, in)
			if err != nil {
				yield(delivery.Attempt{}, err)
				return
			}
			for _, a := range batch {
				if !yield(a, nil) {
					return
				}
			}
			if len(batch) < listBatch {
				return
			}
			in.to = first
		}
	}
}

// latest reads the last attempts in a span of places, the last one first, and the place of the
// first of them.
func (s webhooks) latest(ctx context.Context, in span) (batch []delivery.Attempt, first []byte, err error) {
	err = s.db.read(ctx, func(tx *boltTx) error {
		for _, place := range lastKeys(tx.Bucket([]byte(attemptTable.bucket)), in, listBatch) {
			r, err := attemptTable.get(tx, string(place))
			if err != nil {
				return err
			}
			batch, first = append(batch, delivery.Attempt(r)), bytes.Clone(place)
		}
		return nil
	})
	return batch, first, err
}

// lastKeys are the last keys in a span, at most limit, the last one first. They are good until
// the bucket changes.
func lastKeys(b *boltBucket, in span, limit int) (keys [][]byte) {
	c := b.Cursor()
	k, _ := c.Seek(in.to)
	if k == nil {
		k, _ = c.Last() // all keys are before the end of the span
	} else {
		k, _ = c.Prev()
	}
	for ; k != nil && bytes.Compare(k, in.from) >= 0 && len(keys) < limit; k, _ = c.Prev() {
		keys = append(keys, k)
	}
	return keys
}

func (s webhooks) DeleteAttemptsOf(ctx context.Context, subscription string, limit int) (n int, err error) {
	err = s.db.write(ctx, func(tx *boltTx) error {
		places := lastKeys(tx.Bucket([]byte(attemptTable.bucket)), under(text(subscription)), limit)
		for i, place := range places {
			places[i] = bytes.Clone(place)
		}
		for _, place := range places {
			if err := attemptTable.remove(tx, string(place)); err != nil {
				return err
			}
		}
		n = len(places)
		return nil
	})
	return n, err
}

func (s webhooks) DeleteAttempts(ctx context.Context, earlier time.Time, limit int) (int, error) {
	return removeBefore(ctx, s.db, attemptTable, attemptsByTime, earlier, limit)
}

var (
	droppedOfSubscription = index[droppedRecord]{bucket: "webhook.dropped.subscription", key: func(d droppedRecord) []byte {
		return append(text(d.Subscription), instant(d.At)...)
	}}
	droppedByTime = index[droppedRecord]{bucket: "webhook.dropped.time", key: func(d droppedRecord) []byte { return instant(d.At) }}
	droppedTable  = table[droppedRecord]{bucket: "webhook.dropped", indexes: []index[droppedRecord]{droppedOfSubscription, droppedByTime}}
)

type droppedRecord struct {
	Subscription string    `json:"subscription"`
	Event        string    `json:"event"`
	Type         string    `json:"type"`
	At           time.Time `json:"at"`
	// Body stays as it is, to the byte: it is what requests are signed over.
	Body []byte `json:"body"`
}

// droppedHead is a droppedRecord without its body, to be read alone.
type droppedHead struct {
	Subscription string    `json:"subscription"`
	Event        string    `json:"event"`
	Type         string    `json:"type"`
	At           time.Time `json:"at"`
}

var (
	droppedHeads               = table[droppedHead]{bucket: droppedTable.bucket}
	droppedHeadsOfSubscription = index[droppedHead]{bucket: droppedOfSubscription.bucket}
)

func droppedID(subscription, event string) string {
	return string(append(text(subscription), text(event)...))
}

func (s webhooks) AddDropped(ctx context.Context, d delivery.Dropped) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return droppedTable.save(tx, droppedID(d.Subscription, d.Event), droppedRecord(d))
	})
}

func (s webhooks) Dropped(ctx context.Context, subscription string) ([]delivery.Dropped, error) {
	heads, err := list(ctx, s.db, droppedHeads, droppedHeadsOfSubscription, under(text(subscription)))
	return convert(heads, func(h droppedHead) delivery.Dropped {
		return delivery.Dropped{Subscription: h.Subscription, Event: h.Event, Type: h.Type, At: h.At}
	}), err
}

func (s webhooks) RemoveDropped(ctx context.Context, subscription, event string) (d delivery.Dropped, err error) {
	err = s.db.write(ctx, func(tx *boltTx) error {
		id := droppedID(subscription, event)
		record, err := droppedTable.get(tx, id)
		if err != nil {
			return err
		}
		d = delivery.Dropped(record)
		return droppedTable.remove(tx, id)
	})
	return d, err
}

func (s webhooks) DeleteDropped(ctx context.Context, earlier time.Time, limit int) (int, error) {
	return removeBefore(ctx, s.db, droppedTable, droppedByTime, earlier, limit)
}
