package storagetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/pades/inspect"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

var processes = recordType[portal.Process]{
	examples: []portal.Process{exampleProcess("p"), {ID: id("bare"), Account: id("a"), Origin: portal.API, CreatedAt: base}, largeProcess("large", 100)},
	changed: func(p portal.Process) portal.Process {
		changed := invited("changed", "b", 9)
		changed.ID = p.ID
		return changed
	},
	others: func(p portal.Process) []portal.Process {
		p.Participants = exampleProcess("other").Participants
		return withOtherIDs("p", func(p *portal.Process, id string) { p.ID = id })(p)
	},
	get: func(ctx context.Context, b Backend, p portal.Process) (portal.Process, error) {
		return b.Processes.Process(ctx, p.ID)
	},
	add:    func(ctx context.Context, b Backend, p portal.Process) error { return b.Processes.CreateProcess(ctx, p) },
	update: func(ctx context.Context, b Backend, p portal.Process) error { return b.Processes.UpdateProcess(ctx, p) },
	remove: func(ctx context.Context, b Backend, p portal.Process) error {
		return b.Processes.DeleteProcess(ctx, p.ID)
	},
	continues: true, unknown: storage.ErrNotFound,
}.and(tests{
	"a rollback undoes changes": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), exampleProcess("p")
		addProcesses(t, b, p)
		rollBack(t, b, func(ctx context.Context) error {
			if err := b.Processes.UpdateProcess(ctx, invited("p", "b", 9)); err != nil {
				return err
			}
			got, err := b.Processes.ProcessByLink(ctx, invitation("p", 9).Hash)
			checkRead(t, got, err, invited("p", "b", 9))
			return nil
		})
		rollBack(t, b, func(ctx context.Context) error {
			if err := b.Processes.DeleteProcess(ctx, p.ID); err != nil {
				return err
			}
			_, err := b.Processes.ProcessByLink(ctx, invitation("p 3", 0).Hash)
			checkError(t, err, storage.ErrNotFound)
			return nil
		})
		checkProcess(t, b, p)
		checkLink(t, b, "p 3", p)
	},

	"no concurrent change is lost": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), exampleProcess("p")
		p.Turns = 0
		addProcesses(t, b, p)
		const writers, changes = 8, 10
		concurrently(t, writers, func(int) error { return repeat(changes, func() error { return takeTurn(t.Context(), b, p.ID) }) })
		p.Turns = writers * changes
		checkProcess(t, b, p)
	},
})

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

// checkLink fails the test unless the process of the link is the one wanted.
func checkLink(t *testing.T, b Backend, name string, want portal.Process) {
	t.Helper()
	got, err := b.Processes.ProcessByLink(t.Context(), invitation(name, 0).Hash)
	checkRead(t, got, err, want)
}

// checkNoLink fails the test if there is a process of one of the links.
func checkNoLink(t *testing.T, b Backend, names ...string) {
	t.Helper()
	for _, name := range names {
		_, err := b.Processes.ProcessByLink(t.Context(), invitation(name, 0).Hash)
		checkError(t, err, storage.ErrNotFound)
	}
}

var processLinks = tests{
	"a process is found by each link, also by used ones": func(t *testing.T, open func(*testing.T) Backend) {
		b, p, other := open(t), exampleProcess("p"), exampleProcess("other")
		addProcesses(t, b, p, other)
		b = b.Reopen(t)
		for _, participant := range []string{" 1", " 3", " 4"} {
			checkLink(t, b, "p"+participant, p)
			checkLink(t, b, "other"+participant, other)
		}
		checkNoLink(t, b, "p 2", "unknown")
	},

	"a process is found by a used link until another replaces it": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), exampleProcess("p")
		addProcesses(t, b, p)
		p.Participants[2].Link = openedLink("p 3", 5)
		updateProcess(t, b, p)
		checkLink(t, b, "p 3", p)
		p.Participants[0].Link, p.Participants[2].Link = invitation("new 1", 9), invitation("new 3", 9)
		updateProcess(t, b, p)
		checkNoLink(t, b, "p 1", "p 3")
		checkLink(t, b, "new 1", p)
		checkLink(t, b, "new 3", p)
	},

	"a process that is refused has no link": func(t *testing.T, open func(*testing.T) Backend) {
		b, p, refused := open(t), exampleProcess("p"), invited("refused", "a", 0)
		refused.ID = p.ID
		addProcesses(t, b, p)
		do(t, b, func(ctx context.Context) error {
			checkError(t, b.Processes.CreateProcess(ctx, refused), storage.ErrExists)
			_, err := b.Processes.ProcessByLink(ctx, invitation("refused", 0).Hash)
			checkError(t, err, storage.ErrNotFound)
			return nil
		})
		checkNoLink(t, b, "refused")
		checkLink(t, b, "p 3", p)
	},

	"a process is found only by the whole hash of a link": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addProcesses(t, b, exampleProcess("p"))
		hash := invitation("p 3", 0).Hash
		for _, wrong := range [][]byte{nil, {}, {0}, hash[:31], hash[1:], append(hash[:32:32], 0)} {
			_, err := b.Processes.ProcessByLink(t.Context(), wrong)
			checkError(t, err, storage.ErrNotFound)
		}
	},

	"a process is found by a new link, and not by the one before": func(t *testing.T, open func(*testing.T) Backend) {
		b, p, other := open(t), exampleProcess("p"), exampleProcess("other")
		addProcesses(t, b, p, other)
		p.Participants[2].Link = portal.Link{InvitedAt: base}
		p.Participants[3].Link = invitation("new", 9)
		updateProcess(t, b, p)
		checkNoLink(t, b, "p 3", "p 4")
		checkLink(t, b, "new", p)
		checkLink(t, b, "other 3", other)
	},

	"a deleted process is not found by its links": func(t *testing.T, open func(*testing.T) Backend) {
		b, p, other := open(t), exampleProcess("p"), exampleProcess("other")
		addProcesses(t, b, p, other)
		do(t, b, func(ctx context.Context) error { return b.Processes.DeleteProcess(ctx, p.ID) })
		checkNoLink(t, b, "p 1", "p 3", "p 4")
		checkLink(t, b, "other 4", other)
	},

	"one of several concurrent visitors opens a link": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), exampleProcess("p")
		const visitors, rounds = 8, 5
		addProcesses(t, b, p)
		for range rounds {
			var in atomic.Int64
			var group errgroup.Group
			for range visitors {
				group.Go(func() error {
					err := openLink(t.Context(), b, "p 3")
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
				t.Fatalf("%d opened the link, %v", in.Load(), err)
			}
			opened := p
			opened.Participants = slices.Clone(p.Participants)
			opened.Participants[2].Link = openedLink("p 3", 5)
			checkLink(t, b, "p 3", opened)
			updateProcess(t, b, p)
		}
	},
}

