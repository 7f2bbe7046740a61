package storagetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/storage"
)

var accounts = recordType[account.Account]{
	examples: []account.Account{exampleAccount("a"), {ID: id("b"), Name: "b", CreatedAt: base, ClosedAt: after(3)}},
	changed: func(a account.Account) account.Account {
		a.Name, a.PaymentMethod, a.Quota, a.Admins, a.FreeUsed, a.Stored = "changed", false, 0, nil, 0, -1
		return a
	},
	others: withOtherIDs("a", func(a *account.Account, id string) { a.ID = id }),
	get: func(ctx context.Context, b Backend, a account.Account) (account.Account, error) {
		return b.Accounts.Account(ctx, a.ID)
	},
	add:    func(ctx context.Context, b Backend, a account.Account) error { return b.Accounts.AddAccount(ctx, a) },
	update: func(ctx context.Context, b Backend, a account.Account) error { return b.Accounts.UpdateAccount(ctx, a) },
	remove: func(ctx context.Context, b Backend, a account.Account) error {
		return b.Accounts.DeleteAccount(ctx, a.ID)
	},
	unknown: storage.ErrNotFound,
}.and(tests{
	"updating replaces and keeps the order of creation": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		want := addAccounts(t, b, "c", "a", "b")
		want[0].Name, want[0].PaymentMethod, want[0].Quota, want[0].Admins = "changed", false, 0, nil
		want[0].FreeUsed, want[0].Stored = 0, -1
		do(t, b, func(ctx context.Context) error { return b.Accounts.UpdateAccount(ctx, want[0]) })
		got, err := b.Accounts.Accounts(t.Context())
		checkRead(t, got, err, want)
	},
})

var clients = recordType[account.Client]{
	examples: append(goldenClients(), exampleClient("e", "b")),
	changed: func(c account.Client) account.Client {
		c.Name, c.UsedAt, c.Scopes, c.Secrets = "changed", after(5), nil, c.Secrets[:1]
		return c
	},
	others: withOtherIDs("client", func(c *account.Client, id string) { c.ID = id }),
	get: func(ctx context.Context, b Backend, c account.Client) (account.Client, error) {
		return b.Accounts.Client(ctx, c.ID)
	},
	add:    func(ctx context.Context, b Backend, c account.Client) error { return b.Accounts.AddClient(ctx, c) },
	update: func(ctx context.Context, b Backend, c account.Client) error { return b.Accounts.UpdateClient(ctx, c) },
	remove: func(ctx context.Context, b Backend, c account.Client) error {
		return b.Accounts.DeleteClient(ctx, c.ID)
	},
	unknown: storage.ErrNotFound,
}.and(tests{
	"updating replaces a client, its secrets too, and keeps its place": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addAccounts(t, b, "a")
		want := addClients(t, b, "a", "z", "m", "c")
		first := want[1].Secrets[0]
		first.UsedAt = after(1)
		second := account.Secret{ID: "second", Hash: []byte{2}, CreatedAt: after(2), UsedAt: after(3)}
		third := account.Secret{ID: "third", Hash: []byte{3}, CreatedAt: after(4)}
		for name, secrets := range map[string][]account.Secret{
			"two": {first, second}, "another first one": {second, third}, "the second alone": {second}, "the first alone": {first},
		} {
			want[1].Name, want[1].UsedAt, want[1].Scopes, want[1].Secrets = name, after(5), nil, secrets
			do(t, b, func(ctx context.Context) error { return b.Accounts.UpdateClient(ctx, want[1]) })
			got, err := b.Accounts.Clients(t.Context(), id("a"))
			checkRead(t, got, err, want)
			one, err := b.Accounts.Client(t.Context(), want[1].ID)
			checkRead(t, one, err, want[1])
		}
	},

	"an ID is unique over all accounts": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addAccounts(t, b, "a", "b")
		c := addClients(t, b, "a", "c")[0]
		doFailing(t, b, storage.ErrExists, func(ctx context.Context) error {
			return b.Accounts.AddClient(ctx, exampleClient("c", "b"))
		})
		got, err := b.Accounts.Client(t.Context(), c.ID)
		checkRead(t, got, err, c)
	},

	"the clients of an account are listed in the order of creation": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addAccounts(t, b, "a", "b")
		first := addClients(t, b, "a", "z", "m")
		addClients(t, b, "b", "y")
		want := append(first, addClients(t, b, "a", "c")...)
		got, err := b.Accounts.Clients(t.Context(), id("a"))
		checkRead(t, got, err, want)
		got, err = b.Accounts.Clients(t.Context(), id("a")[:8])
		if err != nil || len(got) != 0 {
			t.Errorf("the beginning of an account's ID has clients: %v, %v", got, err)
		}
	},
})

