package transfer

import (
	"context"
	"errors"
	"iter"

	"github.com/innsigli/innsigli/storage"
)

// batch is how many records one transaction stores.
const batch = 128

// each stores a list, a batch in each transaction, and counts.
func each[T any](ctx context.Context, c *transfer, list iter.Seq2[T, error], count *int, add func(ctx context.Context, one T) error) error {
	return batches(list, func(some []T) error { return store(ctx, c, some, nil, count, add) })
}

// store stores some of a list in a transaction, keeps the documents that they refer to, and counts.
func store[T any](ctx context.Context, c *transfer, some []T, documents []string, count *int, add func(ctx context.Context, one T) error) error {
	err := c.to.InTx(ctx, func(ctx context.Context) error {
		for _, one := range some {
			if err := add(ctx, one); err != nil {
				return err
			}
		}
		for _, id := range documents {
			if err := c.to.Documents().Keep(ctx, id); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		*count += len(some)
		c.tell()
	}
	return err
}

// batches calls store with the list's elements, a batch at a time.
func batches[T any](list iter.Seq2[T, error], store func([]T) error) error {
	var some []T
	for one, err := range list {
		if err != nil {
			return err
		}
		if some = append(some, one); len(some) == batch {
			if err := store(some); err != nil {
				return err
			}
			some = nil
		}
	}
	if len(some) == 0 {
		return nil
	}
	return store(some)
}

func (c *transfer) authority(ctx context.Context) error {
	encoded, err := c.from.Sandbox().Authority(ctx)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return c.to.InTx(ctx, func(ctx context.Context) error { return c.to.Sandbox().SaveAuthority(ctx, encoded) })
}

func (c *transfer) signals(ctx context.Context) error {
	return each(ctx, c, c.from.AllSignals(ctx), &c.done.Signals, c.to.BusySignals().AddSignal)
}

func (c *transfer) certificates(ctx context.Context) error {
	return each(ctx, c, c.from.AllCertificates(ctx), &c.done.Certificates, c.to.Requests().KeepCertificate)
}

func (c *transfer) jobs(ctx context.Context) error {
	return each(ctx, c, c.from.AllJobs(ctx), &c.done.Jobs, func(ctx context.Context, j storage.Job) error {
		return c.to.Jobs().Enqueue(ctx, j)
	})
}

func (c *transfer) evidence(ctx context.Context) error {
	return each(ctx, c, c.entries(ctx), &c.done.Entries, func(ctx context.Context, e storage.Entry) error {
		return c.to.EvidenceLog().Record(ctx, e)
	})
}

// entries lists the evidence log.
func (c *transfer) entries(ctx context.Context) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		for last := int64(0); ; {
			some, err := c.from.EvidenceLog().EntriesAfter(ctx, last, batch)
			if err != nil {
				yield(storage.Entry{}, err)
				return
			}
			for _, e := range some {
				if !yield(e, nil) {
					return
				}
				last = e.Seq
			}
			if len(some) < batch {
				return
			}
		}
	}
}

func (c *transfer) tokens(ctx context.Context) error {
	return each(ctx, c, c.from.AllTokens(ctx), &c.done.Tokens, c.to.Accounts().AddToken)
}

// belongings are the clients and sandbox users of the accounts.
func (c *transfer) belongings(ctx context.Context) error {
	accounts, err := c.from.Accounts().Accounts(ctx)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		clients, err := c.from.Accounts().Clients(ctx, a.ID)
		if err != nil {
			return err
		}
		if err := each(ctx, c, known(clients), &c.done.Clients, c.to.Accounts().AddClient); err != nil {
			return err
		}
		users, err := c.from.Sandbox().Users(ctx, a.ID)
		if err != nil {
			return err
		}
		if err := each(ctx, c, known(users), &c.done.Users, c.to.Sandbox().CreateUser); err != nil {
			return err
		}
	}
	return nil
}

func (c *transfer) accounts(ctx context.Context) error {
	accounts, err := c.from.Accounts().Accounts(ctx)
	if err != nil {
		return err
	}
	return store(ctx, c, accounts, nil, &c.done.Accounts, c.to.Accounts().AddAccount)
}

// known is a list that was read without an error.
func known[T any](list []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, one := range list {
			if !yield(one, nil) {
				return
			}
		}
	}
}
