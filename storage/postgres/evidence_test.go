package postgres

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/evidence"
	"github.com/innsigli/innsigli/storage/storagetest"
)

// Each change of the evidence log in the tables themselves is found.
func TestTamperedEvidence(t *testing.T) {
	db, url := opened(t, Options{})
	conn := connected(t, url)
	changes := 100
	if testenv.Full() {
		changes = 1000
	}
	if _, err := conn.Exec(t.Context(), "SET session_replication_role = replica"); err != nil { // no triggers
		t.Fatal(err)
	}
	b := storagetest.Backend{Transactor: db, EvidenceLog: db.EvidenceLog()}
	storagetest.TamperedEvidence(t, &b, changes, func(entries []storage.Entry, batches []storage.Batch) {
		var logged, salts, chained [][]any
		for _, e := range entries {
			logged = append(logged, []any{e.Seq, e.Subject, e.Account, e.Kind, e.At, string(e.Facts)})
			if e.Salt != nil {
				salts = append(salts, []any{e.Seq, e.Salt})
			}
		}
		for _, b := range batches {
			r := newBatchRow(b)
			chained = append(chained, batchTable.fields(&r))
		}
		err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), "TRUNCATE evidence, evidence_salts, evidence_batches")
			for _, table := range []struct {
				name    string
				columns []string
				rows    [][]any
			}{
				{"evidence", entryTable.columns[:6], logged}, {"evidence_salts", []string{"seq", "salt"}, salts}, {"evidence_batches", batchTable.columns, chained},
			} {
				_, copyErr := tx.CopyFrom(t.Context(), pgx.Identifier{table.name}, table.columns, pgx.CopyFromRows(table.rows))
				err = errors.Join(err, copyErr)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// A transaction that records waits neither for the chain nor for others that record, while the chain waits for them.
func TestRecordingDoesNotWait(t *testing.T) {
	db, _ := opened(t, Options{})
	record := func(ctx context.Context) error {
		return db.EvidenceLog().Record(ctx, storage.Entry{Subject: "s", Kind: "asked", At: time.Now(), Facts: []byte("{}")})
	}
	do(t, db, record)
	read := make(chan int, 1)
	do(t, db, func(ctx context.Context) error { // the second entry is recorded, and not committed yet
		if err := record(ctx); err != nil {
			return err
		}
		do(t, db, record)
		go func() {
			entries, err := db.EvidenceLog().EntriesAfter(t.Context(), 0, 10)
			if err != nil {
				t.Error(err)
			}
			read <- len(entries)
		}()
		for range 50 {
			do(t, db, record)
		}
		select {
		case n := <-read:
			t.Errorf("%d entries were read before the second was committed", n)
		default:
		}
		return nil
	})
	if n, _ := testenv.Receive(t, "the entries", read); n < 3 {
		t.Errorf("read %d entries", n)
	}
}

// asRole returns a URL with the name and the password of a role.
func asRole(t *testing.T, database, role string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(role, "secret")
	return u.String()
}

// A server's role appends to the log and its chain, and cannot change or delete either. A member of innsigli_evidence prunes
// and erases.
func TestOnlyTheRoleForEvidenceDeletes(t *testing.T) {
	database := migrated(t)
	execute(t, database, `
		DO $$ BEGIN CREATE ROLE innsigli_evidence; EXCEPTION WHEN duplicate_object OR unique_violation THEN END $$;
		DO $$ BEGIN CREATE ROLE chain_server LOGIN PASSWORD 'secret'; EXCEPTION WHEN duplicate_object OR unique_violation THEN END $$;
		DO $$ BEGIN CREATE ROLE chain_pruner LOGIN PASSWORD 'secret'; EXCEPTION WHEN duplicate_object OR unique_violation THEN END $$;
		GRANT innsigli_evidence TO chain_pruner;
		GRANT SELECT ON innsigli_schema TO chain_server, innsigli_evidence;
		GRANT ALL ON evidence, evidence_salts, evidence_batches TO chain_server;
		GRANT SELECT, INSERT, DELETE ON evidence, evidence_salts, evidence_batches TO innsigli_evidence`)
	server, pruner := openedAt(t, asRole(t, database, "chain_server"), Options{}), openedAt(t, asRole(t, database, "chain_pruner"), Options{})
	at := time.Date(2026, 3, 1, 12, 30, 15, 123456000, time.UTC)
	chain := func(db *DB) evidence.Chain { return evidence.Chain{Log: db.EvidenceLog(), Tx: db} }
	entry := storage.Entry{Subject: "s", Kind: "asked", At: at, Facts: []byte("{}")}
	do(t, server, func(ctx context.Context) error { return server.EvidenceLog().Record(ctx, entry, entry) })
	before, err := chain(server).Extend(t.Context(), evidence.State{})
	if err != nil || before.Total != 2 {
		t.Fatal(before, err)
	}
	for name, deletes := range map[string]func() error{
		"pruning": func() error { _, err := chain(server).Prune(t.Context(), at.AddDate(1, 0, 0), 0); return err },
		"erasing": func() error { _, err := chain(server).Erase(t.Context(), "s"); return err },
	} {
		if err := deletes(); !errors.Is(err, storage.ErrNotPermitted) {
			t.Errorf("%s as the server: %v", name, err)
		}
	}
	for _, role := range []string{"chain_server", "chain_pruner"} {
		conn := connected(t, asRole(t, database, role))
		for _, statement := range []string{
			"UPDATE evidence SET kind = 'x'", "UPDATE evidence_salts SET salt = ''", "UPDATE evidence_batches SET total = 0",
			"TRUNCATE evidence", "TRUNCATE evidence_salts", "TRUNCATE evidence_batches",
			"DELETE FROM evidence", "DELETE FROM evidence_salts", "DELETE FROM evidence_batches",
		} {
			if role == "chain_pruner" && strings.HasPrefix(statement, "DELETE") {
				continue
			}
			if _, err := conn.Exec(t.Context(), statement); err == nil {
				t.Errorf("%s may %s", role, statement)
			}
		}
	}
	after, err := chain(server).Extend(t.Context(), evidence.State{})
	if err != nil || after != before {
		t.Errorf("what was refused has changed the chain: %+v, %v", after, err)
	}
	if n, err := chain(pruner).Erase(t.Context(), "s"); err != nil || n != 2 {
		t.Errorf("erasing as the role for it: %d, %v", n, err)
	}
	if n, err := chain(pruner).Prune(t.Context(), at.AddDate(1, 0, 0), 0); err != nil || n != 3 {
		t.Errorf("pruning as the role for it: %d, %v", n, err)
	}
	result, err := evidence.Verify(evidence.Export(t.Context(), server.EvidenceLog()), evidence.Options{})
	if err != nil || result.First != nil || result.Pruned != 2 {
		t.Errorf("verified: %+v, %v, %v", result, result.First, err)
	}
}
