package storagetest

import (
	"context"
	"testing"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/storage"
)

// accountRecords has tests of the methods that only the deletion of a whole account calls.
var accountRecords = tests{
	"an account is deleted without its clients, and its ID can be used again": func(t *testing.T, open func(*testing.T) Backend) {
		b, a := open(t), exampleAccount("a")
		a.ClosedAt = after(1)
		do(t, b, func(ctx context.Context) error {
			checkError(t, b.Accounts.AddAccount(ctx, exampleAccount("b")), nil)
			checkError(t, b.Accounts.AddClient(ctx, exampleClient("c", "a")), nil)
			return b.Accounts.AddAccount(ctx, a)
		})
		b = b.Reopen(t)
		all, err := b.Accounts.Accounts(t.Context())
		checkRead(t, all, err, []account.Account{exampleAccount("b"), a})
		remove := func(ctx context.Context) error { return b.Accounts.DeleteAccount(ctx, a.ID) }
		do(t, b, remove)
		doFailing(t, b, storage.ErrNotFound, remove)
		for _, unknown := range otherIDs("a") {
			doFailing(t, b, storage.ErrNotFound, func(ctx context.Context) error { return b.Accounts.DeleteAccount(ctx, unknown) })
		}
		all, err = b.Accounts.Accounts(t.Context())
		checkRead(t, all, err, []account.Account{exampleAccount("b")})
		clients, err := b.Accounts.Clients(t.Context(), a.ID)
		checkRead(t, clients, err, []account.Client{exampleClient("c", "a")})
		do(t, b, func(ctx context.Context) error { return b.Accounts.AddAccount(ctx, a) })
	},

	"a client may have no secrets": func(t *testing.T, open func(*testing.T) Backend) {
		b, c := open(t), exampleClient("c", "a")
		do(t, b, func(ctx context.Context) error { return b.Accounts.AddClient(ctx, c) })
		c.Secrets = nil
		do(t, b, func(ctx context.Context) error { return b.Accounts.UpdateClient(ctx, c) })
		got, err := b.Reopen(t).Accounts.Client(t.Context(), c.ID)
		checkRead(t, got, err, c)
	},

	"the ledger entries of an account are deleted in batches": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addLines(t, b, exampleLine("1", "a", 0), exampleLine("2", "a", 1), exampleLine("3", "a", 2), exampleLine("4", "b", 0))
		checkDeleteSteps(t, b, func(ctx context.Context, limit int) (int, error) {
			return b.Accounts.DeleteLines(ctx, id("a"), limit)
		})
		checkRead(t, lines(t.Context(), t, b, id("a"), base, after(10)), nil, nil)
		checkRead(t, lines(t.Context(), t, b, id("b"), base, after(10)), nil, []account.Line{exampleLine("4", "b", 0)})
	},

	"the attempts of a subscription are deleted in batches": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		other := exampleAttempt("other", "4", 0)
		do(t, b, func(ctx context.Context) error {
			for i, event := range []string{"1", "2", "3"} {
				if err := b.Webhooks.AddAttempt(ctx, exampleAttempt("s", event, i)); err != nil {
					return err
				}
			}
			return b.Webhooks.AddAttempt(ctx, other)
		})
		checkDeleteSteps(t, b, func(ctx context.Context, limit int) (int, error) {
			return b.Webhooks.DeleteAttemptsOf(ctx, id("s"), limit)
		})
		for a, err := range b.Webhooks.Attempts(t.Context(), id("s")) {
			t.Errorf("%v is left, %v", a, err)
		}
		for a, err := range b.Webhooks.Attempts(t.Context(), id("other")) {
			checkRead(t, a, err, other)
		}
	},

	"a busy signal is deleted": func(t *testing.T, open func(*testing.T) Backend) {
		b, s, other := open(t), exampleSignal("s"), exampleSignal("other")
		do(t, b, func(ctx context.Context) error {
			checkError(t, b.BusySignals.AddSignal(ctx, other), nil)
			return b.BusySignals.AddSignal(ctx, s)
		})
		remove := func(ctx context.Context) error { return b.BusySignals.DeleteSignal(ctx, s.ID) }
		do(t, b, remove)
		doFailing(t, b, storage.ErrNotFound, remove)
		got, err := b.BusySignals.Signal(t.Context(), other.ID)
		checkRead(t, got, err, other)
	},

	"a user is deleted, and its unique values can be used again": func(t *testing.T, open func(*testing.T) Backend) {
		b, u := open(t), exampleUser("u")
		do(t, b, func(ctx context.Context) error { return b.Sandbox.CreateUser(ctx, u) })
		doFailing(t, b, storage.ErrNotFound, func(ctx context.Context) error { return b.Sandbox.DeleteUser(ctx, id("other"), u.ID) })
		remove := func(ctx context.Context) error { return b.Sandbox.DeleteUser(ctx, u.Account, u.ID) }
		do(t, b, remove)
		doFailing(t, b, storage.ErrNotFound, remove)
		for _, unknown := range otherIDs("u") {
			doFailing(t, b, storage.ErrNotFound, func(ctx context.Context) error { return b.Sandbox.DeleteUser(ctx, u.Account, unknown) })
		}
		users, err := b.Sandbox.Users(t.Context(), u.Account)
		checkRead(t, users, err, nil)
		again := u
		again.ID = id("again")
		do(t, b, func(ctx context.Context) error { return b.Sandbox.CreateUser(ctx, again) })
		users, err = b.Sandbox.Users(t.Context(), u.Account)
		checkRead(t, users, err, []sandbox.User{again})
	},
}

// checkDeleteSteps deletes three records, two at a time.
func checkDeleteSteps(t *testing.T, b Backend, remove func(ctx context.Context, limit int) (int, error)) {
	t.Helper()
	for _, step := range []struct{ limit, want int }{{-1, 0}, {0, 0}, {2, 2}, {2, 1}, {2, 0}} {
		deleted := -1
		do(t, b, func(ctx context.Context) (err error) {
			deleted, err = remove(ctx, step.limit)
			return err
		})
		if deleted != step.want {
			t.Errorf("at most %d: %d were deleted, want %d", step.limit, deleted, step.want)
		}
	}
}
