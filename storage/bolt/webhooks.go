package bolt

import (
	"context"
	"time"

	"go.etcd.io/bbolt"

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
	return s.db.write(ctx, func(tx *bbolt.Tx) error {
		if len(subscriptionsOfAccount.ids(tx, under(text(sub.Account)), limit)) >= limit {
			return delivery.ErrTooMany
		}
		return subscriptionTable.insert(tx, sub.ID, subscriptionRecord(sub))
	})
}

func (s webhooks) UpdateSubscription(ctx context.Context, sub delivery.Subscription) error {
	return s.db.write(ctx, func(tx *bbolt.Tx) error {
		return subscriptionTable.update(tx, sub.ID, subscriptionRecord(sub))
	})
}

func (s webhooks) DeleteSubscription(ctx context.Context, id string) error {
	return s.db.write(ctx, func(tx *bbolt.Tx) error {
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
	return s.db.write(ctx, func(tx *bbolt.Tx) error {
		return signingKeyTable.insert(tx, signingKeyID(k.Number), signingKeyRecord(k))
	})
}

func (s webhooks) UpdateKey(ctx context.Context, k delivery.SigningKey) error {
	return s.db.write(ctx, func(tx *bbolt.Tx) error {
		return signingKeyTable.update(tx, signingKeyID(k.Number), signingKeyRecord(k))
	})
}

func (s webhooks) Keys(ctx context.Context) ([]delivery.SigningKey, error) {
	records, err := list(ctx, s.db, signingKeyTable, signingKeyOrder, every())
	return convert(records, func(r signingKeyRecord) delivery.SigningKey { return delivery.SigningKey(r) }), err
}

func (s webhooks) DeleteKey(ctx context.Context, number int) error {
	return s.db.write(ctx, func(tx *bbolt.Tx) error {
		return signingKeyTable.remove(tx, signingKeyID(number))
	})
}
