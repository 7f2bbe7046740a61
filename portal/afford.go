package portal

import (
	"context"
	"fmt"
	"time"
)

// afford takes the room for a document that so many people are to sign, from an account that may have
// it done. [ErrPayment], [ErrQuota].
func (s *Service) afford(ctx context.Context, account string, signers int, size int64, now time.Time) error {
	terms, err := s.accounts.Terms(ctx, account)
	if err != nil {
		return fmt.Errorf("portal: reading the terms of the account: %w", err)
	}
	if !terms.PaymentMethod {
		if err := s.cover(ctx, account, terms.Free, signers, now); err != nil {
			return err
		}
	}
	if size > terms.Quota {
		return ErrQuota
	}
	return s.stored(ctx, account, size)
}

// cover says whether the free signatures of an account are enough for so many more signers. Those who
// have not signed in processes that wait have theirs already (spec 4.7).
func (s *Service) cover(ctx context.Context, account string, free, signers int, now time.Time) error {
	if free < signers {
		return ErrPayment
	}
	// A process waits up to and with its last moment, and for one signer at least.
	waiting, err := s.store.Waiting(ctx, account, now.Add(-time.Microsecond), free)
	if err != nil {
		return fmt.Errorf("portal: reading the processes of the account: %w", err)
	}
	for _, p := range waiting {
		free -= p.Unsigned()
	}
	if free < signers {
		return ErrPayment
	}
	return nil
}

// stored notes how the documents of an account have grown.
func (s records) stored(ctx context.Context, account string, bytes int64) error {
	if err := s.accounts.Stored(ctx, account, bytes); err != nil {
		return fmt.Errorf("portal: counting stored bytes: %w", err)
	}
	return nil
}

// size is the length of a document in bytes.
func (s records) size(ctx context.Context, document string) (int64, error) {
	blob, err := s.documents.Open(ctx, document)
	if err != nil {
		return 0, fmt.Errorf("portal: opening the document: %w", err)
	}
	defer blob.Close()
	return blob.Size(), nil
}
