package postgres_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/storage"
)

// TestEvidenceIsAppendOnly checks that the database itself refuses to change entries.
func TestEvidenceIsAppendOnly(t *testing.T) {
	db, conn := migrated(t)
	entry := storage.Entry{Subject: "s", Kind: "asked", At: time.Now(), Facts: json.RawMessage("{}")}
	do(t, db, func(ctx context.Context) error { return db.EvidenceLog().Record(ctx, entry) })
	for _, change := range []string{
		`UPDATE evidence SET facts = '{"changed":true}'`,
		`INSERT INTO evidence (seq, subject, account, kind, at, facts) VALUES (1, 's', '', 'asked', now(), '{}')`,
		`INSERT INTO evidence (seq, subject, account, kind, at, facts) OVERRIDING SYSTEM VALUE VALUES (1, 's', '', 'x', now(), '{}')
			ON CONFLICT (seq) DO UPDATE SET kind = 'x'`,
	} {
		if _, err := conn.Exec(t.Context(), change, pgx.QueryExecModeSimpleProtocol); err == nil {
			t.Errorf("succeeded: %s", change)
		}
	}
	if kind := ask[string](t, conn, "SELECT string_agg(kind, ' ') FROM evidence WHERE facts::text = '{}'"); kind != "asked" {
		t.Errorf("the entries are %q", kind)
	}
}
