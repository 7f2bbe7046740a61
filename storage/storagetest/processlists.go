package storagetest

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// expires is when an invitation does that was sent so many seconds after base.
func expires(seconds int) time.Time { return after(seconds).Add(portal.InvitationTime) }

// waiting fails the test unless the processes of an account that wait at a time are those wanted, in
// any order.
func waiting(t *testing.T, b Backend, account string, at time.Time, want ...portal.Process) {
	t.Helper()
	byID := func(a, b portal.Process) int { return cmp.Compare(a.ID, b.ID) }
	got, err := b.Processes.Waiting(t.Context(), account, at, 100)
	slices.SortFunc(got, byID)
	slices.SortFunc(want, byID)
	found(t, got, err, want)
}

// unopened fails the test unless the processes with links that expire by a time are those wanted.
func unopened(t *testing.T, b Backend, until time.Time, limit int, want ...portal.Process) {
	t.Helper()
	got, err := b.Processes.Unopened(t.Context(), until, limit)
	found(t, got, err, want)
}

var listedProcesses = tests{
	"those of an account that wait are listed": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		early, late, elsewhere, declined := invited("early", "a", 0), invited("late", "a", 10), invited("elsewhere", "b", 0), exampleProcess("declined")
		addProcesses(t, b, early, late, elsewhere, declined)
		b = b.Reopen(t)
		just := expires(0).Add(-time.Microsecond)
		waiting(t, b, id("a"), base, early, late)
		waiting(t, b, id("a"), just, early, late)
		waiting(t, b, id("a"), expires(0), late)
		waiting(t, b, id("a"), expires(10))
		waiting(t, b, id("b"), just, elsewhere)
		for _, unknown := range unknowns("a") {
			waiting(t, b, unknown, base)
		}
	},

	"of those that wait no more than asked for": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addProcesses(t, b, invited("1", "a", 0), invited("2", "a", 0), invited("3", "a", 0))
		for limit, want := range map[int]int{-1: 0, 0: 0, 1: 1, 2: 2, 3: 3, 4: 3} {
			list, err := b.Processes.Waiting(t.Context(), id("a"), base, limit)
			if err != nil || len(list) != want {
				t.Errorf("at most %d: %d, %v", limit, len(list), err)
			}
		}
	},

	"one that waits for nobody any more is not listed": func(t *testing.T, open func(*testing.T) Backend) {
		b, signed, deleted := open(t), invited("signed", "a", 0), invited("deleted", "a", 0)
		addProcesses(t, b, signed, deleted)
		one := &signed.Participants[0]
		one.Link.InvitedAt = after(20)
		updateProcess(t, b, signed)
		waiting(t, b, id("a"), expires(10), signed)
		one.Link, one.Signature = portal.Link{InvitedAt: after(20)}, &portal.Signature{At: after(21)}
		updateProcess(t, b, signed)
		do(t, b, func(ctx context.Context) error { return b.Processes.DeleteProcess(ctx, deleted.ID) })
		waiting(t, b, id("a"), base)
		unopened(t, b, expires(100), 10)
	},

	"those with links that were not opened are listed, the earliest first": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		first, second, third, all := invited("first", "b", 0), invited("second", "a", 0), invited("third", "a", 2), exampleProcess("all")
		used := invited("used", "a", 0)
		used.Participants[0].Link = portal.Link{InvitedAt: base}
		addProcesses(t, b, third, first, used, second, all)
		unopened(t, b, expires(0).Add(-time.Microsecond), 10)
		unopened(t, b, expires(0), 10, first, second)
		unopened(t, b, expires(5), 10, first, second, third, all)
		for limit, want := range [][]portal.Process{nil, {first}, {first, second}, {first, second, third}} {
			unopened(t, b, expires(5), limit, want...)
		}
		unopened(t, b, expires(5), -1)
		all.Participants[2].Link = portal.Link{InvitedAt: after(5)}
		updateProcess(t, b, all) // leaves the one of who was invited a second later
		unopened(t, b, expires(5), 10, first, second, third)
		unopened(t, b, expires(6), 10, first, second, third, all)
	},

	"a transaction lists what it has written": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), invited("p", "a", 0)
		do(t, b, func(ctx context.Context) error {
			if err := b.Processes.CreateProcess(ctx, p); err != nil {
				return err
			}
			got, err := b.Processes.Waiting(ctx, p.Account, base, 10)
			found(t, got, err, []portal.Process{p})
			got, err = b.Processes.Unopened(ctx, expires(0), 10)
			found(t, got, err, []portal.Process{p})
			return nil
		})
	},
}
