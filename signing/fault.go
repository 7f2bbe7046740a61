package signing

import (
	"context"
	"errors"

	"github.com/innsigli/innsigli/idp"
)

// faultError is a fault of the provider, or of the way to it.
type faultError struct{ error }

func (e faultError) Unwrap() error { return e.error }

// fault stores the state that a provider returned with an error (idp.Provider), and how long
// there is no use in trying again. The error is a faultError once it is stored.
func (t *turn) fault(ctx context.Context, state idp.State, err error) error {
	t.faulty = true
	wait := new(idp.FaultError)
	errors.As(err, &wait)
	if state.Provider == "" && wait.RetryAfter == 0 {
		return faultError{err}
	}
	stored := t.insist(ctx, func(_ context.Context, r *Request) error {
		if state.Provider != "" {
			r.hear(state)
		}
		t.pause(r, wait.RetryAfter)
		return nil
	})
	if stored != nil {
		return stored
	}
	return faultError{err}
}

// errGivenAway: the provider has given its answer, probably to the process that had the lease
// before, which insists on storing it.
var errGivenAway = &idp.FaultError{RetryAfter: insistFor, Err: errors.New("signing: the identity provider gave its answer to another process")}