// openLink opens a link; storage.ErrNotFound if it was opened before.
func openLink(ctx context.Context, b Backend, name string) error {
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

// exampleProcess has a value in every field of one participant or another. The first two participants have
// links that were opened, of which the second one's hash is unknown; the last two have links that were not
// opened.
func exampleProcess(name string) portal.Process {
	person := &portal.Person{Name: "Þór Önundarson", Kennitala: "0101302989", At: after(1)}
	return portal.Process{
		ID: id(name), Account: id("a"), Origin: portal.Web, CreatedAt: base, FileName: "Samningur “漢字” <1>.pdf", Document: id("document"),
		Warnings: []inspect.Warning{{Code: inspect.XFA, Detail: "The form is an XFA form (object 7).", Page: 1}, {Code: inspect.JavaScript, Detail: "An action runs JavaScript."}},
		Participants: []portal.Participant{
			{
				Participant: process.Participant{
					ID: id(name + " 1"), Role: portal.Signer, Kennitala: "0101302989",
					Link: openedLink(name+" 1", 0), Person: person,
					Signature: &portal.Signature{Name: "ÞÓR ÖNUNDARSON", Kennitala: "0101302989", Value: []byte{0, 1, 255}, At: after(2)},
				},
				Name: "Þór \u2028<b>\x00&\\\"", Email: "þór@example.is", Phone: "5550101", Stamp: &signing.Stamp{Page: 3, Rect: [4]float64{36.5, 0.1, 153.5, 1.0 / 3}},
			},
			{
				Participant: process.Participant{
					ID: id(name + " 2"), Role: portal.Signer,
					Link: portal.Link{InvitedAt: after(3)}, Person: person,
					Decline: &portal.Decline{Reason: "„Nei“\n", Kennitala: "0101302989", At: after(4)},
				},
				Name: "Anna",
			},
			{Participant: process.Participant{ID: id(name + " 3"), Role: portal.Signer, Link: invitation(name+" 3", 5)}, Name: "Jón"},
			{Participant: process.Participant{ID: id(name + " 4"), Role: portal.Viewer, Link: invitation(name+" 4", 6)}, Name: "Páll"},
		},
		Turn: &portal.Turn{Number: 1 << 40, Participant: id(name + " 3"), Request: id("request"), Since: after(7)}, Turns: 1 << 40,
	}
}

// invitation is a link that was not opened, sent so many seconds after base.
func invitation(name string, seconds int) portal.Link {
	token := []byte("token of " + name)
	hash := sha256.Sum256(token)
	return portal.Link{InvitedAt: after(seconds), Hash: hash[:], Token: token}
}

// openedLink is a link that was opened.
func openedLink(name string, seconds int) portal.Link {
	link := invitation(name, seconds)
	return portal.Link{InvitedAt: link.InvitedAt, Was: link.Hash}
}

// invited is a process of an account with one signer, who was invited so many seconds after base.
func invited(name, account string, seconds int) portal.Process {
	return portal.Process{
		ID: id(name), Account: id(account), Origin: portal.API, CreatedAt: after(seconds), FileName: name + ".pdf", Document: id("document"),
		Participants: []portal.Participant{{
			Participant: process.Participant{
				ID: id(name + " 1"), Role: portal.Signer,
				Link: invitation(name, seconds),
			},
			Name: "Jón",
		}},
	}
}

// largeProcess is a process with so many participants. All but the last have signed, each with a signature of 1
// KiB.
func largeProcess(name string, size int) portal.Process {
	p := exampleProcess(name)
	p.Participants, p.Turn = nil, nil
	for i := range size {
		one := exampleProcess(fmt.Sprint(name, i)).Participants[0]
		one.Signature.Value = bytes.Repeat([]byte{byte(i), 0, 255, 'a'}, 256)
		if i == size-1 {
			one.Signature, one.Person, one.Link = nil, nil, invitation(name, i)
		}
		p.Participants = append(p.Participants, one)
	}
	return p
}

func addProcesses(t *testing.T, b Backend, list ...portal.Process) {
	t.Helper()
	for _, p := range list {
		do(t, b, func(ctx context.Context) error { return b.Processes.CreateProcess(ctx, p) })
	}
}

func updateProcess(t *testing.T, b Backend, p portal.Process) {
	t.Helper()
	do(t, b, func(ctx context.Context) error { return b.Processes.UpdateProcess(ctx, p) })
}

// checkProcess fails the test unless a process is stored as it is wanted.
func checkProcess(t *testing.T, b Backend, want portal.Process) {
	t.Helper()
	got, err := b.Processes.Process(t.Context(), want.ID)
	checkRead(t, got, err, want)
}
