package storagetest

import (
	"bytes"
	"context"
	"crypto"
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/evidence"
)

// BenchmarkProcessPages measures pages of 50 of an account's processes, alternately in a store of 1,000
// processes and in one of so many, such as 1,000,000: the first page, one in the middle, pages of a common and
// of a rare status, and the lists for a sweep. It reports the medians in the small store, and the ratio of
// those in the large one to them (x-small).
func BenchmarkProcessPages(b *testing.B, open func() (storage.Transactor, portal.Store), many int) {
	const few = 1000
	small, large := newFilledStore(b, open, few), newFilledStore(b, open, many)
	inSmall, inLarge := map[string][]time.Duration{}, map[string][]time.Duration{}
	for range 300 {
		measure(b, inSmall, pageSteps(b, small, few))
		measure(b, inLarge, pageSteps(b, large, many))
	}
	b.ReportMetric(0, "ns/op") // it would include the preparation
	for name, times := range inSmall {
		took := median(times)
		b.ReportMetric(took.Seconds()*1000, "ms-"+name)
		b.ReportMetric(median(inLarge[name]).Seconds()/took.Seconds(), "x-small-"+name)
	}
}

// rare is how many processes of a store wait, and how many were declined: the last of the list, and some in its
// middle.
const rare = 60

// newFilledStore returns a store with so many processes of one account, a second apart. All but the rare ones
// have expired.
func newFilledStore(b *testing.B, open func() (storage.Transactor, portal.Store), size int) portal.Store {
	b.Helper()
	tx, store := open()
	const step = 20_000
	for i := 0; i < size; i += step {
		transact(b, tx, func(ctx context.Context) error {
			for j := i; j < min(i+step, size); j++ {
				if err := store.CreateProcess(ctx, processNumber(j, size)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return store
}

// processNumber returns a process of [newFilledStore].
func processNumber(i, size int) portal.Process {
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

// BenchmarkProcesses measures creating, reading, finding by a link, listing as waiting and updating a process,
// alternately in an empty store and in one where the account has 100,000 waiting processes with two links each.
// It reports the medians in the empty store, and the ratio of those in the full one to them (x-empty).
func BenchmarkProcesses(b *testing.B, open func() (storage.Transactor, portal.Store)) {
	emptyTx, empty := open()
	fullTx, full := open()
	const many, step = 100_000, 100
	for i := range many / step {
		transact(b, fullTx, func(ctx context.Context) error {
			for j := range step {
				if err := full.CreateProcess(ctx, processOfThree(fmt.Sprint(i*step+j))); err != nil {
					return err
				}
			}
			return nil
		})
	}
	inEmpty, inFull := map[string][]time.Duration{}, map[string][]time.Duration{}
	for i := range 300 {
		p := processOfThree(fmt.Sprint("measured ", i))
		measure(b, inEmpty, processSteps(emptyTx, empty, p))
		measure(b, inFull, processSteps(fullTx, full, p))
	}
	b.ReportMetric(0, "ns/op") // it would include the preparation
	for name, times := range inEmpty {
		took := median(times)
		b.ReportMetric(took.Seconds()*1000, "ms-"+name)
		b.ReportMetric(median(inFull[name]).Seconds()/took.Seconds(), "x-empty-"+name)
	}
}

// step is an operation that is measured.
type step struct {
	name string
	do   func(ctx context.Context) error
}

// processSteps returns the operations on a process that are measured.
func processSteps(tx storage.Transactor, store portal.Store, p portal.Process) []step {
	opened := p
	opened.Participants = slices.Clone(p.Participants)
	opened.Participants[1].Link = portal.Link{InvitedAt: base}
	return []step{
		{"create", inTx(tx, func(ctx context.Context) error { return store.CreateProcess(ctx, p) })},
		{"read", func(ctx context.Context) error { _, err := store.Process(ctx, p.ID); return err }},
		{"link", func(ctx context.Context) error {
			_, err := store.ProcessByLink(ctx, p.Participants[1].Link.Hash)
			return err
		}},
		{"waiting", func(ctx context.Context) error { _, err := store.Waiting(ctx, p.Account, base, 3); return err }},
		{"update", inTx(tx, func(ctx context.Context) error { return store.UpdateProcess(ctx, opened) })},
	}
}

func inTx(tx storage.Transactor, fn func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) error { return tx.InTx(ctx, fn) }
}

// measure adds the duration of each step to times.
func measure(b *testing.B, times map[string][]time.Duration, steps []step) {
	b.Helper()
	for _, s := range steps {
		start := time.Now()
		if err := s.do(b.Context()); err != nil {
			b.Fatal(err)
		}
		times[s.name] = append(times[s.name], time.Since(start))
	}
}

// processOfThree is a process of three signers, two of whom have not opened their links.
func processOfThree(name string) portal.Process {
	p := invited(name, "a", 0)
	for _, another := range []string{" 2", " 3"} {
		p.Participants = append(p.Participants, portal.Participant{Participant: process.Participant{ID: id(name + another), Role: portal.Signer, Link: invitation(name+another, 0)}, Name: "Anna"})
	}
	p.Participants[0].Link = portal.Link{InvitedAt: base}
	return p
}

// BenchmarkClaims measures claiming and finishing a job of each of ten groups, in an empty queue and in one
// where another group has 100,000 jobs waiting and as many leased as allowed. It reports the medians, and the
// ratio of the second to the first (x-empty).
func BenchmarkClaims(b *testing.B, tx storage.Transactor, jobs storage.Jobs) {
	empty := measureClaims(b, tx, jobs, 10)
	const backlog, step, perGroup = 100_000, 1000, 2
	for range backlog / step {
		waiting := make([]storage.Job, step)
		for i := range waiting {
			waiting[i] = exampleJob("k", "huge", -1)
		}
		transact(b, tx, func(ctx context.Context) error { return jobs.Enqueue(ctx, waiting...) })
	}
	transact(b, tx, func(ctx context.Context) error {
		_, err := jobs.Claim(ctx, "k", base, perGroup, perGroup, lease)
		return err
	})
	full := measureClaims(b, tx, jobs, 10)
	b.ReportMetric(0, "ns/op") // it would include the preparation
	b.ReportMetric(empty.Seconds()*1000, "ms-empty")
	b.ReportMetric(full.Seconds()*1000, "ms-backlog")
	b.ReportMetric(full.Seconds()/empty.Seconds(), "x-empty")
}

// measureClaims returns the median duration of several claims.
func measureClaims(b *testing.B, tx storage.Transactor, jobs storage.Jobs, groups int) time.Duration {
	b.Helper()
	var times []time.Duration
	for range 100 {
		for i := range groups {
			transact(b, tx, func(ctx context.Context) error { return jobs.Enqueue(ctx, exampleJob("k", fmt.Sprint(i), 0)) })
		}
		start := time.Now()
		transact(b, tx, func(ctx context.Context) error {
			leases, err := jobs.Claim(ctx, "k", base, groups, 2, lease)
			if err == nil && len(leases) != groups {
				err = fmt.Errorf("%d jobs were claimed", len(leases))
			}
			for _, l := range leases {
				if err := jobs.Finish(ctx, l); err != nil {
					return err
				}
			}
			return err
		})
		times = append(times, time.Since(start))
	}
	return median(times)
}

func transact(b *testing.B, tx storage.Transactor, fn func(ctx context.Context) error) {
	b.Helper()
	if err := tx.InTx(b.Context(), fn); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkSigners measures the first signature on a document of 100 KB and the tenth on one of 22 MB, from
// opening the document until the signature is stored. It reports the medians, and the ratio of the second to
// the first (x-first).
func BenchmarkSigners(b *testing.B, tx storage.Transactor, documents storage.Documents) {
	s := newSigner(b)
	small, large := samplePDF(100_000), samplePDF(largeDocument)
	var first, tenth []time.Duration
	for b.Loop() {
		first = append(first, s.last(b, tx, documents, small, 1))
		tenth = append(tenth, s.last(b, tx, documents, large, manySigners))
	}
	one, ten := median(first), median(tenth)
	b.ReportMetric(0, "ns/op") // it would include the preparation
	b.ReportMetric(one.Seconds()*1000, "ms-first-100KB")
	b.ReportMetric(ten.Seconds()*1000, "ms-tenth-22MB")
	b.ReportMetric(ten.Seconds()/one.Seconds(), "x-first")
}

// last stores a document, signs it so many times, and returns the duration of the last signature.
func (s signer) last(b *testing.B, tx storage.Transactor, documents storage.Documents, p []byte, times int) (took time.Duration) {
	b.Helper()
	ctx := b.Context()
	ref, err := documents.Create(ctx, bytes.NewReader(p), int64(len(p)), crypto.SHA256)
	if err != nil {
		b.Fatal(err)
	}
	for range times {
		start := time.Now()
		if err := s.sign(ctx, tx, documents, ref.ID); err != nil {
			b.Fatal(err)
		}
		took = time.Since(start)
	}
	if err := tx.InTx(ctx, func(ctx context.Context) error { return documents.Delete(ctx, ref.ID) }); err != nil {
		b.Fatal(err)
	}
	return took
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// BenchmarkRecord records entries of the evidence log in transactions of their own, eight at a time, and chains the log
// meanwhile at an interval; 0: never.
func BenchmarkRecord(b *testing.B, tx storage.Transactor, log storage.EvidenceLog, interval time.Duration) {
	ctx, stop := context.WithCancel(b.Context())
	var chaining errgroup.Group
	chaining.Go(func() (err error) {
		chain := evidence.Chain{Log: log, Tx: tx}
		for state := (evidence.State{}); interval > 0 && err == nil; {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(interval):
			}
			state, err = chain.Extend(b.Context(), state)
		}
		return err
	})
	b.SetParallelism(4) // on two processors
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			err := tx.InTx(b.Context(), func(ctx context.Context) error { return log.Record(ctx, exampleEntry("s", "asked", 0)) })
			if err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "entries/s")
	stop()
	if err := chaining.Wait(); err != nil {
		b.Error(err)
	}
}
