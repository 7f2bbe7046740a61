package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/login"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/page"
)

// LoginPath is where the provider's pages send a browser back to, after a base URL, as registered with the provider.
const LoginPath = "/sign/back"

// OpenIDLogin has people log in at an OpenID provider, for a [Config]: in a browser, and on phones where there are
// clients for it.
type OpenIDLogin struct {
	Browser *login.Browser              // whose redirect is the base URL with LoginPath
	Phones  map[idp.Method]*login.Phone // none: nobody is asked on a phone
	// Refusal returns what an error of the provider means to the person; nil: it is a fault on the way. Without it all
	// errors are.
	Refusal func(error) *idp.Failure
	Log     *slog.Logger // of logins that were refused; nil: there is none
}

var _ page.Login = OpenIDLogin{}

// methodOf is how a way to log in would be to sign.
var methodOf = map[page.LoginMethod]idp.Method{page.App: idp.App, page.SIM: idp.SIM}

// Methods implements [page.Login].
func (l OpenIDLogin) Methods() []page.LoginMethod {
	if len(l.Phones) == 0 {
		return []page.LoginMethod{page.Browser}
	}
	return []page.LoginMethod{page.App, page.SIM, page.Browser}
}

// Begin implements [page.Login].
func (l OpenIDLogin) Begin(ctx context.Context, way page.LoginMethod, hint string) (page.LoginState, error) {
	if way == page.Browser {
		return l.beginBrowser(ctx)
	}
	phone := l.Phones[methodOf[way]]
	if phone == nil {
		return page.LoginState{}, fmt.Errorf("nobody logs in by %q", way)
	}
	s, err := phone.Begin(ctx, hint)
	if err != nil {
		return page.LoginState{}, l.meaning(err)
	}
	return phoneState(way, s)
}

func (l OpenIDLogin) beginBrowser(ctx context.Context) (page.LoginState, error) {
	address, s, err := l.Browser.Begin(ctx)
	if err != nil {
		return page.LoginState{}, l.meaning(err)
	}
	kept, err := json.Marshal(s)
	return page.LoginState{Method: page.Browser, Redirect: address, Expires: s.Expires, Provider: kept}, err
}

// phoneState is a login on a phone as the page keeps it.
func phoneState(way page.LoginMethod, s login.PhoneState) (page.LoginState, error) {
	kept, err := json.Marshal(s)
	return page.LoginState{Method: way, Code: s.Code, Interval: s.Interval, Expires: s.Expires, Provider: kept}, err
}

// Poll implements [page.Login].
func (l OpenIDLogin) Poll(ctx context.Context, kept page.LoginState) (page.LoginState, *portal.Person, error) {
	phone := l.Phones[methodOf[kept.Method]]
	if phone == nil { // the configuration was another when the login began
		return kept, nil, page.ErrRefusedLogin
	}
	var s login.PhoneState
	if err := json.Unmarshal(kept.Provider, &s); err != nil {
		return kept, nil, fmt.Errorf("reading the state of a login: %w", err)
	}
	s, identity, err := phone.Poll(ctx, s)
	next, stateErr := phoneState(kept.Method, s)
	switch {
	case stateErr != nil:
		return kept, nil, stateErr
	case err != nil:
		return next, nil, l.meaning(err)
	case identity == nil:
		return next, nil, nil
	}
	return next, &portal.Person{Name: identity.Name, Kennitala: identity.Kennitala}, nil
}

// Finish implements [page.Login].
func (l OpenIDLogin) Finish(ctx context.Context, kept page.LoginState, query url.Values) (portal.Person, error) {
	var s login.BrowserState
	if err := json.Unmarshal(kept.Provider, &s); err != nil {
		return portal.Person{}, fmt.Errorf("reading the state of a login: %w", err)
	}
	identity, err := l.Browser.Finish(ctx, s, query)
	if err != nil {
		return portal.Person{}, l.meaning(err)
	}
	return portal.Person{Name: identity.Name, Kennitala: identity.Kennitala}, nil
}

// meaning is an error as the page tells people of it. What neither a person nor the time decided is
// for the operator to know; no error text of these packages has personal data.
func (l OpenIDLogin) meaning(err error) error {
	means := l.reason(err)
	if means == nil {
		return err
	}
	if means == page.ErrRefusedLogin && l.Log != nil {
		l.Log.Warn("login refused", "error", err)
	}
	return fmt.Errorf("%w: %w", means, err)
}

// reason is one of package page's errors; nil: the error is a fault on the way.
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

// loginFailure is what a code of spec 3.7 means to a person who logs in; nil: the same may be asked again.
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
