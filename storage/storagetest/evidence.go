package storagetest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/evidence"
)

// exampleEntry is an entry about a subject, so many seconds after base.
func exampleEntry(subject, kind string, seconds int) storage.Entry {
	return storage.Entry{
		Subject: id(subject), Account: id("a"), Kind: kind, At: after(seconds),
		Facts: json.RawMessage(`{ "b":1.50, "a":"<Þór> \u00fe \u0000", "a":[ ] }`),
	}
}

func addEntries(t *testing.T, b Backend, entries ...storage.Entry) {
	t.Helper()
	do(t, b, func(ctx context.Context) error { return b.EvidenceLog.Record(ctx, entries...) })
}

// checkEntries fails the test unless the entries are those wanted, in this order. It ignores the values of Seq
// but for their order.
func checkEntries(t *testing.T, got []storage.Entry, err error, want ...storage.Entry) {
	t.Helper()
	want = append([]storage.Entry(nil), want...)
	for i := range min(len(got), len(want)) {
		want[i].Seq = got[i].Seq
		if i > 0 && got[i].Seq <= got[i-1].Seq {
			t.Errorf("entry %d comes after %d", got[i].Seq, got[i-1].Seq)
		}
	}
	checkRead(t, got, err, want)
}

// allEntries returns the whole log.
func allEntries(t *testing.T, b Backend) []storage.Entry {
	t.Helper()
	entries, err := b.EvidenceLog.EntriesAfter(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

var evidenceEntries = tests{
	"an entry is stored unchanged": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addEntries(t, b, exampleEntry("s", "asked", 0))
		b = b.Reopen(t)
		got, err := b.EvidenceLog.Entries(t.Context(), id("s"))
		checkEntries(t, got, err, exampleEntry("s", "asked", 0))
	},

	"entries about a subject are in the order of recording": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		first, second, third := exampleEntry("s", "asked", 9), exampleEntry("s", "made", 1), exampleEntry("s", "made", 1)
		addEntries(t, b, first, exampleEntry("other", "asked", 0), second)
		addEntries(t, b, third)
		got, err := b.EvidenceLog.Entries(t.Context(), id("s"))
		checkEntries(t, got, err, first, second, third)
		for _, unknown := range []string{"", "s", id("s")[:8], "\x00"} {
			got, err := b.EvidenceLog.Entries(t.Context(), unknown)
			checkEntries(t, got, err)
		}
	},

	"the log is read page by page": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		var all []storage.Entry
		for i := range 7 {
			all = append(all, exampleEntry(fmt.Sprint(i%3), "asked", -i))
			addEntries(t, b, all[i])
		}
		var pages []storage.Entry
		for seq := int64(-1); ; {
			page, err := b.EvidenceLog.EntriesAfter(t.Context(), seq, 3)
			if err != nil || len(page) > 3 {
				t.Fatalf("a page of %d: %v", len(page), err)
			}
			if len(page) == 0 {
				break
			}
			pages, seq = append(pages, page...), page[len(page)-1].Seq
		}
		checkEntries(t, pages, nil, all...)
		got, err := b.EvidenceLog.EntriesAfter(t.Context(), 0, 0)
		checkEntries(t, got, err)
	},

	"no entry appears before those already read": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		record := func(kind string) func(ctx context.Context) error {
			return func(ctx context.Context) error { return b.EvidenceLog.Record(ctx, exampleEntry("s", kind, 0)) }
		}
		read := make(chan []storage.Entry, 1)
		o := &overlap{b: b, fn: record("second")}
		do(t, b, func(ctx context.Context) error {
			defer briefly(func() {
				entries, err := b.EvidenceLog.EntriesAfter(t.Context(), 0, 10)
				checkError(t, err, nil)
				read <- entries
			})
			defer o.meanwhile(t)
			return record("first")(ctx)
		})
		o.wait(t)
		first, last := <-read, int64(0)
		if len(first) > 0 {
			last = first[len(first)-1].Seq
		}
		rest, err := b.EvidenceLog.EntriesAfter(t.Context(), last, 10)
		if err != nil || len(first)+len(rest) != 2 {
			t.Errorf("of two entries %d were read and then %d, error %v", len(first), len(rest), err)
		}
	},

	"a rollback removes entries": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		rollBack(t, b, func(ctx context.Context) error {
			if err := b.EvidenceLog.Record(ctx, exampleEntry("s", "asked", 0)); err != nil {
				return err
			}
			got, err := b.EvidenceLog.Entries(ctx, id("s"))
			checkEntries(t, got, err, exampleEntry("s", "asked", 0))
			return nil
		})
		checkEntries(t, allEntries(t, b), nil)
	},

	"facts that are not JSON are refused": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for _, facts := range []string{"", "{", "{}{}", "Þór"} {
			e := exampleEntry("s", "asked", 0)
			e.Facts = json.RawMessage(facts)
			if err := b.InTx(t.Context(), func(ctx context.Context) error { return b.EvidenceLog.Record(ctx, e) }); err == nil {
				t.Errorf("recorded %q", facts)
			}
		}
		checkEntries(t, allEntries(t, b), nil)
	},

	"entries are deleted with their salts, and a batch with all before it": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		one, two, three, four := exampleEntry("s", "1", 1), exampleEntry("s", "2", 2), exampleEntry("other", "3", 3), exampleEntry("s", "4", 4)
		addEntries(t, b, one, two)
		chainAll(t, b)
		addEntries(t, b, three)
		chainAll(t, b)
		addEntries(t, b, four)
		all := allEntries(t, b)
		do(t, b, func(ctx context.Context) error { return b.EvidenceLog.DeleteEntries(ctx, all[0].Seq, 1000) })
		checkSalted(t, allEntries(t, b), []bool{true, true, false}, two, three, four)
		doFailing(t, b, storage.ErrNotFound, func(ctx context.Context) error { return b.EvidenceLog.DeleteBatch(ctx, 3) })
		do(t, b, func(ctx context.Context) error { return b.EvidenceLog.DeleteBatch(ctx, 1) })
		checkSalted(t, allEntries(t, b), []bool{true, false}, three, four)
		batches, err := b.EvidenceLog.Batches(t.Context(), 0, 10)
		if err != nil || len(batches) != 1 || batches[0].Number != 2 {
			t.Errorf("the batches that are left: %+v, %v", batches, err)
		}
	},

	"a chain is stored unchanged, and only its next batch is appended": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		_, err := b.EvidenceLog.LastBatch(t.Context())
		checkError(t, err, storage.ErrNotFound)
		addEntries(t, b, exampleEntry("s", "1", 1), exampleEntry("s", "2", 2), exampleEntry("s", "3", 3))
		all := allEntries(t, b)
		first := exampleBatch(1, all[:2]...)
		add := func(batch storage.Batch) func(ctx context.Context) error {
			return func(ctx context.Context) error {
				salts := make([][]byte, len(batch.Entries))
				for i := range salts {
					salts[i] = []byte{byte(i), 0, 255}
				}
				return b.EvidenceLog.AddBatch(ctx, batch, salts)
			}
		}
		do(t, b, add(first))
		for _, wrong := range []storage.Batch{first, exampleBatch(1, all[2]), exampleBatch(3, all[2]), exampleBatch(2, all[1])} {
			doFailing(t, b, storage.ErrMoved, add(wrong))
		}
		rollBack(t, b, add(exampleBatch(2, all[2])))
		second := exampleBatch(2, all[2])
		do(t, b, add(second))
		b = b.Reopen(t)
		is(t, []storage.Batch{first, second})(b.EvidenceLog.Batches(t.Context(), 0, 10))
		is(t, []storage.Batch{first})(b.EvidenceLog.Batches(t.Context(), 0, 1))
		is(t, []storage.Batch{second})(b.EvidenceLog.Batches(t.Context(), 1, 10))
		is(t, second)(b.EvidenceLog.LastBatch(t.Context()))
		all[0].Salt, all[1].Salt, all[2].Salt = []byte{0, 0, 255}, []byte{1, 0, 255}, []byte{0, 0, 255}
		is(t, all)(b.EvidenceLog.Entries(t.Context(), id("s")))
		is(t, all)(b.EvidenceLog.EntriesAfter(t.Context(), 0, 10))
		checkError(t, add(exampleBatch(3, all[2]))(t.Context()), storage.ErrNoTx)
	},

	"servers that chain at once chain each entry once": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		concurrently(t, 6, func(i int) error {
			c := evidence.Chain{Log: b.EvidenceLog, Tx: b}
			for state, n := (evidence.State{}), 0; n < 10; n++ {
				err := b.InTx(t.Context(), func(ctx context.Context) error {
					return b.EvidenceLog.Record(ctx, exampleEntry(fmt.Sprint(i), "asked", n))
				})
				if err != nil {
					return err
				}
				if state, err = c.Extend(t.Context(), state); err != nil {
					return err
				}
			}
			return nil
		})
		chainAll(t, b)
		if result := checkUntouched(t, b.EvidenceLog, evidence.Options{}); result.Entries != 60 || result.Unchained != 0 {
			t.Errorf("of 60 entries: %+v", result)
		}
	},

	"a log is restored with its chain": func(t *testing.T, open func(*testing.T) Backend) {
		from, to := open(t), open(t)
		original := chainedLog(t, from)
		do(t, to, func(ctx context.Context) error {
			return to.EvidenceLog.Restore(ctx, original.entries, original.batches)
		})
		is(t, original.entries)(to.EvidenceLog.EntriesAfter(t.Context(), 0, 1000))
		is(t, original.batches)(to.EvidenceLog.Batches(t.Context(), 0, 1000))
		addEntries(t, to, exampleEntry("s", "later", 1))
		chainAll(t, to)
		checkUntouched(t, to.EvidenceLog, evidence.Options{Head: &original.head, CheckToken: checkToken})
	},

	"the last entry about a subject": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		_, err := b.EvidenceLog.LastEntry(t.Context(), id("s"))
		checkError(t, err, storage.ErrNotFound)
		addEntries(t, b, exampleEntry("s", "1", 9), exampleEntry("s", "2", 1), exampleEntry("z", "3", 3), exampleEntry("a", "4", 3))
		all := allEntries(t, b)
		for subject, want := range map[string]storage.Entry{"s": all[1], "z": all[2], "a": all[3]} {
			is(t, want)(b.EvidenceLog.LastEntry(t.Context(), id(subject)))
		}
		for _, unknown := range []string{"", "s", id("s")[:8], id("s") + "0", "\xff"} {
			_, err := b.EvidenceLog.LastEntry(t.Context(), unknown)
			checkError(t, err, storage.ErrNotFound)
		}
	},

	"a Seq is never used twice": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addEntries(t, b, exampleEntry("s", "1", 1), exampleEntry("s", "2", 2))
		last := allEntries(t, b)[1].Seq
		do(t, b, func(ctx context.Context) error { return b.EvidenceLog.DeleteEntries(ctx, last-1, last) })
		b = b.Reopen(t)
		addEntries(t, b, exampleEntry("s", "3", 3))
		if next := allEntries(t, b)[0].Seq; next <= last {
			t.Errorf("entry %d was recorded after %d", next, last)
		}
	},
}

