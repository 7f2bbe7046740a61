package storagetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// completed, declined and expired are processes of account a that ended so many seconds after base, with the time
// of their end.
func completed(name string, created, ended int) portal.Process {
	p := invited(name, "a", created)
	p.Participants[0].Signature = &portal.Signature{At: after(ended)}
	p.EndedAt = after(ended)
	return p
}

func declined(name string, created, ended int) portal.Process {
	p := invited(name, "a", created)
	p.Participants[0].Decline = &portal.Decline{At: after(ended)}
	p.EndedAt = after(ended)
	return p
}

func expired(name string, created int) portal.Process {
	p := invited(name, "a", created)
	p.EndedAt = p.WaitsUntil()
	return p
}

// listing selects the processes of account a that were created by the API.
func listing(status portal.Status) portal.Listing {
	return portal.Listing{Account: id("a"), Origin: portal.API, Status: status}
}

func positionOf(p portal.Process) portal.Position {
	return portal.Position{CreatedAt: p.CreatedAt, ID: p.ID}
}

// pages reads a list in pages, each after the last process of the one before.
func pages(t *testing.T, b Backend, of portal.Listing, size int) (all []portal.Process) {
	t.Helper()
	for at := (portal.Position{}); ; {
		page, err := b.Processes.ListProcesses(t.Context(), of, at, size)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) > size {
			t.Fatalf("a page of %d has %d processes", size, len(page))
		}
		all = append(all, page...)
		if len(page) < size {
			return all
		}
		at = positionOf(page[size-1])
	}
}

