package delivery

import (
	"context"
	"slices"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// alertEvery is how often the admins of an account are told of its failing subscriptions at most (spec 5.6).
const alertEvery = 24 * time.Hour

// Alerts tells the admins of an account of trouble with its endpoints.
type Alerts interface {
	// Alert is called at most once in 24 hours for each account. It joins the transaction of its context: what it
	// stores, such as jobs that send mail, is stored once, also when the call is repeated after an error. An error that
	// cannot pass is to be dealt with by the implementation, which then answers nil.
	Alert(ctx context.Context, d Digest) error
}

// Digest is what the admins of an account are told of.
type Digest struct {
	ID       string // a UUID; the same when the call is repeated
	Account  string
	Troubles []Trouble // at least one, of one subscription each
}

// Trouble is a subscription whose endpoint fails, or that was switched off because of that since the digest before.
type Trouble struct {
	Subscription string
	URL          string
	// Purpose is what does not go well: ForPing, pings are not answered as they should be, or not
	// at all; ForCheck, security checks are not answered with 401.
	Purpose Purpose
	// Reason is why the subscription was switched off, PingsFailed or SecurityCheckFailed; empty:
	// it was not. After three days of pings that fail it is; checks that fail without being accepted
	// never lead to that (spec 5.6).
	Reason Reason
	// Since is when the pings began to fail, when the last security check was sent that failed, or, with
	// SecurityCheckFailed, when the one was that the endpoint accepted.
	Since time.Time
}

// tell has admins told of trouble with an endpoint since the time given; zero: there is none. It returns the
// subscription as it is then.
//
// The job of the account's digest is what keeps digests a day apart: it is enqueued at once when there is none, and each
// digest that was sent leaves one that is due a day later.
func (s *Service) tell(ctx context.Context, about Subscription, since, now time.Time) (Subscription, error) {
	if s.options.Alerts == nil || since.IsZero() {
		return about, nil
	}
	if about.Active && now.Sub(about.AlertedAt).Abs() >= alertEvery {
		about.AlertedAt = now
	}
	return about, s.enqueueDigest(ctx, about.Account, now, payload{At: now})
}

func (s *Service) enqueueDigest(ctx context.Context, account string, due time.Time, p payload) error {
	job, err := carry(storage.Job{Kind: digestKind, Group: account, Unique: account, Due: due}, p)
	if err != nil {
		return err
	}
	return s.enqueue(ctx, job)
}

// digest tells the admins of an account of the subscriptions that fail now, and of those that were switched off
// since the digest before. Of the payload, At is when that one was sent, or when the trouble began, and To are the
// subscriptions of which it told that they were switched off.
//
// All of it is done in the transaction that finishes the job. A subscription that another transaction switches off at
// the same time is either seen here, or that transaction enqueues the next digest.
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
		return s.enqueueDigest(ctx, job.Group, now.Add(alertEvery), next)
	}, nil
}

// lateCommit is more than the time between an attempt and the commit of what it came to, on a server whose clock differs.
const lateCommit = time.Hour

// endedBefore reports whether the subscription was switched off because of its endpoint, not long before a digest at the
// time given or after it.
func (s Subscription) endedBefore(digest time.Time) bool {
	return !s.Active && (s.Reason == PingsFailed || s.Reason == SecurityCheckFailed) && !s.UpdatedAt.Before(digest.Add(-lateCommit))
}

// trouble returns what a digest tells of a subscription. ok is false if that is nothing.
func (s *Service) trouble(ctx context.Context, of Subscription, since payload, now time.Time) (t Trouble, ok bool, err error) {
	t = Trouble{Subscription: of.ID, URL: of.URL, Purpose: ForPing, Reason: of.Reason, Since: of.FailingSince}
	switch {
	case of.Active && !of.FailingSince.IsZero():
		return t, true, nil
	case of.Active && now.Sub(of.AlertedAt) < alertEvery+checkBefore: // else nothing has failed for a day
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

// failedCheck returns when the last security check was sent to a subscription, if it failed and is to be sent again; else
// zero. A check that failed is sent again soon, so that no long part of the log is read.
func (s *Service) failedCheck(ctx context.Context, subscription string, now time.Time) (time.Time, error) {
	for a, err := range s.store.Attempts(ctx, subscription) {
		switch {
		case err != nil:
			return time.Time{}, fault("reading the attempts", err)
		case a.At.Before(now.Add(-2 * askAgain)):
			return time.Time{}, nil
		case a.Purpose == ForCheck && a.Failure != "":
			return a.At, nil
		case a.Purpose == ForCheck:
			return time.Time{}, nil
		}
	}
	return time.Time{}, nil
}

// queuedAlert is trouble with one subscription, as versions before digests queued it: admins got a mail for each.
type queuedAlert struct {
	ID           string
	Account      string
	Subscription string
	URL          string
	Purpose      Purpose
	Reason       Reason
	Since        time.Time
}

// alert tells admins what a version before digests queued.
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