var tokens = recordType[account.TokenRecord]{
	examples: goldenTokens(),
	changed:  func(r account.TokenRecord) account.TokenRecord { r.ExpiresAt = after(9000); return r },
	others: func(r account.TokenRecord) (all []account.TokenRecord) {
		for _, hash := range [][]byte{nil, {}, r.Hash[:31], r.Hash[1:], append(r.Hash[:32:32], 0), exampleToken("other").Hash} {
			r.Hash = hash
			all = append(all, r)
		}
		return all
	},
	get: func(ctx context.Context, b Backend, r account.TokenRecord) (account.TokenRecord, error) {
		return b.Accounts.Token(ctx, r.Hash)
	},
	add: func(ctx context.Context, b Backend, r account.TokenRecord) error { return b.Accounts.AddToken(ctx, r) },
	remove: func(ctx context.Context, b Backend, r account.TokenRecord) error {
		return b.Accounts.DeleteToken(ctx, r.Hash)
	},
	unknown: storage.ErrNotFound,
}.and(tests{
	"a token outlives its client": func(t *testing.T, open func(*testing.T) Backend) {
		b := openWithClient(t, open)
		want := addTokens(t, b, "t")[0]
		do(t, b, func(ctx context.Context) error { return b.Accounts.DeleteClient(ctx, "client c") })
		got, err := b.Accounts.Token(t.Context(), want.Hash)
		checkRead(t, got, err, want)
	},

	"expired tokens are deleted, the earliest first, so many at a time": func(t *testing.T, open func(*testing.T) Backend) {
		b := openWithClient(t, open)
		all := addTokens(t, b, "0", "1", "2", "3", "4") // a minute apart
		now := all[3].ExpiresAt
		for _, want := range []struct{ limit, deleted, left int }{{2, 2, 3}, {0, 0, 3}, {10, 2, 1}, {10, 0, 1}} {
			deleted := -1
			do(t, b, func(ctx context.Context) (err error) {
				deleted, err = b.Accounts.DeleteExpiredTokens(ctx, now, want.limit)
				return err
			})
			if deleted != want.deleted {
				t.Errorf("deleted %d, want %d", deleted, want.deleted)
			}
			for i, token := range all {
				_, err := b.Accounts.Token(t.Context(), token.Hash)
				if gone := i < len(all)-want.left; gone != (err != nil) {
					t.Errorf("token %d: gone is %v, and the error %v", i, gone, err)
				}
			}
		}
	},
})

func addAccounts(t *testing.T, b Backend, names ...string) []account.Account {
	t.Helper()
	var added []account.Account
	for _, name := range names {
		added = append(added, exampleAccount(name))
	}
	for _, a := range added {
		do(t, b, func(ctx context.Context) error { return b.Accounts.AddAccount(ctx, a) })
	}
	return added
}

func addClients(t *testing.T, b Backend, of string, names ...string) []account.Client {
	t.Helper()
	var added []account.Client
	for _, name := range names {
		added = append(added, exampleClient(name, of))
	}
	for _, c := range added {
		do(t, b, func(ctx context.Context) error { return b.Accounts.AddClient(ctx, c) })
	}
	return added
}

// addTokens adds tokens that expire one minute after another. It adds the later ones first.
func addTokens(t *testing.T, b Backend, names ...string) []account.TokenRecord {
	t.Helper()
	added := make([]account.TokenRecord, len(names))
	for i := len(names) - 1; i >= 0; i-- {
		token := exampleToken(fmt.Sprint("token ", names[i]))
		token.ExpiresAt = token.ExpiresAt.Add(time.Duration(i) * time.Minute)
		do(t, b, func(ctx context.Context) error { return b.Accounts.AddToken(ctx, token) })
		added[i] = token
	}
	return added
}

// openWithClient opens a backend with the account a and its client c.
func openWithClient(t *testing.T, open func(*testing.T) Backend) Backend {
	t.Helper()
	b := open(t)
	addAccounts(t, b, "a")
	addClients(t, b, "a", "c")
	return b
}