func overdue(t *testing.T, b Backend, account string, before time.Time) (all []portal.Process) {
	t.Helper()
	for p, err := range b.Processes.Overdue(t.Context(), account, before) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

func checkEnded(t *testing.T, b Backend, before time.Time, limit int, want ...portal.Process) {
	t.Helper()
	got, err := b.Processes.Ended(t.Context(), before, limit)
	checkRead(t, got, err, want)
}

var processPages = tests{
	"processes are listed in the order of creation, in pages": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		want := []portal.Process{completed("1", 0, 5), invited("2", "a", 1), declined("3", 2, 9), expired("4", 3), invited("5", "a", 4), completed("6", 5, 6)}
		other, web := invited("other", "b", 2), invited("web", "a", 2)
		web.Origin = portal.Web
		for _, i := range []int{3, 0, 5, 1, 4, 2} {
			addProcesses(t, b, want[i])
		}
		addProcesses(t, b, other, web)
		b = b.Reopen(t)
		for size := range 7 {
			checkRead(t, pages(t, b, listing(""), size+1), nil, want)
		}
		for status, some := range map[portal.Status][]portal.Process{
			portal.Completed: {want[0], want[5]}, portal.Waiting: {want[1], want[4]}, portal.Declined: {want[2]}, portal.Expired: {want[3]}, "None": nil,
		} {
			for _, size := range []int{1, 2, 10} {
				checkRead(t, pages(t, b, listing(status), size), nil, some)
			}
		}
		checkRead(t, pages(t, b, portal.Listing{Account: id("a"), Origin: portal.Web}, 10), nil, []portal.Process{web})
		checkRead(t, pages(t, b, portal.Listing{Account: id("b"), Origin: portal.API}, 10), nil, []portal.Process{other})
		for _, unknown := range otherIDs("a") {
			checkRead(t, pages(t, b, portal.Listing{Account: unknown, Origin: portal.API}, 10), nil, nil)
			checkRead(t, pages(t, b, portal.Listing{Account: id("a"), Origin: portal.Origin(unknown)}, 10), nil, nil)
		}
		for limit, n := range map[int]int{-1: 0, 0: 0, 1: 1} {
			page, err := b.Processes.ListProcesses(t.Context(), listing(""), portal.Position{}, limit)
			if err != nil || len(page) != n {
				t.Errorf("at most %d: %d, %v", limit, len(page), err)
			}
		}
	},

	"processes with the same time of creation are in the order of their IDs": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		var want []portal.Process
		for i := range 20 {
			want = append(want, invited(fmt.Sprint(i), "a", 0))
		}
		addProcesses(t, b, want...)
		slices.SortFunc(want, func(a, b portal.Process) int { return slices.Compare([]byte(a.ID), []byte(b.ID)) })
		for _, size := range []int{1, 3, 20} {
			checkRead(t, pages(t, b, listing(portal.Waiting), size), nil, want)
		}
		got, err := b.Processes.ListProcesses(t.Context(), listing(""), portal.Position{CreatedAt: base, ID: want[9].ID}, 100)
		checkRead(t, got, err, want[10:])
		got, err = b.Processes.ListProcesses(t.Context(), listing(""), portal.Position{CreatedAt: base.Add(time.Microsecond)}, 100)
		checkRead(t, got, err, nil)
		got, err = b.Processes.ListProcesses(t.Context(), listing(""), portal.Position{CreatedAt: base}, 100)
		checkRead(t, got, err, want)
	},

	"a page begins after a process that was deleted": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		first, second, third, fourth := invited("1", "a", 1), invited("2", "a", 2), invited("3", "a", 3), invited("4", "a", 4)
		addProcesses(t, b, first, second, third)
		do(t, b, func(ctx context.Context) error { return b.Processes.DeleteProcess(ctx, second.ID) })
		addProcesses(t, b, invited("0", "a", 0), fourth)
		for _, status := range []portal.Status{"", portal.Waiting} {
			got, err := b.Processes.ListProcesses(t.Context(), listing(status), positionOf(second), 10)
			checkRead(t, got, err, []portal.Process{third, fourth})
		}
	},

	"a process is in the list of its current status": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), invited("p", "a", 0)
		addProcesses(t, b, p)
		again := invited("p", "a", 0)
		again.EndedAt = p.WaitsUntil()
		again.Participants[0].Link.InvitedAt = after(1) // with another time of expiry
		for _, one := range []portal.Process{expired("p", 0), again, declined("p", 0, 2), invited("p", "a", 0), completed("p", 0, 3)} {
			updateProcess(t, b, one)
			checkProcess(t, b, one)
			for _, status := range []portal.Status{portal.Waiting, portal.Completed, portal.Declined, portal.Expired} {
				var want []portal.Process
				if status == one.NotedStatus() {
					want = []portal.Process{one}
				}
				checkRead(t, pages(t, b, listing(status), 10), nil, want)
			}
		}
		rollBack(t, b, func(ctx context.Context) error {
			if err := b.Processes.DeleteProcess(ctx, p.ID); err != nil {
				return err
			}
			got, err := b.Processes.ListProcesses(ctx, listing(portal.Completed), portal.Position{}, 10)
			checkRead(t, got, err, nil)
			return nil
		})
		checkRead(t, pages(t, b, listing(""), 10), nil, []portal.Process{completed("p", 0, 3)})
	},

	"texts of people do not change the status": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		p := completed(`"decline":{`, 0, 1)
		p.Participants[0].Name, p.Participants[0].Email = `x","decline":{"reason":""}`, `\"decline":`
		no := declined("no", 1, 2)
		no.Participants[0].Decline.Reason = `,"signature":{`
		addProcesses(t, b, p, no)
		checkRead(t, pages(t, b, listing(portal.Completed), 10), nil, []portal.Process{p})
		checkRead(t, pages(t, b, listing(portal.Declined), 10), nil, []portal.Process{no})
	},

	"expired processes without a time of their end are overdue": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		late, early, other := invited("late", "a", 10), invited("early", "a", 0), invited("other", "b", 5)
		addProcesses(t, b, late, early, other, expired("noted", 0), completed("completed", 0, 1))
		checkRead(t, overdue(t, b, "", expires(0)), nil, nil)
		checkRead(t, overdue(t, b, "", expires(0).Add(time.Microsecond)), nil, []portal.Process{early})
		checkRead(t, overdue(t, b, "", expires(100)), nil, []portal.Process{early, other, late})
		checkRead(t, overdue(t, b, early.Account, expires(100)), nil, []portal.Process{early, late})
		checkRead(t, overdue(t, b, early.Account, expires(0).Add(time.Microsecond)), nil, []portal.Process{early})
		checkRead(t, overdue(t, b, other.Account, expires(100)), nil, []portal.Process{other})
		checkRead(t, overdue(t, b, other.Account, base), nil, nil)
		for _, unknown := range otherIDs("a") {
			if unknown != "" { // all accounts
				checkRead(t, overdue(t, b, unknown, expires(100)), nil, nil)
			}
		}
		updateProcess(t, b, expired("early", 0))
		checkRead(t, overdue(t, b, "", expires(100)), nil, []portal.Process{other, late})
	},

	"processes that ended before a time are found, the earliest first": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		first, second, third := declined("1", 0, 1), completed("2", 0, 2), expired("3", 0)
		unnoted := completed("unnoted", 1, 8)
		unnoted.EndedAt = time.Time{} // found by its time of creation
		addProcesses(t, b, third, second, first, unnoted, invited("waiting", "a", 0))
		checkEnded(t, b, after(1), 10)
		checkEnded(t, b, after(2), 10, first, unnoted)
		checkEnded(t, b, after(2), 1, first)
		checkEnded(t, b, expires(0), 10, first, unnoted, second)
		checkEnded(t, b, expires(1), 10, first, unnoted, second, third)
		for _, limit := range []int{-1, 0} {
			checkEnded(t, b, expires(1), limit)
		}
		unnoted.EndedAt = after(8)
		updateProcess(t, b, unnoted)
		checkEnded(t, b, after(8), 10, first, second)
	},
}

