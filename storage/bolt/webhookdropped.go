package bolt

import (
	"context"
	"time"

	"go.etcd.io/bbolt"

	"github.com/innsigli/innsigli/webhook/delivery"
)

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
	return s.db.write(ctx, func(tx *bbolt.Tx) error {
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
	err = s.db.write(ctx, func(tx *bbolt.Tx) error {
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
