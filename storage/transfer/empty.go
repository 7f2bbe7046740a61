package transfer

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/innsigli/innsigli/storage"
)

// empty says whether there is nothing in a store.
func empty(ctx context.Context, s Target) error {
	for _, one := range []struct {
		what  string
		there func(context.Context) (bool, error)
	}{
		{"accounts", func(ctx context.Context) (bool, error) {
			list, err := s.Accounts().Accounts(ctx)
			return len(list) > 0, err
		}},
		{"an authority", func(ctx context.Context) (bool, error) {
			_, err := s.Sandbox().Authority(ctx)
			if errors.Is(err, storage.ErrNotFound) {
				return false, nil
			}
			return true, err
		}},
		{"busy signals", anyOf(s.AllSignals)},
		{"requests", anyOf(s.AllRequests)},
		{"kept certificates", anyOf(s.AllCertificates)},
		{"jobs", anyOf(s.AllJobs)},
		{"tokens", anyOf(s.AllTokens)},
		{"an evidence log", func(ctx context.Context) (bool, error) {
			list, err := s.EvidenceLog().EntriesAfter(ctx, 0, 1)
			return len(list) > 0, err
		}},
		{"webhook keys", func(ctx context.Context) (bool, error) {
			list, err := s.Webhooks().Keys(ctx)
			return len(list) > 0, err
		}},
		{"webhook subscriptions", anyOf(s.AllSubscriptions)},
		{"attempts at webhooks", anyOf(s.AllAttempts)},
		{"dropped webhook events", anyOf(s.AllDropped)},
		{"processes", anyOf(s.AllProcesses)},
		{"idempotency keys of processes", anyOf(s.AllKeys)},
		{"a ledger", anyOf(s.AllLines)},
	} {
		there, err := one.there(ctx)
		if err != nil {
			return fmt.Errorf("transfer: looking for %s in the target: %w", one.what, err)
		}
		if there {
			return fmt.Errorf("%w: it has %s", ErrNotEmpty, one.what)
		}
	}
	return nil
}

// anyOf says whether a list has anything in it.
func anyOf[T any](list func(context.Context) iter.Seq2[T, error]) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		for _, err := range list(ctx) {
			return err == nil, err
		}
		return false, nil
	}
}
