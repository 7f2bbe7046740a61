package delivery

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// maxCalls is how many activations and tests a server makes at once, and accountCalls how
	// many of those are one account's. Others wait, so that an account whose endpoints are slow
	// keeps none from being activated but its own.
	maxCalls, accountCalls = 256, 4
	// callTime is what one of them may take, its wait included (spec 5.3).
	callTime = 30 * time.Second
)

// inTurn calls do when it is the account's turn, and leaves it what the wait has left of the time.
func (s *Service) inTurn(ctx context.Context, account string, do func(ctx context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	began := time.Now() // time: a duration
	end, err := s.calls.begin(within, account)
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
	return &EndpointError{Unreachable, 0, TimedOut, fmt.Sprintf("The pings took longer than the %d seconds that there are for them.", callTime/time.Second)}
}

// calls are the activations and tests under way.
type calls struct {
	all chan struct{} // has a value for each

	mu       sync.Mutex
	accounts map[string]*share
}

// share is what an account has of them.
type share struct {
	room  chan struct{} // has a value for each
	users int           // those that wait included
}

func newCalls() *calls {
	return &calls{all: make(chan struct{}, maxCalls), accounts: make(map[string]*share)}
}

// begin waits for a turn of the account, which lasts until end is called.
func (c *calls) begin(ctx context.Context, account string) (end func(), err error) {
	of := c.join(account)
	if err := enter(ctx, of.room); err != nil {
		c.leave(account)
		return nil, err
	}
	if err := enter(ctx, c.all); err != nil {
		<-of.room
		c.leave(account)
		return nil, err
	}
	return func() {
		<-c.all
		<-of.room
		c.leave(account)
	}, nil
}

func (c *calls) join(account string) *share {
	c.mu.Lock()
	defer c.mu.Unlock()
	of, ok := c.accounts[account]
	if !ok {
		of = &share{room: make(chan struct{}, accountCalls)}
		c.accounts[account] = of
	}
	of.users++
	return of
}

// leave forgets accounts that have no call any more.
func (c *calls) leave(account string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.accounts[account].users--; c.accounts[account].users == 0 {
		delete(c.accounts, account)
	}
}

func enter(ctx context.Context, room chan struct{}) error {
	select {
	case room <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("webhook: waiting for a turn: %w", context.Cause(ctx))
	}
}
