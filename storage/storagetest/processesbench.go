package storagetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/storage"
)

// BenchmarkProcesses measures what it takes to create a process, to read it, to find it by a link, to
// find some that wait and to change it, in an empty store and, by turns, in one where the account has
// 100,000 processes that wait, with two links each. It reports the medians in the empty one, and how
// many times that it takes in the other (x-empty).
func BenchmarkProcesses(b *testing.B, open func() (storage.Transactor, portal.Store)) {
	emptyTx, empty := open()
	fullTx, full := open()
	const many, step = 100_000, 100
	for i := range many / step {
		transact(b, fullTx, func(ctx context.Context) error {
			for j := range step {
				if err := full.CreateProcess(ctx, threesome(fmt.Sprint(i*step+j))); err != nil {
					return err
				}
			}
			return nil
		})
	}
	inEmpty, inFull := map[string][]time.Duration{}, map[string][]time.Duration{}
	for i := range 300 {
		p := threesome(fmt.Sprint("measured ", i))
		measure(b, inEmpty, lifeOf(emptyTx, empty, p))
		measure(b, inFull, lifeOf(fullTx, full, p))
	}
	b.ReportMetric(0, "ns/op") // which has the preparations in it
	for name, times := range inEmpty {
		took := median(times)
		b.ReportMetric(took.Seconds()*1000, "ms-"+name)
		b.ReportMetric(median(inFull[name]).Seconds()/took.Seconds(), "x-empty-"+name)
	}
}

// step is something that is done to a process.
type step struct {
	name string
	do   func(ctx context.Context) error
}

// lifeOf are the steps that are measured.
func lifeOf(tx storage.Transactor, store portal.Store, p portal.Process) []step {
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

// measure adds what each step takes to the times.
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

// threesome is a process of three, two of whom are still to open their links.
func threesome(name string) portal.Process {
	p := invited(name, "a", 0)
	for _, another := range []string{" 2", " 3"} {
		p.Participants = append(p.Participants, portal.Participant{Participant: process.Participant{ID: id(name + another), Role: portal.Signer, Link: invitation(name+another, 0)}, Name: "Anna"})
	}
	p.Participants[0].Link = portal.Link{InvitedAt: base}
	return p
}
