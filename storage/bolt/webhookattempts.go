package bolt

import (
	"bytes"
	"context"
	"iter"
	"time"

	"go.etcd.io/bbolt"

	"github.com/innsigli/innsigli/webhook/delivery"
)

// The key of an attempt is its place in the log of its subscription, so that the table is in that
// order and adding an attempt writes two entries only.
var (
	attemptsByTime = index[attemptRecord]{bucket: "webhook.attempt.time", key: func(a attemptRecord) []byte { return instant(a.At) }}
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
	return s.db.write(ctx, func(tx *bbolt.Tx) error {
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
	err = s.db.read(ctx, func(tx *bbolt.Tx) error {
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
func lastKeys(b *bbolt.Bucket, in span, limit int) (keys [][]byte) {
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
	err = s.db.write(ctx, func(tx *bbolt.Tx) error {
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
