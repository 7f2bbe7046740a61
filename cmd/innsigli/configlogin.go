package main

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/innsigli/innsigli/idp/ciba"
	"github.com/innsigli/innsigli/idp/login"
)

// loginProvider is the [login] of a configuration: who says who a person is that opens the
// signing page.
type loginProvider struct {
	client  ciba.Options
	browser login.BrowserOptions // without its client and address
	made    [sha256.Size]byte    // as in identityProvider
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
	t.required("issuer", "client-id", "client-secret-file")
	p := &loginProvider{
		client: ciba.Options{
			Issuer:     t.secureURL("issuer"),
			Discovery:  t.secureURL("discovery"),
			ClientID:   t.text("client-id"),
			Secret:     readNamed(t, "client-secret-file", files.secret),
			FormSecret: t.oneOf("secret-encoding", "raw", "form") == "form",
		},
		browser: login.BrowserOptions{
			Scope:   t.list("scopes"),
			ACR:     t.list("acr-values"),
			Reading: login.Reading{Kennitala: t.text("kennitala-claim"), Name: t.text("name-claim")},
		},
	}
	if scopes := p.browser.Scope; len(scopes) > 0 && !slices.Contains(scopes, "openid") { // OpenID Connect Core 1.0 3.1.2.1
		t.fault("scopes", "openid is not among them")
	}
	t.end()
	if len(*t.faults) > before {
		return p
	}
	if _, err := p.open("https://localhost/"); err != nil {
		root.fault("login", "%v", err)
	}
	p.made = sha256.Sum256(fmt.Appendf(nil, "%q %q", said, p.client.Secret))
	return p
}
