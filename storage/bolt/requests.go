package bolt

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

var (
	requestsByAge = index[requestRecord]{bucket: "signing.age", grows: true, key: func(r requestRecord) []byte { return instant(r.CreatedAt) }}

	requestsOfAccount = index[requestRecord]{bucket: "signing.account", key: func(r requestRecord) []byte {
		return append(text(r.Account), instant(r.CreatedAt)...)
	}}

	liveRequests = index[requestRecord]{bucket: "signing.live", key: func(r requestRecord) []byte {
		if r.Phase == signing.Ended {
			return nil
		}
		return append(text(r.Account), instant(r.CreatedAt)...)
	}}

	unfinishedRequests = index[requestRecord]{bucket: "signing.unfinished", key: func(r requestRecord) []byte {
		if r.Phase == signing.Ended {
			return nil
		}
		return instant(r.CreatedAt)
	}}

	requestsByKey = index[requestRecord]{bucket: "signing.key", unique: true, key: func(r requestRecord) []byte {
		if r.Key == nil {
			return nil
		}
		return idempotencyKey(r.Key.Client, r.Key.Key)
	}}

	requestTable = table[requestRecord]{bucket: "signing", indexes: []index[requestRecord]{requestsByAge, requestsOfAccount, liveRequests, unfinishedRequests, requestsByKey}}
)

func idempotencyKey(client, key string) []byte { return append(text(client), text(key)...) }

type requestRecord struct {
	ID           string                  `json:"id"`
	Account      string                  `json:"account"`
	CreatedAt    time.Time               `json:"createdAt"`
	UpdatedAt    time.Time               `json:"updatedAt"`
	Expires      time.Time               `json:"expires"`
	Phase        signing.Phase           `json:"phase"`
	Person       idp.Person              `json:"person"`
	Text         idp.Text                `json:"text"`
	Place        string                  `json:"place,omitempty"`
	Level        ades.Level              `json:"level"`
	Format       signing.Format          `json:"format,omitempty"`
	Packing      signing.Packing         `json:"packing,omitempty"`
	City         string                  `json:"city,omitempty"`
	Country      string                  `json:"country,omitempty"`
	Document     string                  `json:"document"`
	Stamp        *signing.Stamp          `json:"stamp,omitempty"`
	BusySignal   string                  `json:"busySignal,omitempty"`
	Order        string                  `json:"order,omitempty"`
	State        idp.State               `json:"state"`
	Pending      []byte                  `json:"pending,omitempty"`
	Code         string                  `json:"code,omitempty"`
	Value        []byte                  `json:"value,omitempty"`
	Draft        []byte                  `json:"kept,omitempty"`
	SignedAt     time.Time               `json:"signedAt,omitzero"`
	NextTry      time.Time               `json:"nextTry,omitzero"`
	NextAsk      time.Time               `json:"nextAsk,omitzero"`
	Failure      *idp.Failure            `json:"failure,omitempty"`
	Refused      bool                    `json:"refused,omitempty"`
	StartCode    string                  `json:"startCode,omitempty"`
	StartExpires time.Time               `json:"startExpires,omitzero"`
	Key          *signing.IdempotencyKey `json:"key,omitempty"`
	PolledAt     time.Time               `json:"polledAt,omitzero"`
	Lease        signing.Lease           `json:"lease"`
	Revision     int64                   `json:"revision"`
}

// requests is the signing.Store of a DB.
type requests struct{ db *DB }

var _ signing.Store = requests{}

// Requests is the store of signing requests.
func (db *DB) Requests() signing.Store { return requests{db} }

func (s requests) CreateRequest(ctx context.Context, r signing.Request) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return requestTable.insert(tx, r.ID, requestRecord(r))
	})
}

func (s requests) Request(ctx context.Context, id string) (signing.Request, error) {
	record, err := read(ctx, s.db, requestTable, id)
	return signing.Request(record), err
}

func (s requests) RequestByKey(ctx context.Context, client, key string) (r signing.Request, err error) {
	err = s.db.read(ctx, func(tx *boltTx) error {
		record, err := requestTable.find(tx, requestsByKey, idempotencyKey(client, key))
		r = signing.Request(record)
		return err
	})
	return r, err
}

func (s requests) UpdateRequest(ctx context.Context, r signing.Request) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		old, err := requestTable.get(tx, r.ID)
		if err != nil {
			return err
		}
		if old.Revision != r.Revision-1 {
			return signing.ErrConflict
		}
		return requestTable.update(tx, r.ID, requestRecord(r))
	})
}

func (s requests) DeleteRequest(ctx context.Context, id string) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		if err := requestTable.remove(tx, id); !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		return nil
	})
}

func (s requests) Abandoned(ctx context.Context, account string, created time.Time, limit int) ([]signing.Request, error) {
	of := text(account)
	in := span{from: of, to: bytes.Join([][]byte{of, instant(created)}, nil)}
	return s.first(ctx, liveRequests, in, limit)
}

func (s requests) RequestsBefore(ctx context.Context, created time.Time, limit int) ([]signing.Request, error) {
	return s.first(ctx, requestsByAge, before(created), limit)
}

func (s requests) Unfinished(ctx context.Context, created time.Time, limit int) ([]signing.Request, error) {
	return s.first(ctx, unfinishedRequests, before(created), limit)
}

func (s requests) first(ctx context.Context, ix index[requestRecord], in span, limit int) ([]signing.Request, error) {
	records, err := first(ctx, s.db, requestTable, ix, in, limit)
	return convert(records, func(r requestRecord) signing.Request { return signing.Request(r) }), err
}