// exampleLine is the entry of a signature of an account, made so many seconds after base.
func exampleLine(name, of string, seconds int) account.Line {
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

// lines returns the entries of an account in a period.
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
	"an entry is stored with all fields": func(t *testing.T, open func(*testing.T) Backend) {
		b, paid := open(t), account.Line{ID: id("paid"), Account: id("a"), API: account.SigningAPI, At: after(1)}
		addLines(t, b, exampleLine("free", "a", 0), paid)
		b = b.Reopen(t)
		checkRead(t, lines(t.Context(), t, b, id("a"), base, after(2)), nil, []account.Line{exampleLine("free", "a", 0), paid})
	},

	"an ID exists once, and the transaction goes on": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		do(t, b, func(ctx context.Context) error {
			checkError(t, b.Accounts.AddLine(ctx, exampleLine("1", "a", 0)), nil)
			checkError(t, b.Accounts.AddLine(ctx, exampleLine("1", "b", 1)), storage.ErrExists)
			return b.Accounts.AddLine(ctx, exampleLine("2", "a", 1))
		})
		checkRead(t, lines(t.Context(), t, b, id("a"), base, after(2)), nil, []account.Line{exampleLine("1", "a", 0), exampleLine("2", "a", 1)})
		checkRead(t, lines(t.Context(), t, b, id("b"), base, after(2)), nil, nil)
	},

	"the first signatures of an account are free": func(t *testing.T, open func(*testing.T) Backend) {
		b, a := open(t), exampleAccount("a")
		a.FreeUsed = 0
		do(t, b, func(ctx context.Context) error { return b.Accounts.AddAccount(ctx, a) })
		var want []account.Line
		for i := range account.FreeSignatures + 2 {
			l := exampleLine(fmt.Sprint(i), "a", i)
			for range 2 { // the second call finds the line, and counts nothing
				do(t, b, func(ctx context.Context) error { return b.Accounts.AddSignature(ctx, l) })
			}
			l.Free = i < account.FreeSignatures
			want = append(want, l)
		}
		checkRead(t, lines(t.Context(), t, b, id("a"), base, after(100)), nil, want)
		a.FreeUsed = account.FreeSignatures
		got, err := b.Accounts.Account(t.Context(), a.ID)
		checkRead(t, got, err, a)
	},

	"of concurrent signatures of an account so many are free": func(t *testing.T, open func(*testing.T) Backend) {
		b, a := open(t), exampleAccount("a")
		a.FreeUsed = 0
		do(t, b, func(ctx context.Context) error { return b.Accounts.AddAccount(ctx, a) })
		const writers, each = 8, 5
		concurrently(t, writers, func(i int) error {
			for j := range each {
				l := exampleLine(fmt.Sprint(i, " ", j), "a", j)
				if err := b.InTx(t.Context(), func(ctx context.Context) error { return b.Accounts.AddSignature(ctx, l) }); err != nil {
					return err
				}
			}
			return nil
		})
		list, free := lines(t.Context(), t, b, id("a"), base, after(100)), 0
		for _, l := range list {
			if l.Free {
				free++
			}
		}
		got, err := b.Accounts.Account(t.Context(), a.ID)
		if len(list) != writers*each || free != account.FreeSignatures || got.FreeUsed != account.FreeSignatures || err != nil {
			t.Errorf("%d signatures of which %d are free, and the account has %d, %v", len(list), free, got.FreeUsed, err)
		}
	},

	"a signature of an unknown account is not added": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		do(t, b, func(ctx context.Context) error {
			checkError(t, b.Accounts.AddSignature(ctx, exampleLine("1", "a", 0)), storage.ErrNotFound)
			return nil
		})
		checkRead(t, lines(t.Context(), t, b, id("a"), base, after(1)), nil, nil)
	},

	"the entries of an account are listed by period": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		want := []account.Line{exampleLine("1", "a", -1), exampleLine("2", "a", 0), exampleLine("3", "a", 1), exampleLine("4", "a", 2)}
		addLines(t, b, want[2], exampleLine("5", "b", 1), want[0], want[3], want[1])
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
			checkRead(t, lines(t.Context(), t, b, id("a"), c.from, c.to), nil, c.want)
		}
		for _, unknown := range otherIDs("a") {
			checkRead(t, lines(t.Context(), t, b, unknown, time.Time{}, after(100)), nil, nil)
		}
	},

	"a long list is complete, and can be read repeatedly": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		const many = 700
		var want []account.Line
		for i := range many {
			want = append(want, exampleLine(fmt.Sprint(i), "a", i/300)) // many have the same time
		}
		addLines(t, b, want...)
		list := b.Accounts.Lines(t.Context(), id("a"), base, after(100))
		for range 2 {
			var got []account.Line
			for l, err := range list {
				checkError(t, err, nil)
				got = append(got, l)
			}
			checkRead(t, got, nil, want)
		}
		for l, err := range list { // the caller may stop
			checkRead(t, l, err, want[0])
			break
		}
	},

	"a transaction lists what it added, and a rollback removes it": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addLines(t, b, exampleLine("1", "a", 1))
		rollBack(t, b, func(ctx context.Context) error {
			if err := b.Accounts.AddLine(ctx, exampleLine("2", "a", 0)); err != nil {
				return err
			}
			checkRead(t, lines(ctx, t, b, id("a"), base, after(2)), nil, []account.Line{exampleLine("2", "a", 0), exampleLine("1", "a", 1)})
			return nil
		})
		checkRead(t, lines(t.Context(), t, b, id("a"), base, after(2)), nil, []account.Line{exampleLine("1", "a", 1)})
	},

	"a list ends with its error": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addLines(t, b, exampleLine("1", "a", 1))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		n := 0
		for _, err := range b.Accounts.Lines(ctx, id("a"), base, after(2)) {
			n++
			checkError(t, err, context.Canceled)
		}
		if n != 1 {
			t.Errorf("the list has %d elements, want its error alone", n)
		}
	},
}
