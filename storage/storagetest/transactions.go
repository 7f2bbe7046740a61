package storagetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/innsigli/innsigli/storage"
)

var errRefused = errors.New("storagetest: refused")

var transactions = tests{
	"what a transaction wrote is there when it has ended": func(t *testing.T, open func(*testing.T) Backend) {
		b, a := open(t), exampleAccount("a")
		do(t, b, func(ctx context.Context) error { return b.Accounts.AddAccount(ctx, a) })
		got, err := b.Accounts.Account(t.Context(), a.ID)
		found(t, got, err, a)
	},

	"an error undoes everything and is returned as it is": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		err := b.InTx(t.Context(), func(ctx context.Context) error {
			if err := addOneOfEach(ctx, b); err != nil {
				return err
			}
			return errRefused
		})
		if err != errRefused {
			t.Errorf("InTx answered %v", err)
		}
		nothingStored(t, b)
	},

	"a panic undoes everything and the next transaction runs": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		func() {
			defer func() {
				if found := recover(); found != errRefused {
					t.Errorf("the panic became %v", found)
				}
			}()
			_ = b.InTx(t.Context(), func(ctx context.Context) error {
				if err := addOneOfEach(ctx, b); err != nil {
					return err
				}
				panic(errRefused)
			})
		}()
		nothingStored(t, b)
		do(t, b, func(ctx context.Context) error { return addOneOfEach(ctx, b) })
	},

	"a transaction reads what it wrote and nobody else does": func(t *testing.T, open func(*testing.T) Backend) {
		b, a := open(t), exampleAccount("a")
		do(t, b, func(ctx context.Context) error {
			if err := b.Accounts.AddAccount(ctx, a); err != nil {
				return err
			}
			_, err := b.Accounts.Account(t.Context(), a.ID)
			failed(t, err, storage.ErrNotFound)
			got, err := b.Accounts.Account(ctx, a.ID)
			found(t, got, err, a)
			return nil
		})
	},

	"a transaction within a transaction joins it": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		refused(t, b, errRefused, func(ctx context.Context) error {
			if err := b.InTx(ctx, func(ctx context.Context) error { return addOneOfEach(ctx, b) }); err != nil {
				return err
			}
			_, err := b.Accounts.Account(ctx, exampleAccount("a").ID)
			failed(t, err, nil)
			return errRefused
		})
		nothingStored(t, b)
	},

	"an error of a transaction within undoes the whole": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		refused(t, b, errRefused, func(ctx context.Context) error {
			if err := addOneOfEach(ctx, b); err != nil {
				return err
			}
			err := b.InTx(ctx, func(context.Context) error { return errRefused })
			failed(t, err, errRefused)
			return nil
		})
		nothingStored(t, b)
	},

	"writing needs a transaction": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for name, write := range writes(b) {
			t.Run(name, func(t *testing.T) { failed(t, write(t.Context()), storage.ErrNoTx) })
		}
		nothingStored(t, b)
	},

	"a context is good for its transaction alone": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		var kept context.Context
		do(t, b, func(ctx context.Context) error { kept = ctx; return nil })
		for name, write := range writes(b) {
			t.Run(name, func(t *testing.T) { failed(t, write(kept), storage.ErrNoTx) })
		}
		nothingStored(t, b)
	},

	"a context is good for its own backend alone": func(t *testing.T, open func(*testing.T) Backend) {
		b, other := open(t), open(t)
		do(t, b, func(ctx context.Context) error {
			for name, write := range writes(other) {
				t.Run(name, func(t *testing.T) { failed(t, write(ctx), storage.ErrNoTx) })
			}
			return nil
		})
		nothingStored(t, other)
	},

	"a context that has ended begins nothing": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := b.InTx(ctx, func(ctx context.Context) error { return addOneOfEach(ctx, b) })
		failed(t, err, context.Canceled)
		nothingStored(t, b)
	},
}

// addOneOfEach writes through every store of records.
func addOneOfEach(ctx context.Context, b Backend) error {
	return errors.Join(
		b.Accounts.AddAccount(ctx, exampleAccount("a")),
		b.Accounts.AddClient(ctx, exampleClient("c", "a")),
		b.Accounts.AddToken(ctx, exampleToken("t")),
		b.BusySignals.AddSignal(ctx, exampleSignal("s")),
		b.Requests.CreateRequest(ctx, exampleRequest("r")),
		b.Requests.KeepCertificate(ctx, exampleCertificate("jon")),
		b.Sandbox.CreateUser(ctx, exampleUser("u")),
		b.Jobs.Enqueue(ctx, work("k", "g", 0)),
		b.EvidenceLog.Record(ctx, fact("s", "asked", 0)),
		b.Webhooks.CreateSubscription(ctx, exampleSubscription("s"), manySubscriptions),
		b.Webhooks.CreateKey(ctx, exampleKey(1)),
		b.Webhooks.AddAttempt(ctx, attempt("s", "1", 0)),
		b.Webhooks.AddDropped(ctx, givenUp("s", "e", 0)),
		b.Processes.CreateProcess(ctx, exampleProcess("p")),
		b.Processes.CreateKey(ctx, exampleProcessKey("k")),
		b.Accounts.AddLine(ctx, line("1", "a", 0)),
	)
}

func nothingStored(t *testing.T, b Backend) {
	t.Helper()
	_, err := b.Accounts.Account(t.Context(), exampleAccount("a").ID)
	failed(t, err, storage.ErrNotFound)
	_, err = b.Accounts.Client(t.Context(), exampleClient("c", "a").ID)
	failed(t, err, storage.ErrNotFound)
	_, err = b.Accounts.Token(t.Context(), exampleToken("t").Hash)
	failed(t, err, storage.ErrNotFound)
	_, err = b.BusySignals.Signal(t.Context(), exampleSignal("s").ID)
	failed(t, err, storage.ErrNotFound)
	_, err = b.Requests.Request(t.Context(), exampleRequest("r").ID)
	failed(t, err, storage.ErrNotFound)
	_, err = b.Requests.KeptCertificate(t.Context(), exampleCertificate("jon").Person)
	failed(t, err, storage.ErrNotFound)
	_, err = b.Sandbox.User(t.Context(), exampleUser("u").Account, exampleUser("u").ID)
	failed(t, err, storage.ErrNotFound)
	due, err := b.Jobs.NextDue(t.Context(), "k")
	found(t, due, err, map[string]time.Time{})
	logged(t, log(t, b), nil)
	_, err = b.Webhooks.Subscription(t.Context(), exampleSubscription("s").ID)
	failed(t, err, storage.ErrNotFound)
	signedWith(t, b)
	found(t, attempted(t.Context(), t, b, id("s")), nil, nil)
	dropped(t, b, id("s"))
	_, err = b.Processes.Process(t.Context(), id("p"))
	failed(t, err, storage.ErrNotFound)
	_, err = b.Processes.ProcessByLink(t.Context(), invitation("p 3", 0).Hash)
	failed(t, err, storage.ErrNotFound)
	_, err = b.Processes.Key(t.Context(), "client", "k")
	failed(t, err, storage.ErrNotFound)
	found(t, lines(t.Context(), t, b, id("a"), base, after(1)), nil, nil)
}
