package delivery

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// ActivationCheck is one of the checks of an activation (spec 5.3).
type ActivationCheck string

const (
	SignedPing       ActivationCheck = "SignedPing"       // a correctly signed ping is answered with 2xx
	UnverifiablePing ActivationCheck = "UnverifiablePing" // one that cannot verify is answered with 401
	Unreachable      ActivationCheck = "Unreachable"      // the endpoint answers at all
)

// EndpointError reports that an endpoint did not answer as it must.
type EndpointError struct {
	Failed  ActivationCheck // the failed check; for a test, Unreachable or SignedPing
	Status  int             // of the answer, or 0 if there was none
	Failure Failure         // BadStatus, or why there was no answer
	Detail  string          // a sentence
}

func (e *EndpointError) Error() string { return "webhook: endpoint failed: " + e.Detail }

// Activate sends the endpoint two pings in random order, one correctly signed and one that cannot verify, and makes
// the subscription active if both are answered correctly. A subscription that is active already stays active when a
// check fails. Activate takes up to 30 seconds. Errors: [ErrNotFound], [*EndpointError], [ErrChanged],
// [ErrTooManyCalls].
func (s *Service) Activate(ctx context.Context, account, id string) (active Subscription, err error) {
	var begun Subscription
	err = s.withCallSlot(ctx, account, func(ctx context.Context) (err error) {
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
		return s.scheduleProbes(ctx, active, now)
	})
	return active, err
}

// checkEndpoint sends both pings. The error names the first check that failed in the order of the constants,
// whatever the order of the pings was.
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
			return endpointError(c, made) // another ping would fail, too
		}
		failed[c] = endpointError(c, made)
	}
	if failed[SignedPing] != nil {
		return failed[SignedPing]
	}
	return failed[UnverifiablePing]
}

// endpointError returns the error for the ping of a check, or nil if the answer was correct.
func endpointError(c ActivationCheck, made Attempt) error {
	if !made.failed() {
		return nil
	}
	if made.unanswered() {
		c = Unreachable
	}
	return &EndpointError{c, made.Status, made.Failure, made.Detail}
}

// Test sends one correctly signed ping, also to an inactive subscription. It takes up to 30 seconds. Errors:
// [ErrNotFound], [*EndpointError], [ErrTooManyCalls].
func (s *Service) Test(ctx context.Context, account, id string) error {
	return s.withCallSlot(ctx, account, func(ctx context.Context) error {
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

const (
	// maxCalls is how many activations and tests a server makes at once, and accountCalls how many of those one
	// account may have. Others wait. So an account with slow endpoints delays only its own activations.
	maxCalls, accountCalls = 256, 4
	// callTimeout is how long an activation or test may take, including its wait (spec 5.3).
	callTimeout = 30 * time.Second
)

// withCallSlot waits for a slot of the account, then calls do with the time that remains.
func (s *Service) withCallSlot(ctx context.Context, account string, do func(ctx context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	began := time.Now() // time: a duration
	end, err := s.calls.acquire(within, account)
	waited := time.Since(began) // time: a duration
	if err == nil {
		defer end()
		err = do(within)
	}
	switch {
	case !errors.Is(err, context.DeadlineExceeded) || within.Err() == nil || ctx.Err() != nil:
		return err
	case waited > time.Second:
		return ErrTooManyCalls
	}
	return &EndpointError{Unreachable, 0, TimedOut, fmt.Sprintf("The pings took longer than %d seconds.", callTimeout/time.Second)}
}

// callLimit limits the activations and tests in progress.
type callLimit struct {
	all chan struct{} // has an element for each call in progress

	mu       sync.Mutex
	accounts map[string]*accountSlots
}

// accountSlots are the slots of one account.
type accountSlots struct {
	slots chan struct{} // has an element for each call in progress
	users int           // calls in progress or waiting
}

func newCallLimit() *callLimit {
	return &callLimit{all: make(chan struct{}, maxCalls), accounts: make(map[string]*accountSlots)}
}

// acquire waits for a slot of the account. The caller must call end.
func (c *callLimit) acquire(ctx context.Context, account string) (end func(), err error) {
	of := c.addUser(account)
	if err := acquireSlot(ctx, of.slots); err != nil {
		c.removeUser(account)
		return nil, err
	}
	if err := acquireSlot(ctx, c.all); err != nil {
		<-of.slots
		c.removeUser(account)
		return nil, err
	}
	return func() {
		<-c.all
		<-of.slots
		c.removeUser(account)
	}, nil
}

func (c *callLimit) addUser(account string) *accountSlots {
	c.mu.Lock()
	defer c.mu.Unlock()
	of, ok := c.accounts[account]
	if !ok {
		of = &accountSlots{slots: make(chan struct{}, accountCalls)}
		c.accounts[account] = of
	}
	of.users++
	return of
}

// removeUser deletes the slots of an account that no call uses.
func (c *callLimit) removeUser(account string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.accounts[account].users--; c.accounts[account].users == 0 {
		delete(c.accounts, account)
	}
}

func acquireSlot(ctx context.Context, room chan struct{}) error {
	select {
	case room <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("webhook: waiting for other activations and tests: %w", context.Cause(ctx))
	}
}
