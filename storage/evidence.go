package storage

import (
	"context"
	"encoding/json"
	"time"
)

// Entry is a fact of the evidence log: who was asked for a signature, by whom, over which
// digest, with which certificate, and when (spec 7.3). It holds no document.
type Entry struct {
	// Seq is the entry's place in the log, given by Record; later entries have higher ones.
	Seq     int64
	Subject string // ID of the request or process that it is about
	Account string
	Kind    string // what happened, such as "signature.asked"
	At      time.Time
	Facts   json.RawMessage // a JSON object, as its Kind defines it
}

// EvidenceLog keeps entries in the order in which they were recorded. There is no way to
// change one.
type EvidenceLog interface {
	// Record adds entries. It joins the transaction.
	Record(ctx context.Context, entries ...Entry) error
	// Entries returns the entries about a subject in their order.
	Entries(ctx context.Context, subject string) ([]Entry, error)
	// EntriesAfter returns up to limit entries whose Seq is greater than the one given, in
	// their order.
	EntriesAfter(ctx context.Context, seq int64, limit int) ([]Entry, error)
	// DeleteEntries removes entries recorded At a time before the one given, at most limit of
	// them, and says how many. It joins the transaction.
	DeleteEntries(ctx context.Context, before time.Time, limit int) (int, error)
}
