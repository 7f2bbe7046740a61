package delivery

import (
	"context"
	"math/rand/v2"
)

// ActivationCheck is one of the checks of an activation (spec 5.3).
type ActivationCheck string

const (
	SignedPing       ActivationCheck = "SignedPing"       // a correctly signed ping is answered with 2xx
	UnverifiablePing ActivationCheck = "UnverifiablePing" // one that cannot verify is answered with 401
	Unreachable      ActivationCheck = "Unreachable"      // the endpoint answers at all
)

// EndpointError: the endpoint did not do what it should.
type EndpointError struct {
	Failed  ActivationCheck // of an activation; Unreachable or SignedPing of a test
	Status  int             // of the answer; 0: there was none
	Failure Failure         // why there was none; BadStatus
	Detail  string          // a sentence for people
}

func (e *EndpointError) Error() string { return "webhook: endpoint failed: " + e.Detail }

// Activate sends the endpoint two pings, one correctly signed and one that cannot verify, in random
// order, and makes the subscription active when it answers as it should. One that was active before
// stays so when a check fails. It takes up to 30 seconds. [ErrNotFound], [*EndpointError],
// [ErrChanged], [ErrTooManyCalls].
func (s *Service) Activate(ctx context.Context, account, id string) (active Subscription, err error) {
	var begun Subscription
	err = s.inTurn(ctx, account, func(ctx context.Context) (err error) {
		if begun, err = s.Subscription(ctx, account, id); err != nil {
			return err
		}
		return s.checkEndpoint(ctx, begun)
	})
	if err != nil {
		return Subscription{}, err
	}
	now := s.now(ctx)
	err = s.change(ctx, account, id, func(ctx context.Context, was Subscription) error {
		if was.Generation != begun.Generation {
			return ErrChanged
		}
		if active = was.activated(now); was.Active {
			return nil
		}
		if err := s.save(ctx, was, active); err != nil {
			return err
		}
		return s.watch(ctx, active, now)
	})
	return active, err
}

// checkEndpoint sends both pings. The error names the first check of the two that failed, whatever
// their order was.
func (s *Service) checkEndpoint(ctx context.Context, to Subscription) error {
	checks := []ActivationCheck{SignedPing, UnverifiablePing}
	rand.Shuffle(len(checks), func(i, j int) { checks[i], checks[j] = checks[j], checks[i] })
	failed := make(map[ActivationCheck]error)
	for _, c := range checks {
		made, err := s.ping(ctx, to, ForActivation, c == SignedPing)
		if err != nil {
			return err
		}
		if made.unanswered() {
			return endpointError(c, made) // and there is no use in asking further
		}
		failed[c] = endpointError(c, made)
	}
	if failed[SignedPing] != nil {
		return failed[SignedPing]
	}
	return failed[UnverifiablePing]
}

// endpointError is what went wrong with the ping of a check; nil when nothing did.
func endpointError(c ActivationCheck, made Attempt) error {
	if made.Failure == "" {
		return nil
	}
	if made.unanswered() {
		c = Unreachable
	}
	return &EndpointError{c, made.Status, made.Failure, made.Detail}
}

// Test sends one correctly signed ping, also to a subscription that is inactive. It takes up to 30
// seconds. [ErrNotFound], [*EndpointError], [ErrTooManyCalls].
func (s *Service) Test(ctx context.Context, account, id string) error {
	return s.inTurn(ctx, account, func(ctx context.Context) error {
		to, err := s.Subscription(ctx, account, id)
		if err != nil {
			return err
		}
		made, err := s.ping(ctx, to, ForTest, true)
		if err != nil {
			return err
		}
		return endpointError(SignedPing, made)
	})
}
