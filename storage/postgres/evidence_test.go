package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/storage"
)

// refused fails the test unless the error is the one wanted.
func refused(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("the error is %v, want %v", err, want)
	}
}

// Not even who has the database at hand changes an entry.
func TestEvidenceDoesNotChange(t *testing.T) {
	db, conn := migrated(t)
	entry := storage.Entry{Subject: "s", Kind: "asked", At: time.Now(), Facts: json.RawMessage("{}")}
	err := db.InTx(t.Context(), func(ctx context.Context) error { return db.EvidenceLog().Record(ctx, entry) })
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []string{
		`UPDATE evidence SET facts = '{"changed":true}'`,
		`INSERT INTO evidence (seq, subject, account, kind, at, facts) VALUES (1, 's', '', 'asked', now(), '{}')`,
		`INSERT INTO evidence (seq, subject, account, kind, at, facts) OVERRIDING SYSTEM VALUE VALUES (1, 's', '', 'x', now(), '{}')
			ON CONFLICT (seq) DO UPDATE SET kind = 'x'`,
	} {
		if _, err := conn.Exec(t.Context(), change, pgx.QueryExecModeSimpleProtocol); err == nil {
			t.Errorf("done: %s", change)
		}
	}
	if kind := ask[string](t, conn, "SELECT string_agg(kind, ' ') FROM evidence WHERE facts::text = '{}'"); kind != "asked" {
		t.Errorf("the entries are %q", kind)
	}
}
