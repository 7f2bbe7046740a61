package bolt_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/evidence"
	"github.com/innsigli/innsigli/storage/storagetest"
)

// Each change of the evidence log in the file itself is found.
func TestTamperedEvidence(t *testing.T) {
	folder := t.TempDir()
	db := open(t, filepath.Join(folder, "store.db"))
	b := storagetest.Backend{Transactor: db, EvidenceLog: db.EvidenceLog()}
	changes := 1000
	if testing.Short() && !testenv.Full() {
		changes = 100
	}
	storagetest.TamperedEvidence(t, &b, changes, func(entries []storage.Entry, batches []storage.Batch) {
		db.Close()
		rewriteLog(t, filepath.Join(folder, "store.db"), entries, batches)
		db = open(t, filepath.Join(folder, "store.db"))
		b.Transactor, b.EvidenceLog = db, db.EvidenceLog()
	})
}

func TestPruningBelievesNoRecord(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "store.db"))
	b := storagetest.Backend{Transactor: db, EvidenceLog: db.EvidenceLog()}
	storagetest.LyingPrune(t, b, b, b)
}

// Two rows that were exchanged, with their Seqs, are found.
func TestEvidenceAtAnotherKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	db := open(t, path)
	entries, batches := storagetest.ChainedEvidence(t, storagetest.Backend{Transactor: db, EvidenceLog: db.EvidenceLog()})
	db.Close()
	rewriteLog(t, path, entries, batches)
	update(t, path, func(tx *bbolt.Tx) error {
		return errors.Join(putEntry(tx, entries[3].Seq, entries[4]), putEntry(tx, entries[4].Seq, entries[3]))
	})
	result, err := evidence.Verify(evidence.Export(t.Context(), open(t, path).EvidenceLog()), evidence.Options{})
	if err != nil || result.First == nil || result.First.Fault != evidence.Reordered {
		t.Errorf("found %+v, %v", result.First, err)
	}
}

// update changes a store's file, which no store has open.
func update(t *testing.T, path string, change func(*bbolt.Tx) error) {
	t.Helper()
	file, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(file.Update(change), file.Close()); err != nil {
		t.Fatal(err)
	}
}

// rewriteLog replaces the rows of the evidence log in a store's file.
func rewriteLog(t *testing.T, path string, entries []storage.Entry, batches []storage.Batch) {
	t.Helper()
	update(t, path, func(tx *bbolt.Tx) error {
		for _, name := range []string{"evidence", "evidence.salts", "evidence.batches"} {
			if err := errors.Join(tx.DeleteBucket([]byte(name)), create(tx, name)); err != nil {
				return err
			}
		}
		for _, e := range entries {
			if err := putEntry(tx, e.Seq, e); err != nil {
				return err
			}
		}
		for _, b := range batches {
			var seqs []int64
			var digests []byte
			for _, e := range b.Entries {
				seqs, digests = append(seqs, e.Seq), append(digests, e.Sum[:]...)
			}
			record := map[string]any{
				"number": b.Number, "previous": b.Previous[:], "head": b.Head[:], "total": b.Total, "newest": b.Newest, "seqs": seqs, "digests": digests,
			}
			if err := putRow(tx, "evidence.batches", b.Number, record); err != nil {
				return err
			}
		}
		return nil
	})
}

func create(tx *bbolt.Tx, name string) error {
	_, err := tx.CreateBucket([]byte(name))
	return err
}

func putEntry(tx *bbolt.Tx, key int64, e storage.Entry) error {
	if e.Salt != nil {
		if err := tx.Bucket([]byte("evidence.salts")).Put(numbered(key), e.Salt); err != nil {
			return err
		}
	}
	return putRow(tx, "evidence", key, map[string]any{
		"seq": e.Seq, "subject": e.Subject, "account": e.Account, "kind": e.Kind, "at": e.At, "facts": []byte(e.Facts),
	})
}

func putRow(tx *bbolt.Tx, bucket string, key int64, record any) error {
	value, err := json.Marshal(map[string]any{"seq": key, "record": record})
	if err != nil {
		return err
	}
	return tx.Bucket([]byte(bucket)).Put(numbered(key), value)
}

func numbered(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
