package storagetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// BenchmarkProcessPages measures pages of 50 of the list of an account's processes, in a store of 1,000 and, by turns, in
// one of as many as are given, such as 1,000,000: the first page, one in the middle, pages of a status that nearly all
// have and of one that few have, and the processes that a sweep looks for. It reports the medians in the small store,
// and how many times that they take in the large one (x-small).
func BenchmarkProcessPages(b *testing.B, open func() (storage.Transactor, portal.Store), many int) {
	const few = 1000
	small, large := filled(b, open, few), filled(b, open, many)
	inSmall, inLarge := map[string][]time.Duration{}, map[string][]time.Duration{}
	for range 300 {
		measure(b, inSmall, pageSteps(b, small, few))
		measure(b, inLarge, pageSteps(b, large, many))
	}
	b.ReportMetric(0, "ns/op") // which has the preparations in it
	for name, times := range inSmall {
		took := median(times)
		b.ReportMetric(took.Seconds()*1000, "ms-"+name)
		b.ReportMetric(median(inLarge[name]).Seconds()/took.Seconds(), "x-small-"+name)
	}
}

// rare are how many processes of a store wait and how many were declined: the first of the list, and in its middle.
const rare = 60

// filled is a store with so many processes of one account, a second apart. All have expired but for the rare ones.
func filled(b *testing.B, open func() (storage.Transactor, portal.Store), size int) portal.Store {
	b.Helper()
	tx, store := open()
	const step = 20_000
	for i := 0; i < size; i += step {
		transact(b, tx, func(ctx context.Context) error {
			for j := i; j < min(i+step, size); j++ {
				if err := store.CreateProcess(ctx, numbered(j, size)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return store
}

// numbered is a process of [filled].
func numbered(i, size int) portal.Process {
	name := fmt.Sprint(i)
	switch {
	case i >= size-rare:
		p := invited(name, "a", size)
		p.CreatedAt = after(i)
		return p
	case i >= size/2 && i < size/2+rare:
		return declined(name, i, i+1)
	}
	p := expired(name, i)
	p.EndedAt = p.WaitsUntil()
	return p
}

func pageSteps(b *testing.B, store portal.Store, size int) []step {
	const page = 50
	of := func(status portal.Status, at int) func(context.Context) error {
		return func(ctx context.Context) error {
			list, err := store.ListProcesses(ctx, listing(status), portal.Position{CreatedAt: after(at)}, page)
			if err == nil && len(list) != page {
				b.Fatalf("%d processes of status %q", len(list), status)
			}
			return err
		}
	}
	return []step{
		{"first", of("", -1)},
		{"middle", of("", size/4)},
		{"last", of("", size-page-1)},
		{"common", of(portal.Expired, size/4)},
		{"waiting", of(portal.Waiting, -1)},
		{"declined", of(portal.Declined, -1)},
		{"overdue", func(ctx context.Context) error {
			for _, err := range store.Overdue(ctx, "", expires(0)) {
				return err
			}
			return nil
		}},
		{"ended", func(ctx context.Context) error { _, err := store.Ended(ctx, base.AddDate(100, 0, 0), page); return err }},
	}
}
