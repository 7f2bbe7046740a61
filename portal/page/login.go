package page

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// LoginMethod is a way to log in.
type LoginMethod string

// The methods to log in.
const (
	App     LoginMethod = "app"     // the provider's app; the person enters a kennitala
	SIM     LoginMethod = "sim"     // the phone's SIM card; the person enters a phone number
	Browser LoginMethod = "browser" // the provider's own pages
)

// Login authenticates persons with a provider.
type Login interface {
	// Methods returns the available methods, the default first.
	Methods() []LoginMethod
	// Begin has the provider ask the person with a kennitala of ten digits ([App]) or a phone number of seven
	// ([SIM]), or returns where to redirect the browser ([Browser], without a hint). [ErrLogin];
	// [*idp.TooManyRequestsError] if the provider refuses because of a limit of its own.
	Begin(ctx context.Context, method LoginMethod, hint string) (LoginState, error)
	// Poll asks the provider whether the person on the phone has answered; nil: not yet. The returned state
	// replaces the earlier one, also with an error. [ErrLogin]; after any other error Poll may be called again, after
	// the time that an [*idp.FaultError] names.
	Poll(ctx context.Context, s LoginState) (LoginState, *portal.Person, error)
	// Finish reads the query with which the provider redirected the browser to /sign/back. [ErrLogin],
	// [ErrForeignAnswer].
	Finish(ctx context.Context, s LoginState, query url.Values) (portal.Person, error)
}

// LoginState is the state of a login between calls of [Login].
type LoginState struct {
	Method   LoginMethod   `json:"way"`
	Redirect string        `json:"redirect,omitempty"` // where to redirect the browser
	Code     string        `json:"code,omitempty"`     // verification code, which the phone shows too
	Interval time.Duration `json:"interval,omitempty"` // shortest time until the next Poll
	Expires  time.Time     `json:"expires"`
	Provider []byte        `json:"provider"` // the provider's own state, secret
}

// Reasons for which a login ends without a person. Any other error is an outage of the provider.
var (
	// ErrLogin matches all errors of this group.
	ErrLogin = errors.New("login")
	// ErrCancelled: the person cancelled.
	ErrCancelled error = loginError("cancelled by the person")
	// ErrUnknown: no electronic ID belongs to the hint.
	ErrUnknown error = loginError("unknown electronic ID")
	// ErrTimeout: the person did not answer in time.
	ErrTimeout error = loginError("not answered in time")
	// ErrRefusedLogin: the provider refused for another reason, or its answer is not trustworthy.
	ErrRefusedLogin error = loginError("refused")
)

// ErrForeignAnswer: the query does not belong to the login, which goes on.
var ErrForeignAnswer = errors.New("the answer does not belong to the login")

// LoginFailure is the reason why a login let no person in.
type LoginFailure string

// The reasons of failed logins. An outage of the provider, or a limit of its own, is none.
const (
	LoginCancelled LoginFailure = "cancelled" // by the person
	LoginUnknown   LoginFailure = "unknown"   // no electronic ID belongs to the hint
	LoginTimeout   LoginFailure = "timeout"   // the person did not answer in time
	LoginRefused   LoginFailure = "refused"   // by the provider, or its answer is not trustworthy
	LoginOther     LoginFailure = "other"     // the participant is another person
)

// loginFailed calls Config.LoginFailed if a login that has just ended was refused. ended is the key of the reason.
func (p *Page) loginFailed(ctx context.Context, ended string) {
	if p.config.LoginFailed == nil {
		return
	}
	reason := LoginFailure(strings.TrimPrefix(ended, "ended."))
	switch reason {
	case LoginCancelled, LoginUnknown, LoginTimeout, LoginRefused, LoginOther:
		p.config.LoginFailed(ctx, reason)
	}
}

type loginError string

func (e loginError) Error() string { return "login: " + string(e) }

func (e loginError) Is(target error) bool { return target == ErrLogin }

// noLogin is the [Login] of a server without one. The pages say so instead of the login form.
type noLogin struct{}

// Methods returns none.
func (noLogin) Methods() []LoginMethod { return nil }

func (noLogin) Begin(context.Context, LoginMethod, string) (LoginState, error) {
	return LoginState{}, ErrRefusedLogin
}

// Poll refuses a login that began under an earlier configuration.
func (noLogin) Poll(_ context.Context, s LoginState) (LoginState, *portal.Person, error) {
	return s, nil, ErrRefusedLogin
}

func (noLogin) Finish(context.Context, LoginState, url.Values) (portal.Person, error) {
	return portal.Person{}, ErrRefusedLogin
}

// Times of a login.
const (
	providerTimeout = 20 * time.Second // of one call of the provider
	leaseDuration   = 30 * time.Second // after which a server that calls the provider counts as crashed
	attemptLifetime = 10 * time.Minute // for which the outcome of a login is shown
	replayWindow    = time.Minute      // in which a completed login leads to the page again
	formWindow      = leaseDuration    // in which the same form leads to the same login
	storeTimeout    = 10 * time.Second // in which storing an answer of the provider is retried
)

