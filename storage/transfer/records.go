package transfer

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// batch is how many records one transaction stores.
const batch = 128

// each stores a list, one batch in each transaction, and counts its elements.
func each[T any](ctx context.Context, c *transfer, list iter.Seq2[T, error], count *int, add func(ctx context.Context, one T) error) error {
	return batches(list, func(some []T) error { return store(ctx, c, some, nil, count, add) })
}

// store stores some elements of a list in one transaction, keeps the documents to which they refer, and counts
// them.
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
		c.report()
	}
	return err
}

// batches calls store with the elements of a list, one batch at a time.
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

// evidence copies the log with its chain. Entries keep their numbers, over which the chain is.
func (c *transfer) evidence(ctx context.Context) error {
	err := each(ctx, c, c.entries(ctx), &c.done.Entries, func(ctx context.Context, e storage.Entry) error {
		return c.to.EvidenceLog().Restore(ctx, []storage.Entry{e}, nil)
	})
	for number := int64(0); err == nil; {
		batches, listErr := c.from.EvidenceLog().Batches(ctx, number, 10)
		if listErr != nil || len(batches) == 0 {
			return listErr
		}
		err = c.to.InTx(ctx, func(ctx context.Context) error { return c.to.EvidenceLog().Restore(ctx, nil, batches) })
		number = batches[len(batches)-1].Number
	}
	return err
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

// clientsAndUsers copies the clients and sandbox users of the accounts.
func (c *transfer) clientsAndUsers(ctx context.Context) error {
	accounts, err := c.from.Accounts().Accounts(ctx)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		clients, err := c.from.Accounts().Clients(ctx, a.ID)
		if err != nil {
			return err
		}
		if err := each(ctx, c, withoutErrors(clients), &c.done.Clients, c.to.Accounts().AddClient); err != nil {
			return err
		}
		users, err := c.from.Sandbox().Users(ctx, a.ID)
		if err != nil {
			return err
		}
		if err := each(ctx, c, withoutErrors(users), &c.done.Users, c.to.Sandbox().CreateUser); err != nil {
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

// withoutErrors returns the list as a sequence without errors.
func withoutErrors[T any](list []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, one := range list {
			if !yield(one, nil) {
				return
			}
		}
	}
}

// requests copies the requests and the documents to which they refer: the document to sign and the image of a
// stamp. Except for these and the documents of processes, no record refers to a document; others would be
// swept.
func (c *transfer) requests(ctx context.Context) error {
	return batches(c.from.AllRequests(ctx), func(some []signing.Request) error {
		var documents []string
		for i := range some {
			created, err := c.documents(ctx, &some[i])
			if err != nil {
				return fmt.Errorf("documents of request %s: %w", some[i].ID, err)
			}
			documents = append(documents, created...)
		}
		return store(ctx, c, some, documents, &c.done.Requests, c.to.Requests().CreateRequest)
	})
}

// documents copies the documents of a request, makes the request refer to the copies, and returns their IDs.
// The documents of a request that has ended, or whose start failed before the person was asked, may be missing.
func (c *transfer) documents(ctx context.Context, r *signing.Request) (created []string, err error) {
	refs := []*string{&r.Document}
	if r.Stamp != nil && r.Stamp.Image != "" {
		stamp := *r.Stamp
		r.Stamp = &stamp // the source may share its own
		refs = append(refs, &stamp.Image)
	}
	for _, id := range refs {
		if copied, ok := c.shared[*id]; ok {
			*id = copied
			continue
		}
		copied, err := c.document(ctx, *id)
		if errors.Is(err, storage.ErrNotFound) && (r.Phase == signing.Ended || r.Phase == signing.Starting) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if r.Order != "" {
			c.shared[*id] = copied
		}
		*id = copied
		created = append(created, copied)
	}
	return created, nil
}

// document copies a document, and returns the ID of the copy.
func (c *transfer) document(ctx context.Context, id string) (copied string, err error) {
	blob, err := c.from.Documents().Open(ctx, id)
	if err != nil {
		return "", err
	}
	defer blob.Close()
	ref, err := c.to.Documents().Create(ctx, io.NewSectionReader(blob, 0, blob.Size()), blob.Size(), hashes(blob)...)
	if err != nil {
		return "", err
	}
	c.done.Documents++
	c.done.Bytes += ref.Size
	c.report()
	return ref.ID, nil
}

// hashes returns the hashes of which the document has states, so that the copy has them too.
func hashes(blob storage.Blob) (list []crypto.Hash) {
	for _, state := range blob.Hashed() {
		if state.Hash.Available() {
			list = append(list, state.Hash)
		}
	}
	return list
}

// processes copies the processes and their documents, except for documents that were copied with requests.
func (c *transfer) processes(ctx context.Context) error {
	return batches(c.from.AllProcesses(ctx), func(some []portal.Process) error {
		var created []string
		for i := range some {
			p := &some[i]
			copied, ok := c.shared[p.Document]
			if !ok {
				var err error
				if copied, err = c.document(ctx, p.Document); err != nil {
					return fmt.Errorf("document of process %s: %w", p.ID, err)
				}
				created = append(created, copied)
			}
			p.Document = copied
		}
		return store(ctx, c, some, created, &c.done.Processes, c.to.Processes().CreateProcess)
	})
}

func (c *transfer) processKeys(ctx context.Context) error {
	return each(ctx, c, c.from.AllKeys(ctx), &c.done.ProcessKeys, c.to.Processes().CreateKey)
}

func (c *transfer) ledger(ctx context.Context) error {
	return each(ctx, c, c.from.AllLines(ctx), &c.done.Lines, c.to.Accounts().AddLine)
}

func (c *transfer) signingKeys(ctx context.Context) error {
	keys, err := c.from.Webhooks().Keys(ctx)
	if err != nil {
		return err
	}
	return each(ctx, c, withoutErrors(keys), &c.done.SigningKeys, c.to.Webhooks().CreateKey)
}

// subscriptions copies all subscriptions of an account, even if they are more than the present limit.
func (c *transfer) subscriptions(ctx context.Context) error {
	return each(ctx, c, c.from.AllSubscriptions(ctx), &c.done.Subscriptions, func(ctx context.Context, s delivery.Subscription) error {
		return c.to.Webhooks().CreateSubscription(ctx, s, math.MaxInt)
	})
}

func (c *transfer) attempts(ctx context.Context) error {
	return each(ctx, c, c.from.AllAttempts(ctx), &c.done.Attempts, c.to.Webhooks().AddAttempt)
}

func (c *transfer) dropped(ctx context.Context) error {
	return each(ctx, c, c.from.AllDropped(ctx), &c.done.Dropped, c.to.Webhooks().AddDropped)
}
