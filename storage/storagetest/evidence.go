package storagetest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/innsigli/innsigli/storage"
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

var evidence = tests{
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

	"old entries are deleted by their time, in batches": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addEntries(t, b, exampleEntry("s", "4", 4), exampleEntry("s", "1", 1), exampleEntry("s", "2", 2), exampleEntry("s", "3", 3))
		for _, want := range []struct {
			limit, deleted int
			left           []storage.Entry
		}{
			{0, 0, []storage.Entry{exampleEntry("s", "4", 4), exampleEntry("s", "1", 1), exampleEntry("s", "2", 2), exampleEntry("s", "3", 3)}},
			{1, 1, []storage.Entry{exampleEntry("s", "4", 4), exampleEntry("s", "2", 2), exampleEntry("s", "3", 3)}},
			{10, 1, []storage.Entry{exampleEntry("s", "4", 4), exampleEntry("s", "3", 3)}},
			{10, 0, []storage.Entry{exampleEntry("s", "4", 4), exampleEntry("s", "3", 3)}},
		} {
			deleteEntries(t, b, after(3), want.limit, want.deleted)
			checkEntries(t, allEntries(t, b), nil, want.left...)
		}
	},

	"a Seq is never used twice": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addEntries(t, b, exampleEntry("s", "1", 1), exampleEntry("s", "2", 2))
		last := allEntries(t, b)[1].Seq
		deleteEntries(t, b, after(10), 10, 2)
		b = b.Reopen(t)
		addEntries(t, b, exampleEntry("s", "3", 3))
		if next := allEntries(t, b)[0].Seq; next <= last {
			t.Errorf("entry %d was recorded after %d", next, last)
		}
	},
}

// deleteEntries deletes old entries, and fails the test unless there were so many.
func deleteEntries(t *testing.T, b Backend, before time.Time, limit, want int) {
	t.Helper()
	n := -1
	do(t, b, func(ctx context.Context) (err error) {
		n, err = b.EvidenceLog.DeleteEntries(ctx, before, limit)
		return err
	})
	if n != want {
		t.Errorf("deleted %d entries, want %d", n, want)
	}
}
