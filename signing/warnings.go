package signing

import (
	"context"
	"fmt"

	"github.com/innsigli/innsigli/pades/inspect"
	"github.com/innsigli/innsigli/storage"
)

// Warnings returns the warnings about a PDF that [Service.Upload] stored (spec 3.12). A document without them has none. It
// returns stamp.ErrNotReady if too many documents are read at once.
func (s *Service) Warnings(ctx context.Context, account, document string) ([]inspect.Warning, error) {
	blob, err := s.documents.Open(ctx, document)
	if err != nil {
		return nil, fmt.Errorf("signing: opening the document: %w", err)
	}
	defer blob.Close()
	return s.inspect(ctx, account, blob)
}

func (s *Service) inspect(ctx context.Context, account string, blob storage.Blob) ([]inspect.Warning, error) {
	done, err := s.planning.startReading(ctx, account)
	if err != nil {
		return nil, fmt.Errorf("signing: inspecting the document: %w", err)
	}
	defer done()
	warnings, err := inspect.PDF(ctx, blob, blob.Size())
	if err != nil {
		return nil, fmt.Errorf("signing: inspecting the document: %w", err)
	}
	return warnings, nil
}

// checkPolicy returns an [*inspect.RefusedError] if the account refuses a document with these warnings. It joins the
// transaction.
func (s *Service) checkPolicy(ctx context.Context, account string, warnings []inspect.Warning) error {
	if len(warnings) == 0 {
		return nil
	}
	policy, err := s.options.DocumentPolicy(ctx, account)
	if err != nil {
		return fmt.Errorf("signing: reading the account's policy on documents: %w", err)
	}
	if refused := policy.Refused(warnings); len(refused) > 0 {
		return &inspect.RefusedError{Codes: refused}
	}
	return nil
}
