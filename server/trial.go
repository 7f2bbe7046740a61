package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/simulated"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/page"
)

// trialDelay is how long simulated people take to answer: long enough to see the verification code.
const trialDelay = 2 * time.Second

// trialLogin is the login of a Trial, with simulated people.
type trialLogin struct {
	login   *simulated.Login
	baseURL string
}

var _ page.Login = trialLogin{}

func newTrialLogin(baseURL string) trialLogin {
	return trialLogin{simulated.NewLogin(simulated.LoginOptions{Delay: trialDelay, Name: simulated.Name}), baseURL}
}

// Methods implements [page.Login].
func (trialLogin) Methods() []page.LoginMethod {
	return []page.LoginMethod{page.App, page.SIM, page.Browser}
}

// Begin implements [page.Login].
func (l trialLogin) Begin(ctx context.Context, method page.LoginMethod, hint string) (page.LoginState, error) {
	if method == page.Browser {
		state := rand.Text()
		redirect := l.baseURL + trialLoginPath + "?" + url.Values{"state": {state}}.Encode()
		return page.LoginState{Method: method, Redirect: redirect, Expires: time.Now().UTC().Add(simulated.LoginExpiry), Provider: []byte(state)}, nil
	}
	s, err := l.login.Begin(ctx, idp.Person{Method: methodOf[method], Kennitala: hint, Phone: hint})
	if err != nil {
		return page.LoginState{}, trialError(err)
	}
	encoded, err := json.Marshal(s)
	return page.LoginState{Method: method, Code: s.Code, Interval: time.Second, Expires: s.Expires, Provider: encoded}, err
}

// Poll implements [page.Login].
func (l trialLogin) Poll(ctx context.Context, state page.LoginState) (page.LoginState, *portal.Person, error) {
	var s simulated.LoginState
	if err := json.Unmarshal(state.Provider, &s); err != nil {
		return state, nil, fmt.Errorf("reading the state of a login: %w", err)
	}
	who, err := l.login.Poll(ctx, s)
	if err != nil || who == nil {
		return state, nil, trialError(err)
	}
	return state, &portal.Person{Name: who.Name, Kennitala: who.Kennitala}, nil
}

// Finish implements [page.Login].
func (l trialLogin) Finish(_ context.Context, state page.LoginState, query url.Values) (portal.Person, error) {
	switch {
	case subtle.ConstantTimeCompare([]byte(query.Get("state")), state.Provider) != 1:
		return portal.Person{}, page.ErrForeignAnswer
	case time.Now().After(state.Expires):
		return portal.Person{}, page.ErrTimeout
	case query.Has("error"):
		return portal.Person{}, page.ErrCancelled
	}
	who, err := l.login.Identify(query.Get("kennitala"))
	if err != nil {
		return portal.Person{}, trialError(err)
	}
	return portal.Person{Name: who.Name, Kennitala: who.Kennitala}, nil
}

// trialError wraps an error of a simulated login in the error of package page that the page shows to the person.
func trialError(err error) error {
	if refused := new(simulated.Refusal); errors.As(err, &refused) {
		if reason := loginFailure(refused.Code); reason != nil {
			return fmt.Errorf("%w: %w", reason, err)
		}
	}
	return err
}

// trialLoginPath is the path of the login page of the simulated identity provider in a Trial.
const trialLoginPath = "/simulated/login"

// trialLoginTemplate is the login page of the simulated provider, which accepts any kennitala.
var trialLoginTemplate = template.Must(template.New("").Parse(`<!DOCTYPE html>
<html lang="is">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Prufuinnskráning – Trial login</title>
</head>
<body>
<main>
<h1>Prufu&shy;innskráning <span lang="en">/ Trial login</span></h1>
<p>Þessi síða kemur í stað innskráningarsíðu rafrænu skilríkjanna. Hér er enginn auðkenndur: þú ert sú manneskja sem þú segist vera.</p>
<p lang="en">This page stands in for that of an identity provider. Nobody is identified here: you are who you say you are.</p>
<form action="{{.Back}}" method="get">
<input type="hidden" name="state" value="{{.State}}">
<p><label for="kennitala">Kennitala</label>
<input id="kennitala" name="kennitala" inputmode="numeric" autocomplete="off" maxlength="11" required autofocus></p>
<p><button type="submit">Skrá inn <span lang="en">/ Log in</span></button></p>
</form>
<form action="{{.Back}}" method="get">
<input type="hidden" name="state" value="{{.State}}">
<input type="hidden" name="error" value="access_denied">
<p><button type="submit">Hætta við <span lang="en">/ Cancel</span></button></p>
</form>
</main>
</body>
</html>
`))

// maxState is the longest state that the page accepts; those of the server are shorter.
const maxState = 100

// serveTrialLogin serves the login page of the simulated provider.
func serveTrialLogin(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Security-Policy", "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	state := r.URL.Query().Get("state")
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "Method not allowed", http.StatusMethodNotAllowed)
		return
	case state == "" || len(state) > maxState:
		http.Error(w, "There is no login here", http.StatusBadRequest)
		return
	}
	var out bytes.Buffer
	if err := trialLoginTemplate.Execute(&out, map[string]string{"Back": LoginPath, "State": state}); err != nil {
		http.Error(w, "Internal error", http.StatusInternalServerError)
		return
	}
	header.Set("Content-Type", "text/html; charset=utf-8")
	out.WriteTo(w)
}