// expires returns the time at which an invitation expires that was sent so many seconds after base.
func expires(seconds int) time.Time { return after(seconds).Add(portal.InvitationTime) }

// checkWaiting fails the test unless the processes of an account that wait at a time are those wanted, in any
// order.
func checkWaiting(t *testing.T, b Backend, account string, at time.Time, want ...portal.Process) {
	t.Helper()
	byID := func(a, b portal.Process) int { return cmp.Compare(a.ID, b.ID) }
	got, err := b.Processes.Waiting(t.Context(), account, at, 100)
	slices.SortFunc(got, byID)
	slices.SortFunc(want, byID)
	checkRead(t, got, err, want)
}

// checkUnopened fails the test unless the processes with links that expire by a time are those wanted.
func checkUnopened(t *testing.T, b Backend, until time.Time, limit int, want ...portal.Process) {
	t.Helper()
	got, err := b.Processes.Unopened(t.Context(), until, limit)
	checkRead(t, got, err, want)
}

var listedProcesses = tests{
	"the waiting processes of an account are listed": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		early, late, elsewhere, declined := invited("early", "a", 0), invited("late", "a", 10), invited("elsewhere", "b", 0), exampleProcess("declined")
		addProcesses(t, b, early, late, elsewhere, declined)
		b = b.Reopen(t)
		just := expires(0).Add(-time.Microsecond)
		checkWaiting(t, b, id("a"), base, early, late)
		checkWaiting(t, b, id("a"), just, early, late)
		checkWaiting(t, b, id("a"), expires(0), late)
		checkWaiting(t, b, id("a"), expires(10))
		checkWaiting(t, b, id("b"), just, elsewhere)
		for _, unknown := range otherIDs("a") {
			checkWaiting(t, b, unknown, base)
		}
	},

	"at most the limit of waiting processes is listed": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addProcesses(t, b, invited("1", "a", 0), invited("2", "a", 0), invited("3", "a", 0))
		for limit, want := range map[int]int{-1: 0, 0: 0, 1: 1, 2: 2, 3: 3, 4: 3} {
			list, err := b.Processes.Waiting(t.Context(), id("a"), base, limit)
			if err != nil || len(list) != want {
				t.Errorf("at most %d: %d, %v", limit, len(list), err)
			}
		}
	},

	"a process that no longer waits is not listed": func(t *testing.T, open func(*testing.T) Backend) {
		b, signed, deleted := open(t), invited("signed", "a", 0), invited("deleted", "a", 0)
		addProcesses(t, b, signed, deleted)
		one := &signed.Participants[0]
		one.Link.InvitedAt = after(20)
		updateProcess(t, b, signed)
		checkWaiting(t, b, id("a"), expires(10), signed)
		one.Link, one.Signature = portal.Link{InvitedAt: after(20)}, &portal.Signature{At: after(21)}
		updateProcess(t, b, signed)
		do(t, b, func(ctx context.Context) error { return b.Processes.DeleteProcess(ctx, deleted.ID) })
		checkWaiting(t, b, id("a"), base)
		checkUnopened(t, b, expires(100), 10)
	},

	"processes with unopened links are listed, the earliest first": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		first, second, third, all := invited("first", "b", 0), invited("second", "a", 0), invited("third", "a", 2), exampleProcess("all")
		used := invited("used", "a", 0)
		used.Participants[0].Link = portal.Link{InvitedAt: base}
		addProcesses(t, b, third, first, used, second, all)
		checkUnopened(t, b, expires(0).Add(-time.Microsecond), 10)
		checkUnopened(t, b, expires(0), 10, first, second)
		checkUnopened(t, b, expires(5), 10, first, second, third, all)
		for limit, want := range [][]portal.Process{nil, {first}, {first, second}, {first, second, third}} {
			checkUnopened(t, b, expires(5), limit, want...)
		}
		checkUnopened(t, b, expires(5), -1)
		all.Participants[2].Link = portal.Link{InvitedAt: after(5)}
		updateProcess(t, b, all) // the link that was sent a second later is left
		checkUnopened(t, b, expires(5), 10, first, second, third)
		checkUnopened(t, b, expires(6), 10, first, second, third, all)
	},

	"a transaction lists what it has written": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), invited("p", "a", 0)
		do(t, b, func(ctx context.Context) error {
			if err := b.Processes.CreateProcess(ctx, p); err != nil {
				return err
			}
			got, err := b.Processes.Waiting(ctx, p.Account, base, 10)
			checkRead(t, got, err, []portal.Process{p})
			got, err = b.Processes.Unopened(ctx, expires(0), 10)
			checkRead(t, got, err, []portal.Process{p})
			return nil
		})
	},
}
