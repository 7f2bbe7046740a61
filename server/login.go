package server

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/ciba"
	"github.com/innsigli/innsigli/idp/login"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/page"
)

// LoginPath is the path below the base URL to which the provider redirects a browser after a login. The redirect URI of the
// client that is registered with the provider is the base URL with LoginPath.
const LoginPath = "/sign/back"

// OpenIDLogin is a [Config.Login] that uses an OpenID provider: in a browser, and on phones if Phones has clients.
type OpenIDLogin struct {
	Browser *login.Browser              // its redirect URI is the base URL with LoginPath
	Phones  map[idp.Method]*login.Phone // empty: people log in only in a browser
	// Refusal returns the failure that an error of the provider stands for; nil: the error is a technical fault. If Refusal
	// is nil, all errors of the provider are technical faults.
	Refusal func(error) *idp.Failure
	Log     *slog.Logger // for logins that were refused; nil: they are not logged
}

var _ page.Login = OpenIDLogin{}

// methodOf maps a login method on a phone to the signing method on the same device.
var methodOf = map[page.LoginMethod]idp.Method{page.App: idp.App, page.SIM: idp.SIM}

// Methods implements [page.Login].
func (l OpenIDLogin) Methods() []page.LoginMethod {
	if len(l.Phones) == 0 {
		return []page.LoginMethod{page.Browser}
	}
	return []page.LoginMethod{page.App, page.SIM, page.Browser}
}

// Begin implements [page.Login].
func (l OpenIDLogin) Begin(ctx context.Context, method page.LoginMethod, hint string) (page.LoginState, error) {
	if method == page.Browser {
		return l.beginBrowser(ctx)
	}
	phone := l.Phones[methodOf[method]]
	if phone == nil {
		return page.LoginState{}, fmt.Errorf("no login by %q is configured", method)
	}
	s, err := phone.Begin(ctx, hint)
	if err != nil {
		return page.LoginState{}, l.requestError(err)
	}
	return phoneState(method, s)
}

func (l OpenIDLogin) beginBrowser(ctx context.Context) (page.LoginState, error) {
	address, s, err := l.Browser.Begin(ctx)
	if err != nil {
		return page.LoginState{}, l.requestError(err)
	}
	encoded, err := json.Marshal(s)
	return page.LoginState{Method: page.Browser, Redirect: address, Expires: s.Expires, Provider: encoded}, err
}

// phoneState returns the state of a login on a phone in the form that the page stores.
func phoneState(method page.LoginMethod, s login.PhoneState) (page.LoginState, error) {
	encoded, err := json.Marshal(s)
	return page.LoginState{Method: method, Code: s.Code, Interval: s.Interval, Expires: s.Expires, Provider: encoded}, err
}

// Poll implements [page.Login].
func (l OpenIDLogin) Poll(ctx context.Context, state page.LoginState) (page.LoginState, *portal.Person, error) {
	phone := l.Phones[methodOf[state.Method]]
	if phone == nil { // the configuration has changed since the login began
		return state, nil, page.ErrRefusedLogin
	}
	var s login.PhoneState
	if err := json.Unmarshal(state.Provider, &s); err != nil {
		return state, nil, fmt.Errorf("reading the state of a login: %w", err)
	}
	s, identity, err := phone.Poll(ctx, s)
	next, stateErr := phoneState(state.Method, s)
	switch {
	case stateErr != nil:
		return state, nil, stateErr
	case err != nil:
		return next, nil, waitError(err, l.pageError(err))
	case identity == nil:
		return next, nil, nil
	}
	person := personOf(*identity)
	return next, &person, nil
}

// Finish implements [page.Login].
func (l OpenIDLogin) Finish(ctx context.Context, state page.LoginState, query url.Values) (portal.Person, error) {
	var s login.BrowserState
	if err := json.Unmarshal(state.Provider, &s); err != nil {
		return portal.Person{}, fmt.Errorf("reading the state of a login: %w", err)
	}
	identity, err := l.Browser.Finish(ctx, s, query)
	if err != nil {
		return portal.Person{}, l.requestError(err)
	}
	return personOf(identity), nil
}

// personOf returns the person of a login.
func personOf(i login.Identity) portal.Person {
	return portal.Person{Name: i.Name, Kennitala: i.Kennitala, Authentication: &portal.Authentication{
		Provider: i.Issuer, ACR: i.ACR, Token: hex.EncodeToString(i.TokenSum[:]),
	}}
}

// requestError is pageError for an error of Begin or Finish, which the provider may also refuse because of a limit.
func (l OpenIDLogin) requestError(err error) error {
	if wait, ok := ciba.TooManyRequests(err); ok {
		var f *idp.Failure
		if l.Refusal != nil {
			f = l.Refusal(err)
		}
		if f == nil || f.Code.Pending() {
			return &idp.TooManyRequestsError{RetryAfter: wait, Err: err}
		}
	}
	return l.pageError(err)
}

// waitError adds to the page's error the time that the provider asks to wait for before the next poll.
func waitError(err, pageError error) error {
	if wait := ciba.RetryAfter(err); wait > 0 && !errors.Is(pageError, page.ErrLogin) {
		return &idp.FaultError{RetryAfter: wait, Err: pageError}
	}
	return pageError
}

// pageError wraps an error of a login in the error of package page that the page shows to the person. It returns a
// technical fault as it is, for the operator; no error text of these packages has personal data.
func (l OpenIDLogin) pageError(err error) error {
	reason := l.reason(err)
	if reason == nil {
		return err
	}
	if reason == page.ErrRefusedLogin && l.Log != nil {
		l.Log.Warn("login refused", "error", err)
	}
	return fmt.Errorf("%w: %w", reason, err)
}

// reason returns the error of package page for an error of a login; nil: the error is a technical fault.
func (l OpenIDLogin) reason(err error) error {
	switch {
	case errors.Is(err, login.ErrExpired):
		return page.ErrTimeout
	case errors.Is(err, login.ErrMismatch):
		return page.ErrForeignAnswer
	case errors.Is(err, login.ErrMethod), errors.Is(err, login.ErrNoKennitala), errors.Is(err, login.ErrKennitalaMismatch):
		return page.ErrRefusedLogin
	}
	if l.Refusal != nil {
		if f := l.Refusal(err); f != nil {
			return loginFailure(f.Code)
		}
	}
	return nil
}

// loginFailure returns the error of package page for a code of spec 3.7; nil: the code stands for a technical fault.
func loginFailure(code idp.ErrorCode) error {
	switch code {
	case idp.UserCancelled, idp.AccessDenied:
		return page.ErrCancelled
	case idp.UserNotFound, idp.UserHasNoPhone, idp.CertificateNotFound, idp.KeyNotFound:
		return page.ErrUnknown
	case idp.TimeoutNoAnswer, idp.ExpiredToken:
		return page.ErrTimeout
	case idp.SystemUnderMaintenance, idp.CommunicationError:
		return nil
	}
	return page.ErrRefusedLogin
}
