package delivery

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// Security checks are sent at random times, so that no endpoint can know one by its time
// (spec 5.6).
const checkAfter, checkBefore = time.Hour, 5 * time.Hour

// doCheck sends a security check. 401 passes it and 2xx fails it; anything else is an outage, which
// it waits out (spec 5.6).
func (s *Service) doCheck(ctx context.Context, job storage.Job) (func(context.Context) error, error) {
	return s.doRound(ctx, job, ForCheck, func(was Subscription, since time.Time, made Attempt) outcome {
		switch {
		case made.Failure == "":
			return outcome{is: was, next: nextCheck(made.At)}
		case successful(made.Status):
			return outcome{is: was.switchedOff(SecurityCheckFailed, made.At), since: made.At}
		case since.IsZero():
			since = made.At
		}
		return outcome{is: was, since: since, next: made.At.Add(askAgain)}
	})
}

// nextCheck is when the check after one that was passed is due.
func nextCheck(at time.Time) time.Time {
	return instant(at.Add(checkAfter + rand.N(checkBefore-checkAfter)))
}