// attempt is a login under way. A provider gives its answer once, so only the holder of the lease calls it.
type attempt struct {
	Target     target         `json:"for"`
	Method     LoginMethod    `json:"way"`
	Hint       string         `json:"hint,omitempty"`
	Begun      time.Time      `json:"begun"`             // time under which the attempt is counted
	State      *LoginState    `json:"state,omitempty"`   // nil: the first call of the provider has not returned
	Next       time.Time      `json:"next"`              // earliest time of the next call; end of a held lease
	Lease      string         `json:"lease,omitempty"`   // token of the caller; empty: no call is under way
	Redirected bool           `json:"sent,omitempty"`    // the browser was redirected to the provider
	Trouble    bool           `json:"trouble,omitempty"` // the last call of the provider failed
	Person     *portal.Person `json:"person,omitempty"`  // the person who logged in
	Ended      string         `json:"ended,omitempty"`   // key of the reason why the login failed
}

// target is the page that a person logs in for: that of a link, or of a participant.
type target struct {
	Token       string `json:"token,omitempty"`
	Process     string `json:"process,omitempty"`
	Participant string `json:"participant,omitempty"`
}

// path returns the page's path.
func (t target) path() string {
	if t.Token != "" {
		return linkPath(t.Token)
	}
	return participantPath(t.Process, t.Participant)
}

// sameForm reports whether an existing attempt comes from the same form with the same input.
func (a *attempt) sameForm(other *attempt) bool {
	return a.Target == other.Target && a.Method == other.Method && a.Hint == other.Hint
}

// leased reports whether a call of the provider is under way.
func (a *attempt) leased(now time.Time) bool { return a.Lease != "" && now.Before(a.Next) }

// pending reports whether the outcome is not known yet.
func (a *attempt) pending() bool { return a.Person == nil && a.Ended == "" }

// abandoned reports whether no server will complete the attempt: its server crashed before the provider's first
// answer, or the person did not come back in time.
func (a *attempt) abandoned(now time.Time) bool {
	switch {
	case !a.pending() || a.leased(now):
		return false
	case a.State == nil:
		return true
	}
	return now.After(a.State.Expires.Add(leaseDuration))
}

// acquire takes the lease for a call of the provider.
func (a *attempt) acquire(now time.Time) (lease string) {
	a.Lease, a.Next = rand.Text(), now.Add(leaseDuration)
	return a.Lease
}

// recordResult stores the result of a call of the provider, and sets the end of the session.
func (l *loginSession) recordResult(state LoginState, person *portal.Person, err error, now time.Time) {
	a := l.Attempt
	a.State, a.Lease, a.Trouble = &state, "", false
	a.Next = now.Add(max(state.Interval, time.Second, waitOf(err)))
	switch {
	case err == nil && person != nil:
		a.Person = person
	case errors.Is(err, ErrLogin), isLimit(err):
		a.Ended = endKey(err)
	case err != nil && now.After(state.Expires):
		a.Ended = "ended.outage"
	case err != nil:
		a.Trouble = true
	case now.After(state.Expires.Add(leaseDuration)):
		a.Ended = "ended.timeout"
	}
	if l.EndsBy = state.Expires.Add(attemptLifetime); !a.pending() {
		l.EndsBy = now.Add(attemptLifetime)
	}
}

// endKey returns the key of the reason why a login failed.
func endKey(err error) string {
	switch {
	case errors.Is(err, ErrCancelled):
		return "ended.cancelled"
	case errors.Is(err, ErrUnknown):
		return "ended.unknown"
	case errors.Is(err, ErrTimeout):
		return "ended.timeout"
	case errors.Is(err, ErrLogin):
		return "ended.refused"
	case isLimit(err):
		return "ended.often"
	}
	return "ended.outage"
}

// waitOf returns the time that the provider asks to wait for, in an error of a call.
func waitOf(err error) time.Duration {
	var limit *idp.TooManyRequestsError
	var fault *idp.FaultError
	switch {
	case errors.As(err, &limit):
		return limit.RetryAfter
	case errors.As(err, &fault):
		return fault.RetryAfter
	}
	return 0
}

// isOutage reports whether a call of the provider failed without an answer.
func isOutage(err error) bool {
	return err != nil && !errors.Is(err, ErrLogin) && !errors.Is(err, ErrForeignAnswer) && !isLimit(err)
}

// errLeaseLost reports that another request has called the provider meanwhile.
var errLeaseLost = errors.New("page: the login's lease is lost")

// storeResult stores the result of a call under a lease. It retries while the store is unavailable, since the
// provider does not repeat its answer.
func (p *Page) storeResult(ctx context.Context, key []byte, lease string, apply func(*loginSession)) (session, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	for pause := 50 * time.Millisecond; ; pause *= 2 {
		s, err := p.updateSession(ctx, key, func(s *session) error {
			if s.asLogin() == nil || s.asLogin().Attempt.Lease != lease {
				return errLeaseLost
			}
			apply(s.asLogin())
			return nil
		})
		if err == nil {
			p.loginFailed(ctx, s.asLogin().Attempt.Ended)
		}
		if !storage.IsTemporary(err) {
			return s, err
		}
		select {
		case <-ctx.Done():
			return s, err
		case <-time.After(pause):
		}
	}
}

// reportOutage reports an outage of the provider.
func (p *Page) reportOutage(ctx context.Context, err error) {
	if isOutage(err) {
		p.report(ctx, fmt.Errorf("calling the provider: %w", err))
	}
}

// providerContext returns the context of a call of the provider. It does not end with the request: a closed
// connection does not withdraw the call.
func providerContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), providerTimeout)
}
