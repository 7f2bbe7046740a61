package main

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/ciba"
	"github.com/innsigli/innsigli/idp/login"
)

// loginProvider is the [login] of a configuration: who says who a person is that opens the
// signing page.
type loginProvider struct {
	client  ciba.Options
	browser login.BrowserOptions              // without its client and address
	phones  map[idp.Method]login.PhoneOptions // without their client; empty: nobody is asked there
	made    [sha256.Size]byte                 // as in identityProvider
}

// open makes a login that leads back to an address. Nobody is called yet.
func (p loginProvider) open(redirect string) (*login.Browser, error) {
	client, err := ciba.New(p.client)
	if err != nil {
		return nil, err
	}
	p.browser.Client, p.browser.Redirect = client, redirect
	return login.NewBrowser(p.browser)
}

// same says whether two were made of the same.
func (p *loginProvider) same(other *loginProvider) bool {
	return p == other || p != nil && other != nil && p.made == other.made
}

// readLogin reads a [login]; nil when there is none.
func readLogin(root section, files configFiles) *loginProvider {
	if !root.has("login") {
		return nil
	}
	t := root.section("login")
	said, before := fmt.Sprint(t.values), len(*t.faults)
	asks, endpoints := t.has("phone"), []string{"authorization", "token", "userinfo", "jwks"}
	if asks {
		endpoints = append(endpoints, "backchannel-authentication")
	}
	p := &loginProvider{client: readClient(t, files, asks)}
	p.client.Endpoints = readEndpoints(t.section("endpoints"), endpoints...)
	p.browser = login.BrowserOptions{
		Scope:      t.list("scopes"),
		ACR:        t.list("acr-values"),
		Parameters: readParameters(t.section("parameters")),
		Reading:    login.Reading{Kennitala: t.text("kennitala-claim"), Name: t.text("name-claim"), Methods: t.list("methods")},
	}
	if len(p.browser.Reading.Methods) == 0 { // a browser can be made to ask for another than acr-values
		p.browser.Reading.Methods = p.browser.ACR
	}
	if scopes := p.browser.Scope; len(scopes) > 0 && !slices.Contains(scopes, "openid") { // OpenID Connect Core 1.0 3.1.2.1
		t.fault("scopes", "openid is not among them")
	}
	if asks {
		p.phones = readPhones(t.section("phone"), p.browser)
	}
	t.end()
	if len(*t.faults) > before {
		return p
	}
	if _, err := p.open("https://localhost/"); err != nil {
		root.fault("login", "%v", err)
	}
	p.made = fingerprint(said, p.client)
	return p
}

// ofEachLogin are the parameters of an authorization request that follow from the login and
// from other keys (OpenID Connect Core 1.0 3.1.2.1, RFC 7636 4.3), or would take the place of
// them (OpenID Connect Core 1.0 6).
var ofEachLogin = []string{
	"client_id", "response_type", "response_mode", "redirect_uri", "scope", "state", "nonce",
	"code_challenge", "code_challenge_method", "acr_values", "request", "request_uri",
}

// readParameters reads further ones of the authorization request.
func readParameters(t section) url.Values {
	parameters := make(url.Values)
	for _, name := range slices.Sorted(maps.Keys(t.values)) {
		if slices.Contains(ofEachLogin, name) {
			t.fault(name, "is not for a configuration to say")
		}
		parameters.Set(name, t.text(name))
	}
	return parameters
}

// readPhones reads a [login.phone]. Scopes and claims are those of the browser.
func readPhones(t section, b login.BrowserOptions) map[idp.Method]login.PhoneOptions {
	phone := login.PhoneOptions{Scope: b.Scope, Text: t.text("text"), Reading: b.Reading}
	app, sim := phone, phone
	app.ACR = cmp.Or(t.text("app-acr"), "app-auth")
	sim.ACR = cmp.Or(t.text("sim-acr"), "sim-auth")
	phone.Client = new(ciba.Client) // of which nothing is asked
	_, err := login.NewPhone(phone)
	t.judged("text", err)
	t.end()
	return map[idp.Method]login.PhoneOptions{idp.App: app, idp.SIM: sim}
}
