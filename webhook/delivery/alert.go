package delivery

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/storage"
)

// alertEvery is how often admins hear of trouble with a subscription at most (spec 5.6).
const alertEvery = 24 * time.Hour

// Alerts tells the admins of an account of trouble with an endpoint.
type Alerts interface {
	// Alert is called at least once for each alert, until it answers nil. An error that cannot
	// pass is to be dealt with by the implementation, which then answers nil.
	Alert(ctx context.Context, a Alert) error
}

// Alert is what admins are told of.
type Alert struct {
	ID           string // a UUID; the same when it is told again
	Account      string
	Subscription string
	URL          string
	// Purpose is what does not go well: ForPing, pings are not answered as they should be, or not
	// at all; ForCheck, security checks are not answered with 401.
	Purpose Purpose
	// Reason is why the subscription was switched off, PingsFailed or SecurityCheckFailed; empty:
	// it was not. After three days of pings that fail it is; checks that fail without being accepted
	// never lead to that (spec 5.6).
	Reason Reason
	Since  time.Time // when the trouble began
}

// tell has admins told of trouble with an endpoint since the time given; zero: there is none. That
// a subscription was switched off they hear each time, of what does not go well once a day. It
// returns the subscription as it is then.
func (s *Service) tell(ctx context.Context, about Subscription, purpose Purpose, since, now time.Time) (Subscription, error) {
	if s.options.Alerts == nil || since.IsZero() || about.Active && now.Sub(about.AlertedAt).Abs() < alertEvery {
		return about, nil
	}
	if about.Active {
		about.AlertedAt = now
	}
	return about, s.enqueueAlert(ctx, Alert{
		ID: uuid.NewString(), Account: about.Account, Subscription: about.ID, URL: about.URL,
		Purpose: purpose, Reason: about.Reason, Since: since,
	})
}

func (s *Service) enqueueAlert(ctx context.Context, a Alert) error {
	job, err := carry(storage.Job{Kind: alertKind, Group: a.Account, Due: s.now(ctx)}, payload{Alert: a})
	if err != nil {
		return err
	}
	return s.enqueue(ctx, job)
}

// alert tells admins.
func (s *Service) alert(ctx context.Context, job storage.Job) (func(context.Context) error, error) {
	p, err := payloadOf(job)
	if err != nil || s.options.Alerts == nil {
		return nil, err
	}
	if p.Alert.Purpose == "" { // as older versions queued them
		p.Alert.Purpose = ForPing
	}
	return nil, s.options.Alerts.Alert(ctx, p.Alert)
}
