package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

var requestTable = table[requestRow]{
	name: "signing_requests",
	columns: []string{
		"id", "account", "created_at", "updated_at", "expires", "phase",
		"person", "text", "place", "level", "document", "busy_signal",
		"state_provider", "state_version", "state_key", "state_public", "state_secret", "state_expires",
		"pending", "code", "value", "signed_at", "next_try", "next_ask", "failure", "refused",
		"start_code", "start_expires", "stamp", "key_client", "key", "key_fingerprint",
		"polled_at", "lease_process", "lease_token", "lease_until", "revision", "order_id", "order_document", "kept",
		"format", "packing", "xml_level", "city", "country",
	},
	fields: func(r *requestRow) []any {
		return []any{
			&r.ID, &r.Account, &r.CreatedAt, &r.UpdatedAt, &r.Expires, (*string)(&r.Phase),
			encoded[idp.Person]{&r.Person}, encoded[idp.Text]{&r.Text}, &r.Place, (*int)(&r.Level), &r.Document, &r.BusySignal,
			&r.State.Provider, &r.State.Version, &r.State.Key, &r.State.Public, &r.State.Secret, (*moment)(&r.State.Expires),
			&r.Pending, &r.Code, &r.Value, (*moment)(&r.SignedAt), (*moment)(&r.NextTry), (*moment)(&r.NextAsk), encoded[*idp.Failure]{&r.Failure}, &r.Refused,
			&r.StartCode, (*moment)(&r.StartExpires), encoded[*signing.Stamp]{&r.Stamp}, &r.keyClient, &r.key, &r.keyFingerprint,
			(*moment)(&r.PolledAt), &r.Lease.Process, &r.Lease.Token, (*moment)(&r.Lease.Until), &r.Revision, &r.Order, &r.orderDocument, &r.Draft,
			(*string)(&r.Format), (*int)(&r.Packing), (*int)(&r.xmlLevel), &r.City, &r.Country,
		}
	},
}

// requestRow is a stored request. Its idempotency key has columns of its own, which are NULL if there is none;
// the Key of the embedded request is not used. A server of a version before orders or XML must not sign such a
// request: so the document of a request with an order and the level of a request for XML are stored in columns
// that it does not know, and it reads an empty document and noLevel.
type requestRow struct {
	signing.Request
	keyClient, key, keyFingerprint *string
	orderDocument                  string
	xmlLevel                       ades.Level
}

// noLevel is a level at which no version signs.
const noLevel ades.Level = -1

func storedRequest(r signing.Request) requestRow {
	row := requestRow{Request: r}
	if k := r.Key; k != nil {
		row.keyClient, row.key, row.keyFingerprint = &k.Client, &k.Key, &k.Fingerprint
	}
	if r.Order != "" {
		row.Document, row.orderDocument = "", r.Document
	}
	if r.Format == signing.XML {
		row.Level, row.xmlLevel = noLevel, r.Level
	}
	return row
}

func (r requestRow) request() signing.Request {
	request := r.Request
	if r.key != nil {
		request.Key = &signing.IdempotencyKey{Client: *r.keyClient, Key: *r.key, Fingerprint: *r.keyFingerprint}
	}
	if r.Order != "" {
		request.Document = r.orderDocument
	}
	if r.Format == signing.XML {
		request.Level = r.xmlLevel
	}
	return request
}

// requests is the signing.Store of a DB.
type requests struct{ db *DB }

var _ signing.Store = requests{}

// Requests returns the store of signing requests.
func (db *DB) Requests() signing.Store { return requests{db} }

func (s requests) CreateRequest(ctx context.Context, r signing.Request) error {
	err := s.db.write(ctx, func(tx pgx.Tx) error { return requestTable.insert(ctx, tx, storedRequest(r)) })
	if err == nil {
		s.db.txn(ctx).lockedRevision(r.ID, r.Revision)
	}
	return err
}

