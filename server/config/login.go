package config

import (
	"cmp"
	"log/slog"
	"maps"
	"net/url"
	"slices"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/ciba"
	"github.com/innsigli/innsigli/idp/login"
	"github.com/innsigli/innsigli/server"
)

// Login is [login]: who says who a person is that opens the signing page.
type Login struct {
	Client
	Scopes         []string          `toml:"scopes"`
	ACRValues      []string          `toml:"acr-values"`
	Parameters     map[string]string `toml:"parameters"`
	KennitalaClaim string            `toml:"kennitala-claim"`
	NameClaim      string            `toml:"name-claim"`
	Methods        []string          `toml:"methods"`
	Phone          *Phone            `toml:"phone"`
}

// Phone is [login.phone]. Scopes and claims are those of the browser.
type Phone struct {
	Text   string `toml:"text"`
	AppACR string `toml:"app-acr"`
	SIMACR string `toml:"sim-acr"`
}

// LoginProvider is what is made of [login].
type LoginProvider struct {
	Client  ciba.Options
	Browser login.BrowserOptions              // without its client and redirect
	Phones  map[idp.Method]login.PhoneOptions // without their client; empty: nobody is asked on a phone
}

// OpenBrowser makes the login in a browser, which leads back to an address. Nobody is called yet.
func (p LoginProvider) OpenBrowser(redirect string) (*login.Browser, error) {
	client, err := ciba.New(p.Client)
	if err != nil {
		return nil, err
	}
	p.Browser.Client, p.Browser.Redirect = client, redirect
	return login.NewBrowser(p.Browser)
}

// open makes all ways to log in to a server at an address. Nobody is called yet.
func (p LoginProvider) open(baseURL string, refusal func(error) *idp.Failure, log *slog.Logger) (l server.OpenIDLogin, err error) {
	l = server.OpenIDLogin{Phones: make(map[idp.Method]*login.Phone), Refusal: refusal, Log: log}
	if l.Browser, err = p.OpenBrowser(baseURL + server.LoginPath); err != nil || p.Phones == nil {
		return l, err
	}
	client, err := ciba.New(p.Client)
	if err != nil {
		return l, err
	}
	for method, o := range p.Phones {
		o.Client = client
		if l.Phones[method], err = login.NewPhone(o); err != nil {
			return l, err
		}
	}
	return l, nil
}

// read checks the section; nil when there is none.
func (l *Login) read(root section) *LoginProvider {
	if l == nil {
		return nil
	}
	s, before := root.in("login"), len(*root.found)
	s.in("endpoints").unused("without [login.phone]", "backchannel-authentication", l.Phone == nil && l.Endpoints.BackchannelAuthentication != "")
	p := &LoginProvider{Client: l.Client.read(s, l.Phone != nil)}
	p.Browser = login.BrowserOptions{
		Scope:      l.Scopes,
		ACR:        l.ACRValues,
		Parameters: l.readParameters(s.in("parameters")),
		Claims:     login.ClaimRules{Kennitala: l.KennitalaClaim, Name: l.NameClaim, Methods: l.Methods},
	}
	if len(p.Browser.Claims.Methods) == 0 { // a browser can be made to ask for another than acr-values
		p.Browser.Claims.Methods = p.Browser.ACR
	}
	if len(l.Scopes) > 0 && !slices.Contains(l.Scopes, "openid") { // OpenID Connect Core 1.0 3.1.2.1
		s.fault("scopes", "openid is not among them")
	}
	if l.Phone != nil {
		p.Phones = l.Phone.read(s.in("phone"), p.Browser)
	}
	if len(*root.found) > before {
		return p
	}
	if _, err := p.OpenBrowser("https://localhost/"); err != nil {
		root.fault("login", "%v", err)
	}
	return p
}

// ownParameters are the parameters of an authorization request that follow from the login and
// from other keys (OpenID Connect Core 1.0 3.1.2.1, RFC 7636 4.3), or would take the place of
// them (OpenID Connect Core 1.0 6).
var ownParameters = []string{
	"client_id", "response_type", "response_mode", "redirect_uri", "scope", "state", "nonce",
	"code_challenge", "code_challenge_method", "acr_values", "request", "request_uri",
}

// readParameters returns further parameters of the authorization request.
func (l *Login) readParameters(s section) url.Values {
	parameters := make(url.Values)
	for _, name := range slices.Sorted(maps.Keys(l.Parameters)) {
		if slices.Contains(ownParameters, name) {
			s.fault(name, "is not for a configuration to say")
		}
		parameters.Set(name, l.Parameters[name])
	}
	return parameters
}

func (p *Phone) read(s section, b login.BrowserOptions) map[idp.Method]login.PhoneOptions {
	phone := login.PhoneOptions{Scope: b.Scope, Text: p.Text, Claims: b.Claims}
	app, sim := phone, phone
	app.ACR, sim.ACR = cmp.Or(p.AppACR, "app-auth"), cmp.Or(p.SIMACR, "sim-auth")
	phone.Client = new(ciba.Client) // of which nothing is asked
	_, err := login.NewPhone(phone)
	s.judged("text", err)
	return map[idp.Method]login.PhoneOptions{idp.App: app, idp.SIM: sim}
}
