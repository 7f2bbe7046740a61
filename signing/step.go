package signing

import (
	"context"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/storage"
)

// Step is something that became of a request, for a log by which it can be found. It tells
// nothing of persons and documents, and no secret.
type Step struct {
	Request string // ID
	// Name is the kind of the entry in the evidence log (facts.go); or "provider.asked",
	// "provider.failed" or "signature.postponed".
	Name string
	Code idp.ErrorCode // with signature.failed
	// Level is that of the signature, such as "LT", with signature.completed.
	Level string
	Note  string // with provider.asked: the call, and what it came to
	Err   error  // with provider.failed and signature.postponed
}

func (s *Service) report(ctx context.Context, step Step) {
	if s.options.Told != nil {
		s.options.Told(ctx, step)
	}
}

// inTx runs fn in a transaction. Its steps are reported when the outermost transaction is committed.
func (s *Service) inTx(ctx context.Context, fn func(ctx context.Context) error) error {
	return storage.InTx(ctx, s.tx, fn)
}

// reportLater reports a step when the transaction of ctx is committed.
func (s *Service) reportLater(ctx context.Context, step Step) {
	storage.AfterCommit(ctx, func(ctx context.Context) { s.report(ctx, step) })
}
