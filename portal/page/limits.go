package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/promptlimit"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

var errTooManyAttempts = errors.New("page: too many attempts at the participant's page")

// isLimit reports whether a person may not be asked now, because of a limit of the service or of the provider.
func isLimit(err error) bool {
	var limit *idp.TooManyRequestsError
	return errors.As(err, &limit)
}

// limit is the number of attempts that may begin within a window.
type limit struct {
	kind   string
	max    int
	window time.Duration
}

// Rate limits of one participant's page. A person with a link can use up the logins of its participant, and of no other:
// what all pages together ask one person is limited by Config.Prompts, and for signatures by package signing.
var (
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

// loginCounters returns the counters of a login at the page with a path, other than that of loginPrompt.
func loginCounters(path string, a *attempt) []counter {
	if a.Method == Browser {
		return []counter{{perParticipantRedirected, path}}
	}
	subject := "login " + string(a.Method) + " " + a.Hint
	return []counter{{perParticipantAndPerson, path + " " + subject}, {perParticipant, path}, {perParticipantUnsuccessful, path}}
}

// loginPrompt returns a login at the page of a participant as Config.Prompts counts it.
func loginPrompt(view *portal.ParticipantView, a *attempt) promptlimit.Prompt {
	p := begunPrompt(pathOf(view), a)
	p.Account = view.Account
	switch one := &view.Participant; a.Method {
	case App:
		p.Invited = samePerson(one.Kennitala, a.Hint)
	case SIM:
		p.Invited = promptlimit.Phone(one.Phone) == promptlimit.Phone(a.Hint)
	}
	return p
}

// begunPrompt returns the prompt of a login at the page with a path, with what Config.Prompts needs to find it again. A
// login in the browser has no person: it makes no phone ring.
func begunPrompt(path string, a *attempt) promptlimit.Prompt {
	p := promptlimit.Prompt{ID: path + " " + a.Begun.Format(time.RFC3339Nano), Link: path}
	switch a.Method {
	case App:
		p.Persons = []string{promptlimit.Kennitala(a.Hint)}
	case SIM:
		p.Persons = []string{promptlimit.Phone(a.Hint)}
	}
	return p
}

// signCounters returns the counters of a signature.
func signCounters(view *portal.ParticipantView) []counter {
	return []counter{{perParticipantAndPerson, "sign " + pathOf(view)}}
}

// countAttempt counts an attempt that begins at a time, or returns an [*idp.TooManyRequestsError]. It joins the
// transaction, so that an attempt is counted exactly when it is stored.
func (p *Page) countAttempt(ctx context.Context, at time.Time, counters []counter) error {
	return storage.InTx(ctx, p.config.Tx, func(ctx context.Context) error {
		for _, c := range counters {
			times, err := p.loadTimes(ctx, c, at)
			if err != nil {
				return err
			}
			if len(times) >= c.max {
				return &idp.TooManyRequestsError{RetryAfter: times[len(times)-c.max].Add(c.window).Sub(at), Err: errTooManyAttempts}
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

// tryUncount uncounts an attempt that made no phone ring, and reports an error of the store.
func (p *Page) tryUncount(ctx context.Context, at time.Time, counters []counter) {
	if err := p.uncount(ctx, at, counters...); err != nil {
		p.report(ctx, err)
	}
}

// tryUncountLogin uncounts a login whose first call of the provider failed, so that no phone has rung. If the provider
// refused it because of a limit of its own, no page of the account asks the person again for a while.
func (p *Page) tryUncountLogin(ctx context.Context, a *attempt, counters []counter, prompt promptlimit.Prompt, failed error) {
	err := storage.InTx(ctx, p.config.Tx, func(ctx context.Context) error {
		if err := p.uncount(ctx, a.Begun, counters...); err != nil {
			return err
		}
		var limit *idp.TooManyRequestsError
		if errors.As(failed, &limit) {
			return p.config.Prompts.Defer(ctx, p.now(ctx), prompt, limit.RetryAfter)
		}
		return p.config.Prompts.Forget(ctx, p.now(ctx), prompt)
	})
	if err != nil {
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
