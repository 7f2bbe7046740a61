package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

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
	db, url := opened(t, Options{})
	conn := connected(t, url)
	record := func(ctx context.Context) error {
		return db.EvidenceLog().Record(ctx, storage.Entry{Subject: "s", Kind: "asked", At: time.Now(), Facts: []byte("{}")})
	}
	do(t, db, record)
	read := make(chan []int64, 1)
	do(t, db, func(ctx context.Context) error { // the second entry is recorded, and not committed yet
		if err := record(ctx); err != nil {
			return err
		}
		if _, err := db.EvidenceLog().Entries(ctx, "s"); err != nil { // sends what is queued
			return err
		}
		do(t, db, record)
		go func() {
			entries, err := db.EvidenceLog().EntriesAfter(t.Context(), 0, 10)
			if err != nil {
				t.Error(err)
			}
			var seqs []int64
			for _, e := range entries {
				seqs = append(seqs, e.Seq)
			}
			read <- seqs
		}()
		testenv.Wait(t, "the reader to wait", func() bool { // its last statement is that of the loop in awaitRecording
			var waits bool
			err := conn.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity
				WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%&& $1::text[]')`).Scan(&waits)
			if err != nil {
				t.Fatal(err)
			}
			return waits || len(read) > 0
		})
		for range 10 {
			do(t, db, record)
		}
		if len(read) > 0 {
			t.Error("entries were read before the second was committed")
		}
		return nil
	})
	seqs, _ := testenv.Receive(t, "the entries", read)
	if diff := cmp.Diff([]int64{1, 2, 3}, seqs); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
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

// evidenceRoles returns a database as the role of servers has it open, and as one that deletes evidence.
func evidenceRoles(t *testing.T) (database string, server, pruner *DB) {
	t.Helper()
	database = migrated(t)
	execute(t, database, `
		DO $$ BEGIN CREATE ROLE innsigli_evidence; EXCEPTION WHEN duplicate_object OR unique_violation THEN END $$;
		DO $$ BEGIN CREATE ROLE chain_server LOGIN PASSWORD 'secret'; EXCEPTION WHEN duplicate_object OR unique_violation THEN END $$;
		DO $$ BEGIN CREATE ROLE chain_pruner LOGIN PASSWORD 'secret'; EXCEPTION WHEN duplicate_object OR unique_violation THEN END $$;
		GRANT innsigli_evidence TO chain_pruner`)
	if err := GrantServer(t.Context(), database, "chain_server", Options{}); err != nil {
		t.Fatal(err)
	}
	execute(t, database, "GRANT ALL ON evidence, evidence_salts, evidence_batches TO chain_server") // the triggers refuse the rest
	return database, openedAt(t, asRole(t, database, "chain_server"), Options{}), openedAt(t, asRole(t, database, "chain_pruner"), Options{})
}

// What a server's role can insert makes the operator delete nothing else than what was asked for.
func TestPruningBelievesNoRecord(t *testing.T) {
	database, server, pruner := evidenceRoles(t)
	as := func(db *DB) storagetest.Backend {
		return storagetest.Backend{Transactor: db, EvidenceLog: db.EvidenceLog()}
	}
	storagetest.LyingPrune(t, as(server), as(pruner), as(openedAt(t, database, Options{})))
}

// Operators that erase and prune at once wait for each other in turn, and none fails.
func TestErasingAndPruningAtOnce(t *testing.T) {
	_, server, pruner := evidenceRoles(t)
	at := time.Date(2026, 3, 1, 12, 30, 15, 123456000, time.UTC)
	chain := evidence.Chain{Log: pruner.EvidenceLog(), Tx: pruner, Clock: func(context.Context) time.Time { return at.AddDate(1, 0, 0) }}
	const n = 8
	for i := range n {
		old := storage.Entry{Subject: "old", Kind: "asked", At: at, Facts: []byte("{}")}
		later := storage.Entry{Subject: fmt.Sprint(i), Kind: "asked", At: at.AddDate(0, 6, 0), Facts: []byte("{}")}
		do(t, server, func(ctx context.Context) error { return server.EvidenceLog().Record(ctx, old) })
		if _, err := (evidence.Chain{Log: server.EvidenceLog(), Tx: server}).Extend(t.Context(), evidence.State{}); err != nil {
			t.Fatal(err)
		}
		do(t, server, func(ctx context.Context) error { return server.EvidenceLog().Record(ctx, later) })
	}
	var group errgroup.Group
	for i := range n {
		group.Go(func() error { _, err := chain.Erase(t.Context(), fmt.Sprint(i)); return err })
		group.Go(func() error { _, err := chain.Prune(t.Context(), at.AddDate(0, 1, 0), 0); return err })
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	result, err := evidence.Verify(evidence.Export(t.Context(), server.EvidenceLog()), evidence.Options{})
	if err != nil || result.First != nil {
		t.Errorf("verified: %+v, %v, %v", result, result.First, err)
	}
}

// A server's role appends to the log and its chain, and cannot change or delete either. A member of innsigli_evidence prunes
// and erases.
func TestOnlyTheRoleForEvidenceDeletes(t *testing.T) {
	database, server, pruner := evidenceRoles(t)
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
