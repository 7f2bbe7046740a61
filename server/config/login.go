package config

import (
	"cmp"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/ciba"
	"github.com/innsigli/innsigli/idp/login"
	"github.com/innsigli/innsigli/server"
)

// Login is the section [login]: the provider that identifies the people who open the signing page.
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

// Phone is the section [login.phone]. Its scopes and claims are those of logins in a browser.
type Phone struct {
	Text   string `toml:"text"`
	AppACR string `toml:"app-acr"`
	SIMACR string `toml:"sim-acr"`
}

// LoginProvider has the values that were read from [login].
type LoginProvider struct {
	Client  ciba.Options
	Browser login.BrowserOptions              // without Client and Redirect
	Phones  map[idp.Method]login.PhoneOptions // without Client; empty: no login on phones
}

// OpenBrowser returns the login in a browser with a redirect URI. It makes no request.
func (p LoginProvider) OpenBrowser(redirect string) (*login.Browser, error) {
	client, err := ciba.New(p.Client)
	if err != nil {
		return nil, err
	}
	p.Browser.Client, p.Browser.Redirect = client, redirect
	return login.NewBrowser(p.Browser)
}

// open returns all ways to log in to a server with a base URL. It makes no request.
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

// read reads and checks the section; it returns nil if there is none.
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
	s.methods("acr-values", l.ACRValues)
	s.methods("methods", l.Methods)
	if len(l.Scopes) > 0 && !slices.Contains(l.Scopes, "openid") { // OpenID Connect Core 1.0 3.1.2.1
		s.fault("scopes", "must include openid")
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

// methods adds a fault for each value that no acr of an ID token has: acr_values is a list that spaces separate.
func (s section) methods(key string, values []string) {
	for i, v := range values {
		if v == "" || strings.ContainsFunc(v, unicode.IsSpace) {
			s.fault(indexed(key, i), "%q is not one value of acr", v)
		}
	}
}

// checkMethods adds a fault if the section accepts a login whatever the authentication method, as a password alone
// (spec 7.5).
func (l *Login) checkMethods(found *Faults) {
	if l != nil && len(l.ACRValues) == 0 && len(l.Methods) == 0 && !found.about("login.acr-values") && !found.about("login.methods") {
		found.add("login.acr-values", "is missing, and so is methods: a login by any method would be accepted, however weak")
	}
}

// reservedParameters are the parameters of an authorization request that the server sets (OpenID Connect Core 1.0 3.1.2.1,
// RFC 7636 4.3), or that would replace them (OpenID Connect Core 1.0 6).
var reservedParameters = []string{
	"client_id", "response_type", "response_mode", "redirect_uri", "scope", "state", "nonce",
	"code_challenge", "code_challenge_method", "acr_values", "request", "request_uri",
}

// readParameters returns the additional parameters of the authorization request.
func (l *Login) readParameters(s section) url.Values {
	parameters := make(url.Values)
	for _, name := range slices.Sorted(maps.Keys(l.Parameters)) {
		if slices.Contains(reservedParameters, name) {
			s.fault(name, "is set by the server: remove it")
		}
		parameters.Set(name, l.Parameters[name])
	}
	return parameters
}

func (p *Phone) read(s section, b login.BrowserOptions) map[idp.Method]login.PhoneOptions {
	phone := login.PhoneOptions{Scope: b.Scope, Text: p.Text, Claims: b.Claims}
	app, sim := phone, phone
	app.ACR, sim.ACR = cmp.Or(p.AppACR, "app-auth"), cmp.Or(p.SIMACR, "sim-auth")
	phone.Client = new(ciba.Client) // required, but not used by the check
	_, err := login.NewPhone(phone)
	s.check("text", err)
	return map[idp.Method]login.PhoneOptions{idp.App: app, idp.SIM: sim}
}
