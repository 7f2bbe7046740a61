package delivery

import (
	"context"
	"errors"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// Work is what is done with jobs of a kind, and how many of them at once.
type Work struct {
	Kind string
	// Do does a job. When it went well, then is called in the transaction in which the job is
	// finished, behind that; nil: nothing follows. After an error the job is to be done again.
	Do func(ctx context.Context, job storage.Job) (then func(ctx context.Context) error, err error)

	Concurrency int           // jobs in work at once on one server
	PerGroup    int           // of those of one group, over all servers
	Timeout     time.Duration // of one attempt
	MaxAttempts int           // how many may fail before the job is parked
}

// maxAttempts take about 33 hours with pauses of up to five minutes, as long as an event is tried to be delivered
// (spec 5.7). What endpoints answer is no failure of a job, so that the attempts of that schedule do not count:
// a job fails by a fault of this program, its configuration or its store.
const maxAttempts = 400

// The kinds of jobs. The group of the first and the last two is the account, of the others the
// subscription.
const (
	eventKind    = "webhook.event"    // an event becomes a delivery for each subscription
	deliveryKind = "webhook.delivery" // the first attempt
	retryKind    = "webhook.retry"    // the later ones
	pingKind     = "webhook.ping"
	checkKind    = "webhook.check"
	alertKind    = "webhook.alert"  // of versions before digests
	digestKind   = "webhook.digest" // admins are told of all failing subscriptions; one job for an account
)

// Work is what a runner has to do for the service.
//
// First attempts have room of their own, so that endpoints that are well do not wait behind the
// retries of those that are not. What an endpoint holds up at most is its PerGroup.
func (s *Service) Work() []Work {
	return []Work{
		{Kind: eventKind, Do: s.fanOut, Concurrency: 256, PerGroup: 256, Timeout: time.Minute, MaxAttempts: maxAttempts},
		{Kind: deliveryKind, Do: s.deliver, Concurrency: 1024, PerGroup: 8, Timeout: time.Minute, MaxAttempts: maxAttempts},
		{Kind: retryKind, Do: s.deliver, Concurrency: 1024, PerGroup: 16, Timeout: time.Minute, MaxAttempts: maxAttempts},
		{Kind: pingKind, Do: s.doPing, Concurrency: 256, PerGroup: 1, Timeout: time.Minute, MaxAttempts: maxAttempts},
		{Kind: checkKind, Do: s.doCheck, Concurrency: 256, PerGroup: 1, Timeout: time.Minute, MaxAttempts: maxAttempts},
		{Kind: alertKind, Do: s.alert, Concurrency: 8, PerGroup: 1, Timeout: 2 * time.Minute, MaxAttempts: maxAttempts},
		{Kind: digestKind, Do: s.digest, Concurrency: 8, PerGroup: 1, Timeout: 2 * time.Minute, MaxAttempts: maxAttempts},
	}
}

// drop removes what is queued for a subscription.
func (s *Service) drop(ctx context.Context, subscription string) error {
	var failed []error
	for _, kind := range []string{deliveryKind, retryKind, pingKind, checkKind} {
		failed = append(failed, s.jobs.Drop(ctx, kind, subscription))
	}
	return errors.Join(failed...)
}
