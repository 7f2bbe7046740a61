package page

import (
	"context"

	"github.com/innsigli/innsigli/storage"
)

// Record is what the page remembers for a while: a visit, or how often something was begun. Its key is
// a SHA-256, and its value is a secret.
type Record = storage.Record

// Store keeps records; a [storage.Records] is one. Two that read one in transactions, be it there or
// not, do so one after the other, so what is counted in them is counted right. What has expired is for
// others to delete.
type Store interface {
	PutRecord(ctx context.Context, r Record) error
	Record(ctx context.Context, key []byte) (Record, error)
	DeleteRecord(ctx context.Context, key []byte) error
}
