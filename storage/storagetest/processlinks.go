package storagetest

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// linked fails the test unless the link of that name leads to the process wanted.
func linked(t *testing.T, b Backend, name string, want portal.Process) {
	t.Helper()
	got, err := b.Processes.ProcessByLink(t.Context(), invitation(name, 0).Hash)
	found(t, got, err, want)
}

// unlinked fails the test unless the links of those names lead nowhere.
func unlinked(t *testing.T, b Backend, names ...string) {
	t.Helper()
	for _, name := range names {
		_, err := b.Processes.ProcessByLink(t.Context(), invitation(name, 0).Hash)
		failed(t, err, storage.ErrNotFound)
	}
}

var processLinks = tests{
	"each link leads to its process, also one that is used up": func(t *testing.T, open func(*testing.T) Backend) {
		b, p, other := open(t), exampleProcess("p"), exampleProcess("other")
		addProcesses(t, b, p, other)
		b = b.Reopen(t)
		for _, participant := range []string{" 1", " 3", " 4"} {
			linked(t, b, "p"+participant, p)
			linked(t, b, "other"+participant, other)
		}
		unlinked(t, b, "p 2", "unknown")
	},

	"one that is used up leads on, until another takes its place": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), exampleProcess("p")
		addProcesses(t, b, p)
		p.Participants[2].Link = usedUp("p 3", 5)
		updateProcess(t, b, p)
		linked(t, b, "p 3", p)
		p.Participants[0].Link, p.Participants[2].Link = invitation("new 1", 9), invitation("new 3", 9)
		updateProcess(t, b, p)
		unlinked(t, b, "p 1", "p 3")
		linked(t, b, "new 1", p)
		linked(t, b, "new 3", p)
	},

	"nothing but the whole hash of a link leads there": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addProcesses(t, b, exampleProcess("p"))
		hash := invitation("p 3", 0).Hash
		for _, wrong := range [][]byte{nil, {}, {0}, hash[:31], hash[1:], append(hash[:32:32], 0)} {
			_, err := b.Processes.ProcessByLink(t.Context(), wrong)
			failed(t, err, storage.ErrNotFound)
		}
	},

	"one that is gone leads nowhere, and a new one does": func(t *testing.T, open func(*testing.T) Backend) {
		b, p, other := open(t), exampleProcess("p"), exampleProcess("other")
		addProcesses(t, b, p, other)
		p.Participants[2].Link = portal.Link{InvitedAt: base}
		p.Participants[3].Link = invitation("new", 9)
		updateProcess(t, b, p)
		unlinked(t, b, "p 3", "p 4")
		linked(t, b, "new", p)
		linked(t, b, "other 3", other)
	},

	"those of a deleted process lead nowhere": func(t *testing.T, open func(*testing.T) Backend) {
		b, p, other := open(t), exampleProcess("p"), exampleProcess("other")
		addProcesses(t, b, p, other)
		do(t, b, func(ctx context.Context) error { return b.Processes.DeleteProcess(ctx, p.ID) })
		unlinked(t, b, "p 1", "p 3", "p 4")
		linked(t, b, "other 4", other)
	},

	"of several who open one at once, one does": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), exampleProcess("p")
		const visitors, rounds = 8, 5
		addProcesses(t, b, p)
		for range rounds {
			var in atomic.Int64
			var group errgroup.Group
			for range visitors {
				group.Go(func() error {
					err := useUp(t.Context(), b, "p 3")
					if err == nil {
						in.Add(1)
					}
					if errors.Is(err, storage.ErrNotFound) {
						return nil
					}
					return err
				})
			}
			if err := group.Wait(); err != nil || in.Load() != 1 {
				t.Fatalf("%d came in, %v", in.Load(), err)
			}
			opened := p
			opened.Participants = slices.Clone(p.Participants)
			opened.Participants[2].Link = usedUp("p 3", 5)
			linked(t, b, "p 3", opened)
			updateProcess(t, b, p)
		}
	},
}

// useUp opens the link of a name; storage.ErrNotFound when somebody else has.
func useUp(ctx context.Context, b Backend, name string) error {
	return b.InTx(ctx, func(ctx context.Context) error {
		p, err := b.Processes.ProcessByLink(ctx, invitation(name, 0).Hash)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(p.Participants, func(one portal.Participant) bool { return one.ID == id(name) })
		link := &p.Participants[i].Link
		if link.Hash == nil {
			return storage.ErrNotFound
		}
		link.Hash, link.Was, link.Token = nil, link.Hash, nil
		return b.Processes.UpdateProcess(ctx, p)
	})
}
