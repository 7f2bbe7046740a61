package storagetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/storage"
)

// line is that of a signature of an account, made so many seconds after base.
func line(name, of string, seconds int) account.Line {
	return account.Line{ID: id(name), Account: id(of), API: account.PortalAPI, At: after(seconds), Free: true}
}

func addLines(t *testing.T, b Backend, list ...account.Line) {
	t.Helper()
	do(t, b, func(ctx context.Context) error {
		for _, l := range list {
			if err := b.Accounts.AddLine(ctx, l); err != nil {
				return err
			}
		}
		return nil
	})
}

// lines are those of an account in a span of time.
func lines(ctx context.Context, t *testing.T, b Backend, account string, from, to time.Time) (list []account.Line) {
	t.Helper()
	for l, err := range b.Accounts.Lines(ctx, account, from, to) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, l)
	}
	return list
}

var ledger = tests{
	"a line is kept whole": func(t *testing.T, open func(*testing.T) Backend) {
		b, paid := open(t), account.Line{ID: id("paid"), Account: id("a"), API: account.SigningAPI, At: after(1)}
		addLines(t, b, line("free", "a", 0), paid)
		b = b.Reopen(t)
		found(t, lines(t.Context(), t, b, id("a"), base, after(2)), nil, []account.Line{line("free", "a", 0), paid})
	},

	"an ID is taken once, and the transaction goes on": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		do(t, b, func(ctx context.Context) error {
			failed(t, b.Accounts.AddLine(ctx, line("1", "a", 0)), nil)
			failed(t, b.Accounts.AddLine(ctx, line("1", "b", 1)), storage.ErrExists)
			return b.Accounts.AddLine(ctx, line("2", "a", 1))
		})
		found(t, lines(t.Context(), t, b, id("a"), base, after(2)), nil, []account.Line{line("1", "a", 0), line("2", "a", 1)})
		found(t, lines(t.Context(), t, b, id("b"), base, after(2)), nil, nil)
	},

	"those of an account are listed from a time to another": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		want := []account.Line{line("1", "a", -1), line("2", "a", 0), line("3", "a", 1), line("4", "a", 2)}
		addLines(t, b, want[2], line("5", "b", 1), want[0], want[3], want[1])
		for _, c := range []struct {
			from, to time.Time
			want     []account.Line
		}{
			{time.Time{}, after(100), want},
			{base, after(2), want[1:3]},
			{base.Add(time.Microsecond), after(2).Add(time.Microsecond), want[2:]},
			{base, base.Add(time.Microsecond), want[1:2]},
			{base, base, nil},
			{after(2), base, nil},
			{after(3), after(100), nil},
		} {
			t.Logf("from %v to %v", c.from, c.to)
			found(t, lines(t.Context(), t, b, id("a"), c.from, c.to), nil, c.want)
		}
		for _, unknown := range unknowns("a") {
			found(t, lines(t.Context(), t, b, unknown, time.Time{}, after(100)), nil, nil)
		}
	},

	"a long list has no gap, and is read as often as one likes": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		const many = 700
		var want []account.Line
		for i := range many {
			want = append(want, line(fmt.Sprint(i), "a", i/300)) // most at the same time as others
		}
		addLines(t, b, want...)
		list := b.Accounts.Lines(t.Context(), id("a"), base, after(100))
		for range 2 {
			var got []account.Line
			for l, err := range list {
				failed(t, err, nil)
				got = append(got, l)
			}
			found(t, got, nil, want)
		}
		for l, err := range list { // a reader may stop
			found(t, l, err, want[0])
			break
		}
	},

	"a transaction lists what it added, and what is undone was not added": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addLines(t, b, line("1", "a", 1))
		refused(t, b, errRefused, func(ctx context.Context) error {
			if err := b.Accounts.AddLine(ctx, line("2", "a", 0)); err != nil {
				return err
			}
			found(t, lines(ctx, t, b, id("a"), base, after(2)), nil, []account.Line{line("2", "a", 0), line("1", "a", 1)})
			return errRefused
		})
		found(t, lines(t.Context(), t, b, id("a"), base, after(2)), nil, []account.Line{line("1", "a", 1)})
	},

	"a list ends with its error": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addLines(t, b, line("1", "a", 1))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		n := 0
		for _, err := range b.Accounts.Lines(ctx, id("a"), base, after(2)) {
			n++
			failed(t, err, context.Canceled)
		}
		if n != 1 {
			t.Errorf("it ended %d times", n)
		}
	},
}
