package bolt

import (
	"bytes"
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage"
)

// content is what a store has, as far as the tests of undoing look at it.
type content struct {
	Records   map[string]storage.Record
	Entries   []string          // facts of the evidence log
	Documents map[string]string // by ID
}

func (c content) clone() content {
	return content{maps.Clone(c.Records), slices.Clone(c.Entries), maps.Clone(c.Documents)}
}

// read reads the content of a store, in the order of each index too.
func (c content) read(t *testing.T, ctx context.Context, db *DB) (found content) {
	t.Helper()
	found = content{Records: map[string]storage.Record{}, Documents: map[string]string{}}
	records, err := list(ctx, db, pageRecordTable, pageRecordExpiry, every())
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range records {
		if i > 0 && r.Expires.Before(records[i-1].Expires) {
			t.Errorf("record %d expires before the one before", i)
		}
		found.Records[string(r.Key)] = storage.Record(r)
	}
	if len(found.Records) != len(records) {
		t.Errorf("the index has %d entries for %d records", len(records), len(found.Records))
	}
	entries, err := db.EvidenceLog().EntriesAfter(ctx, 0, noLimit)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range entries {
		if e.Seq != int64(i)+1 {
			t.Errorf("entry %d has the Seq %d", i, e.Seq)
		}
		found.Entries = append(found.Entries, string(e.Facts))
	}
	for id := range c.Documents {
		blob, err := db.Documents().Open(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		all, err := io.ReadAll(io.NewSectionReader(blob, 0, blob.Size()))
		if err != nil {
			t.Fatal(err)
		}
		found.Documents[id] = string(all)
	}
	return found
}

// change makes a random change of a store in a transaction, and of what it should have.
func (c *content) change(ctx context.Context, db *DB, random *rand.Rand) error {
	key := fmt.Sprint("key ", random.IntN(40))
	switch random.IntN(6) {
	case 0, 1:
		r := storage.Record{Key: []byte(key), Value: bytes.Repeat([]byte{byte(random.Uint32())}, 1+random.IntN(1500)), Expires: time.Unix(random.Int64N(50), 0).UTC()}
		c.Records[key] = r
		return db.Pages().PutRecord(ctx, r)
	case 2:
		delete(c.Records, key)
		return db.Pages().DeleteRecord(ctx, []byte(key))
	case 3:
		first := slices.SortedFunc(maps.Values(c.Records), func(a, b storage.Record) int { return a.Expires.Compare(b.Expires) })
		if len(first) == 0 {
			return nil
		}
		until := first[0].Expires
		maps.DeleteFunc(c.Records, func(_ string, r storage.Record) bool { return !r.Expires.After(until) })
		_, err := db.Pages().DeleteRecords(ctx, until, noLimit)
		return err
	case 4:
		facts := fmt.Sprintf(`{"n":%d}`, random.IntN(1000))
		c.Entries = append(c.Entries, facts)
		return db.EvidenceLog().Record(ctx, storage.Entry{Subject: key, Kind: "k", Facts: []byte(facts)})
	}
	ids := slices.Sorted(maps.Keys(c.Documents))
	id := ids[random.IntN(len(ids))]
	more := bytes.Repeat([]byte{byte(random.Uint32())}, 1+random.IntN(3000))
	base := int64(len(c.Documents[id]))
	c.Documents[id] += string(more)
	return db.Documents().Append(ctx, id, storage.Revision{Base: base, Bytes: more})
}

// shared is a store that several transactions change at once. Only who has the turn uses it.
type shared struct {
	db            *DB
	group         *group
	before, after content // of the group
	failed        map[*group]bool
}

// join notes that a transaction is in a group.
func (s *shared) join(g *group) {
	if g == s.group {
		return
	}
	if s.failed[s.group] {
		s.after = s.before
	}
	s.group, s.before = g, s.after
}

var (
	errUndone  = errors.New("the function fails")
	errCommit  = errors.New("the commit fails")
	errStrange = errors.New("the transaction reads something else than it should")
)

// transaction returns a function with random changes, and its end: an error, a panic, an error of a nested transaction,
// or a commit that fails.
func (s *shared) transaction(t *testing.T, random *rand.Rand) (fn func(ctx context.Context) error, want func() error) {
	var g *group
	var result error
	fn = func(ctx context.Context) error {
		g = s.db.txn(ctx).group
		s.join(g)
		mine := s.after.clone()
		for range random.IntN(6) {
			if err := mine.change(ctx, s.db, random); err != nil {
				return fmt.Errorf("%w: %w", errStrange, err)
			}
		}
		if random.IntN(4) == 0 {
			if diff := cmp.Diff(mine, mine.read(t, ctx, s.db)); diff != "" {
				t.Errorf("within a transaction (-want +got):\n%s", diff)
			}
		}
		switch random.IntN(12) {
		case 0, 1, 2:
			result = errUndone
			return errUndone
		case 3:
			result = errUndone
			_ = s.db.InTx(ctx, func(context.Context) error { return errUndone })
			return nil
		case 4:
			result = errUndone
			return s.db.InTx(ctx, func(ctx context.Context) error {
				return errors.Join(mine.change(ctx, s.db, random), errUndone)
			})
		case 5:
			mine.Entries = append(mine.Entries, "{}")
			if err := s.db.EvidenceLog().Record(ctx, storage.Entry{Subject: "s", Kind: "k", Facts: []byte("{}")}); err != nil {
				return err
			}
			g.fail(errCommit)
			s.failed[g] = true
		}
		s.after = mine
		return nil
	}
	return fn, func() error {
		if s.failed[g] {
			return errCommit
		}
		return result
	}
}

// A transaction that fails undoes its own writes and no others, whatever it and those of its group wrote. If a commit
// fails, all transactions of its group fail, and nothing of them is stored. Each round is one or more groups.
func TestATransactionUndoesItsOwnWrites(t *testing.T) { synctest.Test(t, undoesItsOwnWrites) }

func undoesItsOwnWrites(t *testing.T) {
	db := opened(t)
	rounds := 200
	if testing.Short() {
		rounds = 40
	}
	s := &shared{db: db, failed: map[*group]bool{}, after: content{Records: map[string]storage.Record{}, Documents: map[string]string{}}}
	for range 3 {
		ref, err := db.Documents().Create(t.Context(), bytes.NewReader(nil), 0, crypto.SHA256)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.InTx(t.Context(), func(ctx context.Context) error { return db.Documents().Keep(ctx, ref.ID) }); err != nil {
			t.Fatal(err)
		}
		s.after.Documents[ref.ID] = ""
	}
	failed := 0
	for round := range rounds {
		db.file.Load().NoSync = true
		random := rand.New(rand.NewPCG(uint64(round), 1))
		var functions []func(context.Context) error
		var wants []func() error
		for range 1 + random.IntN(12) {
			fn, want := s.transaction(t, random)
			functions, wants = append(functions, fn), append(wants, want)
		}
		for i, err := range together(t, db, functions...) {
			if want := wants[i](); !errors.Is(err, want) || want == nil && err != nil {
				t.Errorf("round %d, transaction %d: %v, want %v", round, i, err, want)
			}
		}
		s.join(nil)
		failed += len(s.failed)
		clear(s.failed)
		if round%20 == 0 {
			db = reopened(t, db)
			s.db = db
		}
		if diff := cmp.Diff(s.after, s.after.read(t, t.Context(), db)); diff != "" {
			t.Fatalf("round %d (-want +got):\n%s", round, diff)
		}
		if faults := db.Check(); len(faults) > 0 {
			t.Fatalf("round %d: %v", round, errors.Join(faults...))
		}
	}
	if failed == 0 || len(s.after.Entries) < rounds {
		t.Errorf("%d commits failed, and %d entries were recorded", failed, len(s.after.Entries))
	}
}

// reopened closes a store and opens it again.
func reopened(t *testing.T, db *DB) *DB {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(db.path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { again.Close() })
	return again
}
