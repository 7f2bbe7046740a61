package login

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/innsigli/innsigli/idp/ciba"
)

// BrowserOptions configure a [Browser].
type BrowserOptions struct {
	// Client is registered for the authorization code flow; it needs no key.
	Client *ciba.Client
	// Redirect is the registered redirect_uri, to which the provider redirects the browser after the login.
	Redirect string
	Scope    []string // none: "openid profile"
	ACR      []string // acr_values in order of preference; none: the provider chooses. See ClaimRules.Methods
	// Parameters are further parameters of the authorization request, such as ui_locales.
	Parameters url.Values
	// Lifetime is the lifetime of a login; 0: 10 minutes.
	Lifetime time.Duration
	Claims   ClaimRules
}

// Browser authenticates people on the provider's pages.
type Browser struct{ options BrowserOptions }

// BrowserState is the state of a login between Begin and Finish. The caller must bind it to the browser that began the
// login. Otherwise an attacker can log a victim in as another person (login CSRF).
type BrowserState struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	Expires  time.Time `json:"expires"`
}

// NewBrowser returns a Browser.
func NewBrowser(o BrowserOptions) (*Browser, error) {
	if err := checkClient(o.Client); err != nil {
		return nil, err
	}
	if u, err := url.Parse(o.Redirect); err != nil || u.Scheme == "" || u.Host == "" || u.Fragment != "" { // RFC 6749 3.1.2
		return nil, fmt.Errorf("login: the redirect URL %q must be absolute and have no fragment", o.Redirect)
	}
	o.Claims = o.Claims.withDefault(o.ACR)
	return &Browser{o}, nil
}

// Check tests the provider without asking a person; see [ciba.Client.CheckCode]. It cannot find out whether
// BrowserOptions.Redirect is registered.
func (b *Browser) Check(ctx context.Context) (ciba.Report, error) {
	return b.options.Client.CheckCode(ctx, b.options.Redirect)
}

// Begin returns the address to which the caller redirects the browser.
func (b *Browser) Begin(ctx context.Context) (address string, s BrowserState, err error) {
	s = BrowserState{
		State:    rand.Text(),
		Nonce:    rand.Text(),
		Verifier: oauth2.GenerateVerifier(),
		Expires:  time.Now().Add(cmp.Or(b.options.Lifetime, 10*time.Minute)),
	}
	parameters := make(url.Values)
	maps.Copy(parameters, b.options.Parameters)
	parameters.Set("redirect_uri", b.options.Redirect)
	parameters.Set("scope", strings.Join(scopeOrDefault(b.options.Scope), " "))
	parameters.Set("state", s.State)
	parameters.Set("nonce", s.Nonce)
	parameters.Set("code_challenge", oauth2.S256ChallengeFromVerifier(s.Verifier))
	parameters.Set("code_challenge_method", "S256")
	if len(b.options.ACR) > 0 {
		parameters.Set("acr_values", strings.Join(b.options.ACR, " "))
	}
	address, err = b.options.Client.Authorize(ctx, parameters)
	return address, s, err
}

// Finish completes a login with the query of the provider's redirect. A [*ciba.Error] with the status 0 is the
// provider's error in the query. After an error the caller begins another login.
func (b *Browser) Finish(ctx context.Context, s BrowserState, query url.Values) (Identity, error) {
	code, err := b.code(s, query)
	if err != nil {
		return Identity{}, err
	}
	tokens, err := b.options.Client.Redeem(ctx, url.Values{
		"grant_type":    {"authorization_code"},
		"code":          {code},
		"redirect_uri":  {b.options.Redirect},
		"code_verifier": {s.Verifier},
	})
	if err != nil {
		return Identity{}, err
	}
	claims, err := b.options.Client.Claims(ctx, tokens)
	if err != nil {
		return Identity{}, err
	}
	if nonce, _ := claims.ID["nonce"].(string); !equalSecrets(nonce, s.Nonce) { // OpenID Connect Core 3.1.3.7, 11
		return Identity{}, ErrMismatch
	}
	return b.options.Claims.identity(b.options.Client, tokens, claims)
}

const maxCode = 8 << 10 // bytes

// code returns the authorization code of an answer to the login (RFC 6749 4.1.2).
func (b *Browser) code(s BrowserState, query url.Values) (string, error) {
	for _, name := range []string{"state", "iss", "code", "error", "error_description"} {
		if len(query[name]) > 1 { // RFC 6749 3.1
			return "", ErrMismatch
		}
	}
	issuer := query.Get("iss")
	switch {
	case !equalSecrets(query.Get("state"), s.State), issuer != "" && issuer != b.options.Client.Issuer(): // RFC 9207 2.4
		return "", ErrMismatch
	case time.Now().After(s.Expires):
		return "", ErrExpired
	case query.Has("error"):
		return "", ciba.RedirectError(query)
	}
	code := query.Get("code")
	if code == "" || len(code) > maxCode {
		return "", ErrMismatch
	}
	return code, nil
}

// equalSecrets compares two secrets in constant time. An empty secret equals none.
func equalSecrets(a, b string) bool {
	return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}