// chainAll chains all entries.
func chainAll(t *testing.T, b Backend) {
	t.Helper()
	if _, err := (evidence.Chain{Log: b.EvidenceLog, Tx: b}).Extend(t.Context(), evidence.State{}); err != nil {
		t.Fatal(err)
	}
}

// checkSalted fails the test unless the entries are those wanted, and have salts or none as salted says.
func checkSalted(t *testing.T, got []storage.Entry, salted []bool, want ...storage.Entry) {
	t.Helper()
	got = slices.Clone(got)
	for i := range got {
		if i < len(salted) && (got[i].Salt != nil) != salted[i] {
			t.Errorf("entry %d has the salt %x", got[i].Seq, got[i].Salt)
		}
		got[i].Salt = nil
	}
	checkEntries(t, got, nil, want...)
}

// exampleBatch returns a batch of entries with a value in each field.
func exampleBatch(n int64, entries ...storage.Entry) storage.Batch {
	b := storage.Batch{Number: n, Previous: sha256.Sum256([]byte("previous")), Head: sha256.Sum256([]byte("head")), Total: 7 * n, Newest: after(int(n))}
	for _, e := range entries {
		b.Entries = append(b.Entries, storage.EntryDigest{Seq: e.Seq, Sum: sha256.Sum256([]byte(e.Kind))})
	}
	return b
}
