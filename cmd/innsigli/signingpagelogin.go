package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/ciba"
	"github.com/innsigli/innsigli/idp/login"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/page"
)

// backPath is where the provider's pages send a browser back to, as registered with it.
const backPath = "/sign/back"

// logins have people say who they are at the provider of a [login].
type logins struct {
	browser *login.Browser
	phones  map[page.Way]*login.Phone // empty: nobody is asked there
	refusal func(error) *idp.Failure  // what the provider's error means; nil: it is a fault on the way
	log     *slog.Logger
}

var _ page.Login = logins{}

// methodOf is how a way to log in would be to sign.
var methodOf = map[page.Way]idp.Method{page.App: idp.App, page.SIM: idp.SIM}

// logins makes those of a server at an address. Nobody is called yet.
func (p loginProvider) logins(baseURL string, refusal func(error) *idp.Failure, log *slog.Logger) (l logins, err error) {
	l = logins{phones: make(map[page.Way]*login.Phone), refusal: refusal, log: log}
	if l.browser, err = p.open(baseURL + backPath); err != nil {
		return l, err
	}
	if p.phones == nil {
		return l, nil
	}
	client, err := ciba.New(p.client)
	if err != nil {
		return l, err
	}
	for way, method := range methodOf {
		o := p.phones[method]
		o.Client = client
		if l.phones[way], err = login.NewPhone(o); err != nil {
			return l, err
		}
	}
	return l, nil
}

// Ways implements [page.Login].
func (l logins) Ways() []page.Way {
	if len(l.phones) == 0 {
		return []page.Way{page.Browser}
	}
	return []page.Way{page.App, page.SIM, page.Browser}
}

// Begin implements [page.Login].
func (l logins) Begin(ctx context.Context, way page.Way, hint string) (page.LoginState, error) {
	if way == page.Browser {
		return l.beginBrowser(ctx)
	}
	phone := l.phones[way]
	if phone == nil {
		return page.LoginState{}, fmt.Errorf("nobody logs in by %q", way)
	}
	s, err := phone.Begin(ctx, hint)
	if err != nil {
		return page.LoginState{}, l.meaning(err)
	}
	return phoneState(way, s)
}

func (l logins) beginBrowser(ctx context.Context) (page.LoginState, error) {
	address, s, err := l.browser.Begin(ctx)
	if err != nil {
		return page.LoginState{}, l.meaning(err)
	}
	kept, err := json.Marshal(s)
	return page.LoginState{Way: page.Browser, Redirect: address, Expires: s.Expires, Provider: kept}, err
}

// phoneState is a login on a phone as the page keeps it.
func phoneState(way page.Way, s login.PhoneState) (page.LoginState, error) {
	kept, err := json.Marshal(s)
	return page.LoginState{Way: way, Code: s.Code, Interval: s.Interval, Expires: s.Expires, Provider: kept}, err
}

// Poll implements [page.Login].
func (l logins) Poll(ctx context.Context, kept page.LoginState) (page.LoginState, *portal.Person, error) {
	phone := l.phones[kept.Way]
	if phone == nil { // the configuration was another when the login began
		return kept, nil, page.ErrRefusedLogin
	}
	var s login.PhoneState
	if err := json.Unmarshal(kept.Provider, &s); err != nil {
		return kept, nil, fmt.Errorf("reading the state of a login: %w", err)
	}
	s, identity, err := phone.Poll(ctx, s)
	next, stateErr := phoneState(kept.Way, s)
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
func (l logins) Finish(ctx context.Context, kept page.LoginState, query url.Values) (portal.Person, error) {
	var s login.BrowserState
	if err := json.Unmarshal(kept.Provider, &s); err != nil {
		return portal.Person{}, fmt.Errorf("reading the state of a login: %w", err)
	}
	identity, err := l.browser.Finish(ctx, s, query)
	if err != nil {
		return portal.Person{}, l.meaning(err)
	}
	return portal.Person{Name: identity.Name, Kennitala: identity.Kennitala}, nil
}
