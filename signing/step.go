package signing

import (
	"context"

	"github.com/innsigli/innsigli/idp"
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

type stepsKey struct{}

// inTx is a transaction after which its steps are told.
func (s *Service) inTx(ctx context.Context, fn func(ctx context.Context) error) error {
	var steps []Step
	err := s.tx.InTx(ctx, func(ctx context.Context) error {
		steps = nil
		return fn(context.WithValue(ctx, stepsKey{}, &steps))
	})
	if err == nil {
		for _, step := range steps {
			s.report(ctx, step)
		}
	}
	return err
}

// noteStep adds a step to those of the transaction.
func noteStep(ctx context.Context, step Step) {
	if steps, ok := ctx.Value(stepsKey{}).(*[]Step); ok {
		*steps = append(*steps, step)
	}
}
