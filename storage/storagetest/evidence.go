package storagetest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// fact is an entry about a subject, so many seconds after base.
func fact(subject, kind string, seconds int) storage.Entry {
	return storage.Entry{
		Subject: id(subject), Account: id("a"), Kind: kind, At: after(seconds),
		Facts: json.RawMessage(`{ "b":1.50, "a":"<Þór> \u00fe \u0000", "a":[ ] }`),
	}
}

func recorded(t *testing.T, b Backend, entries ...storage.Entry) {
	t.Helper()
	do(t, b, func(ctx context.Context) error { return b.EvidenceLog.Record(ctx, entries...) })
}

// logged fails the test unless the entries are those wanted, in this order. Their places in
// the log are taken over from what is there.
func logged(t *testing.T, got []storage.Entry, err error, want ...storage.Entry) {
	t.Helper()
	placed := append([]storage.Entry(nil), want...)
	for i := range min(len(got), len(placed)) {
		placed[i].Seq = got[i].Seq
		if i > 0 && got[i].Seq <= got[i-1].Seq {
			t.Errorf("entry %d comes after %d", got[i].Seq, got[i-1].Seq)
		}
	}
	found(t, got, err, placed)
}

// log is the whole log.
func log(t *testing.T, b Backend) []storage.Entry {
	t.Helper()
	entries, err := b.EvidenceLog.EntriesAfter(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

var evidence = tests{
	"an entry stays as it was recorded": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		recorded(t, b, fact("s", "asked", 0))
		b = b.Reopen(t)
		got, err := b.EvidenceLog.Entries(t.Context(), id("s"))
		logged(t, got, err, fact("s", "asked", 0))
	},

	"entries about a subject are in the order of recording": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		first, second, third := fact("s", "asked", 9), fact("s", "made", 1), fact("s", "made", 1)
		recorded(t, b, first, fact("other", "asked", 0), second)
		recorded(t, b, third)
		got, err := b.EvidenceLog.Entries(t.Context(), id("s"))
		logged(t, got, err, first, second, third)
		for _, unknown := range []string{"", "s", id("s")[:8], "\x00"} {
			got, err := b.EvidenceLog.Entries(t.Context(), unknown)
			logged(t, got, err)
		}
	},

	"the log is read page by page": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		var all []storage.Entry
		for i := range 7 {
			all = append(all, fact(fmt.Sprint(i%3), "asked", -i))
			recorded(t, b, all[i])
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
		logged(t, pages, nil, all...)
		got, err := b.EvidenceLog.EntriesAfter(t.Context(), 0, 0)
		logged(t, got, err)
	},

	"no entry turns up behind those already read": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		record := func(kind string) func(ctx context.Context) error {
			return func(ctx context.Context) error { return b.EvidenceLog.Record(ctx, fact("s", kind, 0)) }
		}
		read := make(chan []storage.Entry, 1)
		o := &overlap{b: b, fn: record("second")}
		do(t, b, func(ctx context.Context) error {
			defer briefly(func() {
				entries, err := b.EvidenceLog.EntriesAfter(t.Context(), 0, 10)
				failed(t, err, nil)
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

	"what is undone was not recorded": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		refused(t, b, errRefused, func(ctx context.Context) error {
			if err := b.EvidenceLog.Record(ctx, fact("s", "asked", 0)); err != nil {
				return err
			}
			got, err := b.EvidenceLog.Entries(ctx, id("s"))
			logged(t, got, err, fact("s", "asked", 0))
			return errRefused
		})
		logged(t, log(t, b), nil)
	},

	"facts that are not JSON are refused": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for _, facts := range []string{"", "{", "{}{}", "Þór"} {
			e := fact("s", "asked", 0)
			e.Facts = json.RawMessage(facts)
			if err := b.InTx(t.Context(), func(ctx context.Context) error { return b.EvidenceLog.Record(ctx, e) }); err == nil {
				t.Errorf("recorded %q", facts)
			}
		}
		logged(t, log(t, b), nil)
	},

	"old entries are deleted by their time, so many at once": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		recorded(t, b, fact("s", "4", 4), fact("s", "1", 1), fact("s", "2", 2), fact("s", "3", 3))
		for _, want := range []struct {
			limit, deleted int
			left           []storage.Entry
		}{
			{0, 0, []storage.Entry{fact("s", "4", 4), fact("s", "1", 1), fact("s", "2", 2), fact("s", "3", 3)}},
			{1, 1, []storage.Entry{fact("s", "4", 4), fact("s", "2", 2), fact("s", "3", 3)}},
			{10, 1, []storage.Entry{fact("s", "4", 4), fact("s", "3", 3)}},
			{10, 0, []storage.Entry{fact("s", "4", 4), fact("s", "3", 3)}},
		} {
			deleted(t, b, after(3), want.limit, want.deleted)
			logged(t, log(t, b), nil, want.left...)
		}
	},

	"a place in the log is never given twice": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		recorded(t, b, fact("s", "1", 1), fact("s", "2", 2))
		last := log(t, b)[1].Seq
		deleted(t, b, after(10), 10, 2)
		b = b.Reopen(t)
		recorded(t, b, fact("s", "3", 3))
		if next := log(t, b)[0].Seq; next <= last {
			t.Errorf("entry %d was recorded after %d", next, last)
		}
	},
}

// deleted deletes old entries and fails the test unless so many went.
func deleted(t *testing.T, b Backend, before time.Time, limit, want int) {
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
