package storagetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// completed, declined and expired are processes of account a that ended so many seconds after base, where it was noted.
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

// listing chooses the API's processes of account a.
func listing(status portal.Status) portal.Listing {
	return portal.Listing{Account: id("a"), Origin: portal.API, Status: status}
}

func positionOf(p portal.Process) portal.Position {
	return portal.Position{CreatedAt: p.CreatedAt, ID: p.ID}
}

// pages reads a list in pages of a size, each after the last process of the one before.
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

func ended(t *testing.T, b Backend, before time.Time, limit int, want ...portal.Process) {
	t.Helper()
	got, err := b.Processes.Ended(t.Context(), before, limit)
	found(t, got, err, want)
}

var processPages = tests{
	"processes are listed in the order of creation, a page at a time": func(t *testing.T, open func(*testing.T) Backend) {
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
			found(t, pages(t, b, listing(""), size+1), nil, want)
		}
		for status, some := range map[portal.Status][]portal.Process{
			portal.Completed: {want[0], want[5]}, portal.Waiting: {want[1], want[4]}, portal.Declined: {want[2]}, portal.Expired: {want[3]}, "None": nil,
		} {
			for _, size := range []int{1, 2, 10} {
				found(t, pages(t, b, listing(status), size), nil, some)
			}
		}
		found(t, pages(t, b, portal.Listing{Account: id("a"), Origin: portal.Web}, 10), nil, []portal.Process{web})
		found(t, pages(t, b, portal.Listing{Account: id("b"), Origin: portal.API}, 10), nil, []portal.Process{other})
		for _, unknown := range unknowns("a") {
			found(t, pages(t, b, portal.Listing{Account: unknown, Origin: portal.API}, 10), nil, nil)
			found(t, pages(t, b, portal.Listing{Account: id("a"), Origin: portal.Origin(unknown)}, 10), nil, nil)
		}
		for limit, n := range map[int]int{-1: 0, 0: 0, 1: 1} {
			page, err := b.Processes.ListProcesses(t.Context(), listing(""), portal.Position{}, limit)
			if err != nil || len(page) != n {
				t.Errorf("at most %d: %d, %v", limit, len(page), err)
			}
		}
	},

	"those that were created at once are in the order of their IDs": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		var want []portal.Process
		for i := range 20 {
			want = append(want, invited(fmt.Sprint(i), "a", 0))
		}
		addProcesses(t, b, want...)
		slices.SortFunc(want, func(a, b portal.Process) int { return slices.Compare([]byte(a.ID), []byte(b.ID)) })
		for _, size := range []int{1, 3, 20} {
			found(t, pages(t, b, listing(portal.Waiting), size), nil, want)
		}
		got, err := b.Processes.ListProcesses(t.Context(), listing(""), portal.Position{CreatedAt: base, ID: want[9].ID}, 100)
		found(t, got, err, want[10:])
		got, err = b.Processes.ListProcesses(t.Context(), listing(""), portal.Position{CreatedAt: base.Add(time.Microsecond)}, 100)
		found(t, got, err, nil)
		got, err = b.Processes.ListProcesses(t.Context(), listing(""), portal.Position{CreatedAt: base}, 100)
		found(t, got, err, want)
	},

	"a page goes on behind a process that was deleted, and one that was created": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		first, second, third, fourth := invited("1", "a", 1), invited("2", "a", 2), invited("3", "a", 3), invited("4", "a", 4)
		addProcesses(t, b, first, second, third)
		do(t, b, func(ctx context.Context) error { return b.Processes.DeleteProcess(ctx, second.ID) })
		addProcesses(t, b, invited("0", "a", 0), fourth)
		for _, status := range []portal.Status{"", portal.Waiting} {
			got, err := b.Processes.ListProcesses(t.Context(), listing(status), positionOf(second), 10)
			found(t, got, err, []portal.Process{third, fourth})
		}
	},

	"a process changes to the list of its new status": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), invited("p", "a", 0)
		addProcesses(t, b, p)
		again := invited("p", "a", 0)
		again.EndedAt = p.WaitsUntil()
		again.Participants[0].Link.InvitedAt = after(1) // which is another end
		for _, one := range []portal.Process{expired("p", 0), again, declined("p", 0, 2), invited("p", "a", 0), completed("p", 0, 3)} {
			updateProcess(t, b, one)
			isProcess(t, b, one)
			for _, status := range []portal.Status{portal.Waiting, portal.Completed, portal.Declined, portal.Expired} {
				var want []portal.Process
				if status == one.NotedStatus() {
					want = []portal.Process{one}
				}
				found(t, pages(t, b, listing(status), 10), nil, want)
			}
		}
		refused(t, b, errRefused, func(ctx context.Context) error {
			if err := b.Processes.DeleteProcess(ctx, p.ID); err != nil {
				return err
			}
			got, err := b.Processes.ListProcesses(ctx, listing(portal.Completed), portal.Position{}, 10)
			found(t, got, err, nil)
			return errRefused
		})
		found(t, pages(t, b, listing(""), 10), nil, []portal.Process{completed("p", 0, 3)})
	},

	"what people write does not change the status": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		p := completed(`"decline":{`, 0, 1)
		p.Participants[0].Name, p.Participants[0].Email = `x","decline":{"reason":""}`, `\"decline":`
		no := declined("no", 1, 2)
		no.Participants[0].Decline.Reason = `,"signature":{`
		addProcesses(t, b, p, no)
		found(t, pages(t, b, listing(portal.Completed), 10), nil, []portal.Process{p})
		found(t, pages(t, b, listing(portal.Declined), 10), nil, []portal.Process{no})
	},

	"those that have expired without a note are overdue": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		late, early, other := invited("late", "a", 10), invited("early", "a", 0), invited("other", "b", 5)
		addProcesses(t, b, late, early, other, expired("noted", 0), completed("completed", 0, 1))
		found(t, overdue(t, b, "", expires(0)), nil, nil)
		found(t, overdue(t, b, "", expires(0).Add(time.Microsecond)), nil, []portal.Process{early})
		found(t, overdue(t, b, "", expires(100)), nil, []portal.Process{early, other, late})
		found(t, overdue(t, b, early.Account, expires(100)), nil, []portal.Process{early, late})
		found(t, overdue(t, b, early.Account, expires(0).Add(time.Microsecond)), nil, []portal.Process{early})
		found(t, overdue(t, b, other.Account, expires(100)), nil, []portal.Process{other})
		found(t, overdue(t, b, other.Account, base), nil, nil)
		for _, unknown := range unknowns("a") {
			if unknown != "" { // which is all
				found(t, overdue(t, b, unknown, expires(100)), nil, nil)
			}
		}
		updateProcess(t, b, expired("early", 0))
		found(t, overdue(t, b, "", expires(100)), nil, []portal.Process{other, late})
	},

	"those that ended before a time are found, the earliest first": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		first, second, third := declined("1", 0, 1), completed("2", 0, 2), expired("3", 0)
		unnoted := completed("unnoted", 1, 8)
		unnoted.EndedAt = time.Time{} // it is found by its creation
		addProcesses(t, b, third, second, first, unnoted, invited("waiting", "a", 0))
		ended(t, b, after(1), 10)
		ended(t, b, after(2), 10, first, unnoted)
		ended(t, b, after(2), 1, first)
		ended(t, b, expires(0), 10, first, unnoted, second)
		ended(t, b, expires(1), 10, first, unnoted, second, third)
		for _, limit := range []int{-1, 0} {
			ended(t, b, expires(1), limit)
		}
		unnoted.EndedAt = after(8)
		updateProcess(t, b, unnoted)
		ended(t, b, after(8), 10, first, second)
	},
}
