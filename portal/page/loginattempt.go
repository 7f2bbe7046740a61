package page

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

const (
	callTime  = 20 * time.Second // how long the provider may take
	leaseTime = 30 * time.Second // after which whoever asked has died
	endTime   = 10 * time.Minute // for how long it is told what came of a login
	doneTime  = time.Minute      // for how long one that has come to its end leads on once more
	formTime  = leaseTime        // for how long a form that is sent again leads to the same login
	storeTime = 10 * time.Second // for how long it is tried to store an answer that is given once
)

// attempt is a login that is under way. The provider is called for one browser tab at a time, under a
// lease, since it gives its answer once.
type attempt struct {
	For     target         `json:"for"`
	Way     Way            `json:"way"`
	Hint    string         `json:"hint,omitempty"`
	Begun   time.Time      `json:"begun"`             // as it was counted
	State   *LoginState    `json:"state,omitempty"`   // nil: the provider is being asked
	Next    time.Time      `json:"next"`              // when it may be called again; a lease ends then
	Lease   string         `json:"lease,omitempty"`   // of who calls it; empty: nobody does
	Sent    bool           `json:"sent,omitempty"`    // the browser was sent to the provider
	Trouble bool           `json:"trouble,omitempty"` // the provider did not answer lately
	Person  *portal.Person `json:"person,omitempty"`  // who it was
	Ended   string         `json:"ended,omitempty"`   // key of why it has come to nothing
}

// target is the page that somebody logs in for: that of a link, or of a participant.
type target struct {
	Token       string `json:"token,omitempty"`
	Process     string `json:"process,omitempty"`
	Participant string `json:"participant,omitempty"`
}

func (t target) path() string {
	if t.Token != "" {
		return linkPath(t.Token)
	}
	return placePath(t.Process, t.Participant)
}

// is says whether a login, if there is one, is that of the same form.
func (a *attempt) is(other *attempt) bool {
	return a != nil && a.For == other.For && a.Way == other.Way && a.Hint == other.Hint
}

// held says whether somebody calls the provider.
func (a *attempt) held(now time.Time) bool { return a.Lease != "" && now.Before(a.Next) }

// open says whether it is not known yet what comes of the login.
func (a *attempt) open() bool { return a.Person == nil && a.Ended == "" }

// over says whether a login comes to nothing since nobody sees to it any more: its server has died
// before the provider answered, or the person has not come back in time.
func (a *attempt) over(now time.Time) bool {
	switch {
	case !a.open() || a.held(now):
		return false
	case a.State == nil:
		return true
	}
	return now.After(a.State.Expires.Add(leaseTime))
}

// take has the provider called by one who gets the lease.
func (a *attempt) take(now time.Time) (lease string) {
	a.Lease, a.Next = rand.Text(), now.Add(leaseTime)
	return a.Lease
}

// settle notes what a call of the provider came to, until when the visit is kept being what is left.
func (v *visit) settle(state LoginState, person *portal.Person, err error, now time.Time) {
	a := v.Login
	a.State, a.Lease, a.Trouble = &state, "", false
	a.Next = now.Add(max(state.Interval, time.Second))
	switch {
	case err == nil && person != nil:
		a.Person = person
	case errors.Is(err, ErrLogin):
		a.Ended = endOf(err)
	case err != nil && now.After(state.Expires):
		a.Ended = "ended.outage"
	case err != nil:
		a.Trouble = true
	case now.After(state.Expires.Add(leaseTime)):
		a.Ended = "ended.timeout"
	}
	if v.Until = state.Expires.Add(endTime); !a.open() {
		v.Until = now.Add(endTime)
	}
}

// endOf is what is said of a login that came to nothing.
func endOf(err error) string {
	switch {
	case errors.Is(err, ErrCancelled):
		return "ended.cancelled"
	case errors.Is(err, ErrUnknown):
		return "ended.unknown"
	case errors.Is(err, ErrTimeout):
		return "ended.timeout"
	case errors.Is(err, ErrLogin):
		return "ended.refused"
	}
	return "ended.outage"
}

// outage says whether a call of the provider came to nothing that is known.
func outage(called error) bool {
	return called != nil && !errors.Is(called, ErrLogin) && !errors.Is(called, ErrForeignAnswer)
}

var errOvertaken = errors.New("page: another has called the provider meanwhile")

// answered stores what came of a call of the provider under a lease. It is tried for a while: the
// answer is not given again.
func (p *Page) answered(ctx context.Context, key []byte, lease string, note func(v *visit)) (visit, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	for pause := 50 * time.Millisecond; ; pause *= 2 {
		v, err := p.change(ctx, key, func(v *visit) error {
			if v.Login == nil || v.Login.Lease != lease {
				return errOvertaken
			}
			note(v)
			return nil
		})
		if !storage.IsTemporary(err) {
			return v, err
		}
		select {
		case <-ctx.Done():
			return v, err
		case <-time.After(pause):
		}
	}
}

// noteCall tells of a provider that could not be asked.
func (p *Page) noteCall(ctx context.Context, err error) {
	if outage(err) {
		p.tell(ctx, fmt.Errorf("asking the provider: %w", err))
	}
}

// calling is a context for a call of the provider, which does not end with the request: a browser that
// hangs up takes back nothing.
func calling(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), callTime)
}
