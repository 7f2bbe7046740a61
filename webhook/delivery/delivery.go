// Package delivery manages subscriptions to events, and delivers events to their endpoints in signed requests of package
// [webhook]. It monitors the endpoints with pings and security checks. It does not depend on the meaning of events.
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
// Jobs make the requests. The caller's runner claims the jobs from [storage.Jobs] as [Service.Work] describes; the
// example of [Service] has a small runner. A job is done at least once, and its requests have the same webhook-id each
// time. The log has the attempts until Sweep deletes them.
package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/innsigli/innsigli/storage"
)

var (
	// ErrNotFound: the account has no such subscription, or the subscription has no such event.
	ErrNotFound = errors.New("webhook: not found")
	// ErrTooMany: the account has the largest permitted number of subscriptions.
	ErrTooMany = errors.New("webhook: too many subscriptions")
	// ErrChanged: the subscription got another URL, or was switched off, while its activation ran.
	ErrChanged = errors.New("webhook: subscription was changed while its activation ran")
	// ErrActivate: only [Service.Activate] makes a subscription active.
	ErrActivate = errors.New("webhook: a change does not activate a subscription")
	// ErrTooManyCalls: an activation or a test found no slot in time.
	ErrTooManyCalls = errors.New("webhook: too many activations and tests of the account are under way")
	// ErrInactive: the subscription is not active.
	ErrInactive = errors.New("webhook: subscription is not active")
)

// Options configure a Service.
type Options struct {
	// EventTypes are the types that can be subscribed to.
	EventTypes []string
	// MaxSubscriptions is the largest number of subscriptions of an account. 0 is 100.
	MaxSubscriptions int
	// Endpoints are the endpoints that are permitted.
	Endpoints Endpoints
	// Alerts informs the admins of accounts about failing endpoints. If nil, there are no alerts, as in the sandbox.
	Alerts Alerts
	// Observed, unless nil, is called after each attempt, also if the process ends before it is stored. It must
	// return quickly.
	Observed func(Attempt)
	// CheckAccount, unless nil, returns an error if an account takes no new subscriptions, which Create returns. It is
	// called in the transaction that stores a subscription.
	CheckAccount func(ctx context.Context, account string) error
	// Now is the clock. If nil, it is the machine's clock. The timestamp of a request is always the machine's,
	// because receivers compare it with their own.
	Now storage.Clock
}

// Service manages subscriptions and delivers events to them. Several goroutines may use it, and several servers on
// one store.
type Service struct {
	store   Store
	tx      storage.Transactor
	jobs    storage.Jobs
	options Options
	sender  *sender
	post    func(context.Context, signedMessage) answer // sender.post, except in tests
	calls   *callLimit
	keys    keyring
}

// New returns a service. store, tx and jobs must belong to one backend.
func New(store Store, tx storage.Transactor, jobs storage.Jobs, o Options) *Service {
	if o.MaxSubscriptions == 0 {
		o.MaxSubscriptions = 100
	}
	s := &Service{store: store, tx: tx, jobs: jobs, options: o, sender: newSender(o.Endpoints), calls: newCallLimit()}
	s.post = s.sender.post
	return s
}

func (s *Service) now(ctx context.Context) time.Time { return s.options.Now.Now(ctx) }

// Close closes idle connections. No request may be in progress.
func (s *Service) Close() { s.sender.close() }

// fault adds the prefix "webhook: ", with which the errors of this package begin, to an error of the store, unless it has it
// already.
func fault(doing string, err error) error {
	if err == nil || strings.HasPrefix(err.Error(), "webhook: ") {
		return err
	}
	return fmt.Errorf("webhook: %s: %w", doing, err)
}

// Work describes how a runner does the jobs of a kind.
type Work struct {
	Kind string
	// Do does a job. If it succeeds, the runner calls then, unless nil, after the job was finished, in the same
	// transaction. If it fails, the runner repeats the job.
	Do func(ctx context.Context, job storage.Job) (then func(ctx context.Context) error, err error)

	Concurrency int           // on one server
	PerGroup    int           // of one group, on all servers
	Timeout     time.Duration // of one attempt
	MaxAttempts int           // after which the job is parked
}

// maxAttempts take about 33 hours with pauses of up to five minutes, which is as long as the attempts to deliver an
// event take (spec 5.7). An answer of an endpoint is not a failure of the job: a job fails because of the program,
// its configuration or its store.
const maxAttempts = 400

// The kinds of jobs. The group of event, alert and digest jobs is the account, and that of the others is the
// subscription.
const (
	eventKind    = "webhook.event"    // enqueues a delivery for each subscription
	deliveryKind = "webhook.delivery" // the first attempt
	retryKind    = "webhook.retry"    // later attempts
	pingKind     = "webhook.ping"
	checkKind    = "webhook.check"
	alertKind    = "webhook.alert"  // of versions before digests
	digestKind   = "webhook.digest" // alerts admins about all failing subscriptions; one job per account
)

// Work returns what a runner has to do for the service. First attempts and retries have separate limits, so that
// failing endpoints do not delay the others. PerGroup limits what one endpoint can delay.
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

// dropJobs removes the queued jobs of a subscription.
func (s *Service) dropJobs(ctx context.Context, subscription string) error {
	var failed []error
	for _, kind := range []string{deliveryKind, retryKind, pingKind, checkKind} {
		failed = append(failed, s.jobs.Drop(ctx, kind, subscription))
	}
	return errors.Join(failed...)
}

// payload is the payload of the jobs of this package. Each kind uses some of the members.
type payload struct {
	Version    int         `json:"version"`
	Event      string      `json:"event,omitempty"`      // of an event or delivery: the webhook-id
	Type       string      `json:"type,omitempty"`       // of the event
	Body       string      `json:"body,omitempty"`       // of its requests, in UTF-8
	To         []target    `json:"to,omitempty"`         // the receivers of an event, or the switched-off subscriptions in a digest
	At         time.Time   `json:"at,omitzero"`          // when an outage began, or the digest before was sent
	Attempt    int         `json:"attempt,omitempty"`    // of a delivery, from 1
	Generation int         `json:"generation,omitempty"` // of the subscription when a delivery, ping or check was enqueued
	Alert      queuedAlert `json:"alert,omitzero"`       // of an alert job, encoded with the names of its fields
}

const payloadVersion = 1

// target is a subscription at the time of an event.
type target struct {
	Subscription string `json:"subscription"`
	Generation   int    `json:"generation"`
}

// payloadOf decodes the payload of a job.
func payloadOf(job storage.Job) (p payload, err error) {
	err = json.Unmarshal(job.Payload, &p)
	if err == nil && p.Version != payloadVersion {
		err = fmt.Errorf("version %d is not known", p.Version)
	}
	if err != nil {
		return payload{}, fmt.Errorf("webhook: payload of job %s: %w", job.ID, err)
	}
	return p, nil
}

// withPayload returns the job with a payload.
func withPayload(job storage.Job, p payload) (storage.Job, error) {
	p.Version = payloadVersion
	encoded, err := marshalPlain(p)
	if err != nil {
		return storage.Job{}, fmt.Errorf("webhook: encoding a job: %w", err)
	}
	job.Payload = encoded
	return job, nil
}

// enqueue enqueues jobs in the transaction of its context.
func (s *Service) enqueue(ctx context.Context, jobs ...storage.Job) error {
	return fault("enqueueing", s.jobs.Enqueue(ctx, jobs...))
}
