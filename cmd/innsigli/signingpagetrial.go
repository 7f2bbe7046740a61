package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/simulated"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/page"
)

// trialDelay is how long simulated people take to answer: long enough to see the code that their
// phones show.
const trialDelay = 2 * time.Second

// trialLogins have simulated people log in.
type trialLogins struct {
	login   *simulated.Login
	baseURL string
}

var _ page.Login = trialLogins{}

func newTrialLogins(baseURL string) trialLogins {
	return trialLogins{simulated.NewLogin(simulated.LoginOptions{Delay: trialDelay, Name: simulated.Name}), baseURL}
}

// Ways implements [page.Login].
func (trialLogins) Ways() []page.Way { return []page.Way{page.App, page.SIM, page.Browser} }

// Begin implements [page.Login].
func (l trialLogins) Begin(ctx context.Context, way page.Way, hint string) (page.LoginState, error) {
	if way == page.Browser {
		state := rand.Text()
		redirect := l.baseURL + trialLoginPath + "?" + url.Values{"state": {state}}.Encode()
		return page.LoginState{Way: way, Redirect: redirect, Expires: time.Now().UTC().Add(simulated.LoginExpiry), Provider: []byte(state)}, nil
	}
	s, err := l.login.Begin(ctx, idp.Person{Method: methodOf[way], Kennitala: hint, Phone: hint})
	if err != nil {
		return page.LoginState{}, trialMeaning(err)
	}
	kept, err := json.Marshal(s)
	return page.LoginState{Way: way, Code: s.Code, Interval: time.Second, Expires: s.Expires, Provider: kept}, err
}

// Poll implements [page.Login].
func (l trialLogins) Poll(ctx context.Context, kept page.LoginState) (page.LoginState, *portal.Person, error) {
	var s simulated.LoginState
	if err := json.Unmarshal(kept.Provider, &s); err != nil {
		return kept, nil, fmt.Errorf("reading the state of a login: %w", err)
	}
	who, err := l.login.Poll(ctx, s)
	if err != nil || who == nil {
		return kept, nil, trialMeaning(err)
	}
	return kept, &portal.Person{Name: who.Name, Kennitala: who.Kennitala}, nil
}

// Finish implements [page.Login].
func (l trialLogins) Finish(_ context.Context, kept page.LoginState, query url.Values) (portal.Person, error) {
	switch {
	case subtle.ConstantTimeCompare([]byte(query.Get("state")), kept.Provider) != 1:
		return portal.Person{}, page.ErrForeignAnswer
	case time.Now().After(kept.Expires):
		return portal.Person{}, page.ErrTimeout
	case query.Has("error"):
		return portal.Person{}, page.ErrCancelled
	}
	who, err := l.login.Identify(query.Get("kennitala"))
	if err != nil {
		return portal.Person{}, trialMeaning(err)
	}
	return portal.Person{Name: who.Name, Kennitala: who.Kennitala}, nil
}

// trialMeaning is an error as the page tells people of it.
func trialMeaning(err error) error {
	if refused := new(simulated.Refusal); errors.As(err, &refused) {
		if means := loginFailure(refused.Code); means != nil {
			return fmt.Errorf("%w: %w", means, err)
		}
	}
	return err
}
