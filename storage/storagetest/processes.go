package storagetest

import (
	"context"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

var processes = tests{
	"a process is kept whole": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), exampleProcess("p")
		bare := portal.Process{ID: id("bare"), Account: id("a"), Origin: portal.API, CreatedAt: base}
		addProcesses(t, b, p, bare)
		b = b.Reopen(t)
		isProcess(t, b, p)
		isProcess(t, b, bare)
	},

	"so is one of a hundred who sign": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), crowd("p", 100)
		addProcesses(t, b, p)
		isProcess(t, b, p)
		p.Participants[0].Signature = nil
		updateProcess(t, b, p)
		isProcess(t, b, p)
	},

	"an unknown process is not found": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addProcesses(t, b, exampleProcess("p"))
		for _, unknown := range unknowns("p") {
			_, err := b.Processes.Process(t.Context(), unknown)
			failed(t, err, storage.ErrNotFound)
			p := exampleProcess("other")
			p.ID = unknown
			refused(t, b, storage.ErrNotFound, func(ctx context.Context) error { return b.Processes.UpdateProcess(ctx, p) })
			refused(t, b, storage.ErrNotFound, func(ctx context.Context) error { return b.Processes.DeleteProcess(ctx, unknown) })
		}
		isProcess(t, b, exampleProcess("p"))
	},

	"an ID is taken once, and the transaction goes on": func(t *testing.T, open func(*testing.T) Backend) {
		b, p, again := open(t), exampleProcess("p"), exampleProcess("p")
		again.Account, again.Participants = id("b"), exampleProcess("again").Participants
		addProcesses(t, b, p)
		do(t, b, func(ctx context.Context) error {
			failed(t, b.Processes.CreateProcess(ctx, again), storage.ErrExists)
			return b.Processes.CreateProcess(ctx, exampleProcess("other"))
		})
		isProcess(t, b, p)
		isProcess(t, b, exampleProcess("other"))
		_, err := b.Processes.ProcessByLink(t.Context(), invitation("again 3", 0).Hash)
		failed(t, err, storage.ErrNotFound)
	},

	"updating replaces it whole": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), exampleProcess("p")
		addProcesses(t, b, p, exampleProcess("other"))
		p = invited("p", "b", 9)
		updateProcess(t, b, p)
		isProcess(t, b, p)
		isProcess(t, b, exampleProcess("other"))
		updateProcess(t, b, exampleProcess("p"))
		isProcess(t, b, exampleProcess("p"))
	},

	"one that was deleted is gone, and its ID is free": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), exampleProcess("p")
		addProcesses(t, b, p, exampleProcess("other"))
		remove := func(ctx context.Context) error { return b.Processes.DeleteProcess(ctx, p.ID) }
		do(t, b, remove)
		_, err := b.Processes.Process(t.Context(), p.ID)
		failed(t, err, storage.ErrNotFound)
		refused(t, b, storage.ErrNotFound, remove)
		isProcess(t, b, exampleProcess("other"))
		addProcesses(t, b, p)
		isProcess(t, b, p)
	},

	"what is undone never was": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), exampleProcess("p")
		addProcesses(t, b, p)
		refused(t, b, errRefused, func(ctx context.Context) error {
			if err := b.Processes.UpdateProcess(ctx, invited("p", "b", 9)); err != nil {
				return err
			}
			got, err := b.Processes.ProcessByLink(ctx, invitation("p", 9).Hash)
			found(t, got, err, invited("p", "b", 9))
			return errRefused
		})
		refused(t, b, errRefused, func(ctx context.Context) error {
			if err := b.Processes.DeleteProcess(ctx, p.ID); err != nil {
				return err
			}
			_, err := b.Processes.ProcessByLink(ctx, invitation("p 3", 0).Hash)
			failed(t, err, storage.ErrNotFound)
			return errRefused
		})
		isProcess(t, b, p)
		linked(t, b, "p 3", p)
	},

	"of several changes at once none is lost": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), exampleProcess("p")
		p.Turns = 0
		addProcesses(t, b, p)
		const writers, changes = 8, 10
		var group errgroup.Group
		for range writers {
			group.Go(func() error { return repeat(changes, func() error { return takeTurn(t.Context(), b, p.ID) }) })
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		p.Turns = writers * changes
		isProcess(t, b, p)
	},
}

func takeTurn(ctx context.Context, b Backend, id string) error {
	return b.InTx(ctx, func(ctx context.Context) error {
		p, err := b.Processes.Process(ctx, id)
		if err != nil {
			return err
		}
		p.Turns++
		return b.Processes.UpdateProcess(ctx, p)
	})
}
