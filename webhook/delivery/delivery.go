// Package delivery keeps subscriptions to events and delivers events to them as the signed requests
// of package [webhook]. It watches the endpoints with pings and security checks. It does not know
// what the events mean.
//
// [Service.Emit] joins the transaction of the change that the event reports:
//
//	hooks := delivery.New(store, tx, jobs, delivery.Options{EventTypes: []string{"process.completed"}})
//	err := hooks.EnsureKey(ctx) // before anything else
//	…
//	err = tx.InTx(ctx, func(ctx context.Context) error {
//		…
//		return hooks.Emit(ctx, account, "process.completed", time.Now(), result)
//	})
//	…
//	_, err = hooks.Sweep(ctx, time.Now().AddDate(0, 0, -30)) // every few minutes
//
// Requests are made by jobs. The caller's runner claims the jobs from [storage.Jobs] as
// [Service.Work] says; the example of [Service] has a small runner. A job is done at least once,
// and its requests have the same webhook-id each time. Attempts stay in the log until Sweep
// removes them.
package delivery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/innsigli/innsigli/storage"
)

var (
	// ErrNotFound: the account has no such subscription, or the subscription no such event.
	ErrNotFound = errors.New("webhook: not found")
	// ErrTooMany: the account has as many subscriptions as it may.
	ErrTooMany = errors.New("webhook: too many subscriptions")
	// ErrChanged: the subscription got another URL, or was switched off, while its activation ran.
	ErrChanged = errors.New("webhook: subscription was changed while its activation ran")
	// ErrActivate: only [Service.Activate] makes a subscription active.
	ErrActivate = errors.New("webhook: a change does not activate a subscription")
	// ErrTooManyCalls: the turn of an activation or a test did not come in time.
	ErrTooManyCalls = errors.New("webhook: too many activations and tests of the account are under way")
	// ErrInactive: the subscription is not active.
	ErrInactive = errors.New("webhook: subscription is not active")
)

// Options are a service's choices.
type Options struct {
	// EventTypes are what can be subscribed to.
	EventTypes []string
	// MaxSubscriptions is how many an account may have; 0: 100.
	MaxSubscriptions int
	// Endpoints says which endpoints there may be.
	Endpoints Endpoints
	// Alerts tells an account's admins of trouble. nil: there are no alerts, as in the sandbox.
	Alerts Alerts
	// Observed is called with each attempt when it was made, also with those that are not stored
	// because the process ends. It is to be quick. nil: attempts are not reported.
	Observed func(Attempt)
	// CheckAccount returns an error if an account takes no new subscriptions, which Create returns. It is called in the
	// transaction that stores a subscription. nil: all accounts take subscriptions.
	CheckAccount func(ctx context.Context, account string) error
	// Now tells the time; nil is the machine's clock. The timestamp of a request is the machine's all the same:
	// receivers compare it with their own.
	Now storage.Clock
}

// Service keeps subscriptions and sends events to them. It may be used by several goroutines and
// by several servers on one store.
type Service struct {
	store   Store
	tx      storage.Transactor
	jobs    storage.Jobs
	options Options
	sender  *sender
	post    func(context.Context, message) answer // the sender's
	calls   *calls
	keys    keyring
}

// New returns the service of a store. tx and jobs are of the same backend.
func New(store Store, tx storage.Transactor, jobs storage.Jobs, o Options) *Service {
	if o.MaxSubscriptions == 0 {
		o.MaxSubscriptions = 100
	}
	s := &Service{store: store, tx: tx, jobs: jobs, options: o, sender: newSender(o.Endpoints), calls: newCalls()}
	s.post = s.sender.post
	return s
}

func (s *Service) now(ctx context.Context) time.Time { return s.options.Now.Now(ctx) }

// Close ends the connections that the service keeps open. Nothing may be under way.
func (s *Service) Close() { s.sender.close() }

// fault puts an error of the store's into this package's words, unless it is in them already.
func fault(doing string, err error) error {
	if err == nil || strings.HasPrefix(err.Error(), "webhook: ") {
		return err
	}
	return fmt.Errorf("webhook: %s: %w", doing, err)
}