func (s requests) Request(ctx context.Context, id string) (signing.Request, error) {
	row, err := find(ctx, s.db, requestTable, "id = $1", id)
	if t := s.db.txn(ctx); t != nil && err == nil {
		t.lockedRevision(id, row.Revision)
	}
	return row.request(), err
}

func (s requests) RequestByKey(ctx context.Context, client, key string) (signing.Request, error) {
	row, err := find(ctx, s.db, requestTable, "key_client = $1 AND key = $2", client, key)
	return row.request(), err
}

// updateRequest replaces the request that has the revision before.
var updateRequest = requestTable.updateStatement("revision = " + requestTable.parameter("revision") + " - 1")

// UpdateRequest does not wait for the update of a request that the transaction has read: it is locked, and known to have the
// revision before.
func (s requests) UpdateRequest(ctx context.Context, r signing.Request) error {
	if t := s.db.txn(ctx); t != nil && t.raiseRevision(r.ID, r.Revision) {
		row := storedRequest(r)
		return s.db.queueExec(ctx, updateRequest, requestTable.fields(&row)...)
	}
	return s.db.write(ctx, func(tx pgx.Tx) error {
		updated, err := requestTable.update(ctx, tx, storedRequest(r), "revision = "+requestTable.parameter("revision")+" - 1")
		if updated || err != nil {
			return err
		}
		if _, err := requestTable.find(ctx, tx, "id = $1", r.ID); err != nil {
			return err
		}
		return signing.ErrConflict
	})
}

func (s requests) DeleteRequest(ctx context.Context, id string) error {
	if t := s.db.txn(ctx); t != nil {
		t.lockedRevision(id, unknownRevision)
	}
	return s.db.write(ctx, func(tx pgx.Tx) error {
		if err := requestTable.remove(ctx, tx, id); !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		return nil
	})
}

func (s requests) Abandoned(ctx context.Context, account string, before time.Time, limit int) ([]signing.Request, error) {
	return s.first(ctx, "account = $1 AND phase <> 'ended' AND created_at < $2 ORDER BY created_at, seq LIMIT $3", account, before, max(limit, 0))
}

func (s requests) RequestsBefore(ctx context.Context, before time.Time, limit int) ([]signing.Request, error) {
	return s.first(ctx, "created_at < $1 ORDER BY created_at, seq LIMIT $2", before, max(limit, 0))
}

func (s requests) Unfinished(ctx context.Context, before time.Time, limit int) ([]signing.Request, error) {
	return s.first(ctx, "phase <> 'ended' AND created_at < $1 ORDER BY created_at, seq LIMIT $2", before, max(limit, 0))
}

// first lists requests and in a transaction locks them, because the caller is going to change them.
func (s requests) first(ctx context.Context, condition string, args ...any) (list []signing.Request, err error) {
	err = s.db.read(ctx, func(q querier) error {
		rows, err := requestTable.list(ctx, q, condition+rowLock(q), args...)
		list = convert(rows, requestRow.request)
		return err
	})
	return list, err
}

var certificateTable = table[signing.KeptCertificate]{
	name:    "kept_certificates",
	columns: []string{"person", "certificate", "expires"},
	fields:  func(c *signing.KeptCertificate) []any { return []any{&c.Person, &c.Certificate, &c.Expires} },
}

func (s requests) KeepCertificate(ctx context.Context, c signing.KeptCertificate) error {
	return s.db.queueExec(ctx, certificateTable.saveStatement(), certificateTable.fields(&c)...)
}

func (s requests) KeptCertificate(ctx context.Context, person string) (signing.KeptCertificate, error) {
	return find(ctx, s.db, certificateTable, "person = $1", person)
}

func (s requests) DropCertificates(ctx context.Context, before time.Time, limit int) (n int, err error) {
	last := before.Add(-time.Microsecond) // the resolution of stored times
	err = s.db.write(ctx, func(tx pgx.Tx) error {
		n, err = certificateTable.removeFirst(ctx, tx, "expires", last, limit)
		return err
	})
	return n, err
}
