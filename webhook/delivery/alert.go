package delivery

import (
	"context"
	"slices"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// alertInterval is the shortest time between two alerts to the admins of an account (spec 5.6).
const alertInterval = 24 * time.Hour

// Alerts informs the admins of an account about failing endpoints.
type Alerts interface {
	// Alert is called at most once in 24 hours for each account. It joins the transaction of its context: what it
	// stores, such as jobs that send mail, is stored once, also when the call is repeated after an error. The
	// implementation must handle a permanent error itself and return nil.
	Alert(ctx context.Context, d Digest) error
}

// Digest is an alert to the admins of an account.
type Digest struct {
	ID       string // a UUID; the same when the call is repeated
	Account  string
	Troubles []Trouble // at least one, of one subscription each
}

// Trouble is a subscription whose endpoint fails, or that was switched off for that since the digest before.
type Trouble struct {
	Subscription string
	URL          string
	// Purpose tells what fails. ForPing: pings are not answered correctly. ForCheck: security checks are not
	// answered with 401.
	Purpose Purpose
	// Reason is why the subscription was switched off, PingsFailed or SecurityCheckFailed, or empty if it was not.
	// It is switched off after three days of failing pings, and when it accepts a security check, but not by other
	// failures of checks (spec 5.6).
	Reason Reason
	// Since is when the pings began to fail, or when the last failed security check was sent. With
	// SecurityCheckFailed, it is when the check was sent that the endpoint accepted.
	Since time.Time
}

// scheduleAlert makes sure that a digest reports an endpoint that fails since the given time; the zero time means
// that it does not fail. It returns the updated subscription. The job of the account's digest keeps digests a day
// apart: scheduleAlert enqueues it if there is none, and each digest that was sent enqueues the next one, which is
// due a day later.
func (s *Service) scheduleAlert(ctx context.Context, about Subscription, since, now time.Time) (Subscription, error) {
	if s.options.Alerts == nil || since.IsZero() {
		return about, nil
	}
	if about.Active && now.Sub(about.AlertedAt).Abs() >= alertInterval {
		about.AlertedAt = now
	}
	return about, s.enqueueDigest(ctx, about.Account, now, payload{At: now})
}

func (s *Service) enqueueDigest(ctx context.Context, account string, due time.Time, p payload) error {
	job, err := withPayload(storage.Job{Kind: digestKind, Group: account, Unique: account, Due: due}, p)
	if err != nil {
		return err
	}
	return s.enqueue(ctx, job)
}

// digest alerts the admins of an account about the subscriptions that fail now, and those that were switched off
// since the digest before. In the payload, At is when that digest was sent, or when the failure began, and To are
// the switched-off subscriptions that it reported. All of it happens in the transaction that finishes the job. If
// another transaction switches off a subscription at the same time, either the digest reports it, or that
// transaction enqueues the next digest.
func (s *Service) digest(_ context.Context, job storage.Job) (func(context.Context) error, error) {
	p, err := payloadOf(job)
	if err != nil || s.options.Alerts == nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		now := s.now(ctx)
		all, err := s.store.Subscriptions(ctx, job.Group)
		if err != nil {
			return fault("listing the subscriptions", err)
		}
		d := Digest{ID: job.ID, Account: job.Group}
		next := payload{At: now}
		for _, one := range all {
			if one.endedBefore(now) {
				next.To = append(next.To, target{one.ID, one.Generation})
			}
			trouble, ok, err := s.trouble(ctx, one, p, now)
			if err != nil {
				return err
			}
			if ok {
				d.Troubles = append(d.Troubles, trouble)
			}
		}
		if len(d.Troubles) == 0 {
			return nil
		}
		if err := s.options.Alerts.Alert(ctx, d); err != nil {
			return fault("telling the admins", err)
		}
		return s.enqueueDigest(ctx, job.Group, now.Add(alertInterval), next)
	}, nil
}

// commitDelay is more than the time between an attempt and the commit of its result on a server whose clock differs.
const commitDelay = time.Hour

// endedBefore reports whether the subscription was switched off because of its endpoint after the digest at the
// given time, or shortly before it.
func (s Subscription) endedBefore(digest time.Time) bool {
	return !s.Active && (s.Reason == PingsFailed || s.Reason == SecurityCheckFailed) && !s.UpdatedAt.Before(digest.Add(-commitDelay))
}

// trouble returns what a digest reports about a subscription. ok is false if it does not report it.
func (s *Service) trouble(ctx context.Context, of Subscription, since payload, now time.Time) (t Trouble, ok bool, err error) {
	t = Trouble{Subscription: of.ID, URL: of.URL, Purpose: ForPing, Reason: of.Reason, Since: of.FailingSince}
	switch {
	case of.Active && !of.FailingSince.IsZero():
		return t, true, nil
	case of.Active && now.Sub(of.AlertedAt) < alertInterval+maxCheckInterval: // else nothing has failed for a day
		t.Purpose = ForCheck
		t.Since, err = s.failedCheck(ctx, of.ID, now)
		return t, !t.Since.IsZero(), err
	case of.endedBefore(since.At) && !slices.Contains(since.To, target{of.ID, of.Generation}):
		if of.Reason == SecurityCheckFailed {
			t.Purpose, t.Since = ForCheck, of.UpdatedAt
		}
		return t, true, nil
	}
	return Trouble{}, false, nil
}

// failedCheck returns when the last security check of a subscription was sent, if it failed and will be repeated,
// and else the zero time. A failed check is repeated soon, so that it reads only the recent part of the log.
func (s *Service) failedCheck(ctx context.Context, subscription string, now time.Time) (time.Time, error) {
	for a, err := range s.store.Attempts(ctx, subscription) {
		switch {
		case err != nil:
			return time.Time{}, fault("reading the attempts", err)
		case a.At.Before(now.Add(-2 * retryInterval)):
			return time.Time{}, nil
		case a.Purpose == ForCheck && a.failed():
			return a.At, nil
		case a.Purpose == ForCheck:
			return time.Time{}, nil
		}
	}
	return time.Time{}, nil
}

// queuedAlert is a failure of one subscription in jobs of versions before digests, which sent one mail for each.
type queuedAlert struct {
	ID           string
	Account      string
	Subscription string
	URL          string
	Purpose      Purpose
	Reason       Reason
	Since        time.Time
}

// alert sends an alert that a version before digests enqueued.
func (s *Service) alert(_ context.Context, job storage.Job) (func(context.Context) error, error) {
	p, err := payloadOf(job)
	if err != nil || s.options.Alerts == nil {
		return nil, err
	}
	a := p.Alert
	if a.Purpose == "" { // as still older versions queued them
		a.Purpose = ForPing
	}
	d := Digest{ID: a.ID, Account: a.Account, Troubles: []Trouble{{a.Subscription, a.URL, a.Purpose, a.Reason, a.Since}}}
	return func(ctx context.Context) error { return fault("telling the admins", s.options.Alerts.Alert(ctx, d)) }, nil
}
