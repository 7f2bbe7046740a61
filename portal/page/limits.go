package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// errRateLimited matches every rateLimitError.
var errRateLimited = errors.New("too many attempts")

// rateLimitError reports after which time another attempt may begin.
type rateLimitError struct{ retryAfter time.Duration }

func (e rateLimitError) Error() string { return errRateLimited.Error() }

func (e rateLimitError) Is(target error) bool { return target == errRateLimited }

// limit is the number of attempts that may begin within a window.
type limit struct {
	kind   string
	max    int
	window time.Duration
}

// Rate limits. A phone does not ring all the time, however many links a caller has. A person with a link can
// use up the logins of its participant.
var (
	perPerson                  = limit{"begun for", 5, 10 * time.Minute} // of a kennitala or phone number
	perParticipantAndPerson    = limit{"begun at for", 3, 5 * time.Minute}
	perParticipant             = limit{"begun at", 10, 5 * time.Minute}
	perParticipantUnsuccessful = limit{"begun in vain at", 20, 24 * time.Hour} // logins that did not complete
	perParticipantRedirected   = limit{"sent from", 100, 5 * time.Minute}      // redirects: they ring no phone, but fill the store
)

// counter counts attempts under a name.
type counter struct {
	limit
	name string
}

// loginCounters returns the counters of a login at the page with a path.
func loginCounters(path string, a *attempt) []counter {
	if a.Method == Browser {
		return []counter{{perParticipantRedirected, path}}
	}
	subject := loginSubject(a.Method, a.Hint)
	return []counter{{perParticipantAndPerson, path + " " + subject}, {perParticipant, path}, {perParticipantUnsuccessful, path}, {perPerson, subject}}
}

// loginSubject names the person of a login.
func loginSubject(method LoginMethod, hint string) string {
	return "login " + string(method) + " " + hint
}

// signCounters returns the counters of a signature. A phone number counts together with logins by that number.
func signCounters(view *portal.ParticipantView, kennitala string, a portal.SignRequest) []counter {
	all := []counter{{perParticipantAndPerson, "sign " + pathOf(view)}, {perPerson, "sign " + kennitala}}
	if a.Phone != "" {
		all = append(all, counter{perPerson, loginSubject(SIM, a.Phone)})
	}
	return all
}

// countAttempt counts an attempt that begins at a time, or returns errRateLimited. It joins the transaction, so
// that an attempt is counted exactly when it is stored.
func (p *Page) countAttempt(ctx context.Context, at time.Time, counters []counter) error {
	return storage.InTx(ctx, p.config.Tx, func(ctx context.Context) error {
		for _, c := range counters {
			times, err := p.loadTimes(ctx, c, at)
			if err != nil {
				return err
			}
			if len(times) >= c.max {
				return rateLimitError{times[len(times)-c.max].Add(c.window).Sub(at)}
			}
			if err := p.saveTimes(ctx, c, append(times, at), at); err != nil {
				return err
			}
		}
		return nil
	})
}

// uncount removes an attempt that began at a time from counters. It joins the transaction.
func (p *Page) uncount(ctx context.Context, at time.Time, counters ...counter) error {
	return storage.InTx(ctx, p.config.Tx, func(ctx context.Context) error {
		now := p.now(ctx)
		for _, c := range counters {
			times, err := p.loadTimes(ctx, c, now)
			if err != nil {
				return err
			}
			if i := slices.IndexFunc(times, at.Equal); i >= 0 {
				if err := p.saveTimes(ctx, c, slices.Delete(times, i, i+1), now); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// tryUncount uncounts an attempt that failed through an outage, and reports an error of the store.
func (p *Page) tryUncount(ctx context.Context, at time.Time, counters []counter) {
	if err := p.uncount(ctx, at, counters...); err != nil {
		p.report(ctx, err)
	}
}

// loadTimes returns the times of the attempts within the counter's window.
func (p *Page) loadTimes(ctx context.Context, c counter, now time.Time) (times []time.Time, err error) {
	record, err := p.config.Store.Record(ctx, recordKey(c.kind, c.name))
	if err == nil {
		err = json.Unmarshal(record.Value, &times)
	}
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return nil, fmt.Errorf("page: reading the times of attempts: %w", err)
	}
	return slices.DeleteFunc(times, func(t time.Time) bool { return !t.Add(c.window).After(now) }), nil
}

// saveTimes stores the times of attempts.
func (p *Page) saveTimes(ctx context.Context, c counter, times []time.Time, now time.Time) error {
	value, err := json.Marshal(times)
	if err == nil {
		err = p.config.Store.PutRecord(ctx, Record{Key: recordKey(c.kind, c.name), Value: value, Expires: now.Add(c.window)})
	}
	if err != nil {
		return fmt.Errorf("page: counting an attempt: %w", err)
	}
	return nil
}
