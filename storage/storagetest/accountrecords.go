package storagetest

import (
	"context"
	"slices"
	"testing"

	"github.com/innsigli/innsigli/account"
)

// accountRecords has tests of the methods that only the deletion of a whole account calls.
var accountRecords = tests{
	"an account is deleted without its clients": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addAccounts(t, b, "b", "a")
		want := addClients(t, b, "a", "c")
		do(t, b, func(ctx context.Context) error { return b.Accounts.DeleteAccount(ctx, id("a")) })
		all, err := b.Accounts.Accounts(t.Context())
		checkRead(t, all, err, []account.Account{exampleAccount("b")})
		clients, err := b.Accounts.Clients(t.Context(), id("a"))
		checkRead(t, clients, err, want)
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
		var all []account.Line
		checkDeleteSteps(t, b, func(ctx context.Context, limit int) (int, error) {
			deleted, err := b.Accounts.DeleteLines(ctx, id("a"), limit)
			all = append(all, deleted...)
			return len(deleted), err
		})
		slices.SortFunc(all, func(x, y account.Line) int { return x.At.Compare(y.At) })
		checkRead(t, all, nil, []account.Line{exampleLine("1", "a", 0), exampleLine("2", "a", 1), exampleLine("3", "a", 2)})
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
