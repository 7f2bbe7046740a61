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

// BrowserOptions describe logins on the provider's pages.
type BrowserOptions struct {
	// Client is known to the provider for the code flow; it needs no key.
	Client *ciba.Client
	// Redirect is where the provider sends the browser back to: the redirect_uri, as
	// registered.
	Redirect string
	Scope    []string // none: "openid profile"
	ACR      []string // acr_values, the best first; none: the provider's choice
	// Parameters are further ones of the authorization request, such as ui_locales.
	Parameters url.Values
	// Lifetime is how long a login may take; 0: 10 minutes.
	Lifetime time.Duration
	Reading  Reading
}

// Browser sends people to the provider's pages.
type Browser struct{ options BrowserOptions }

// BrowserState is a login between Begin and Finish. It has to be kept for the browser that
// began it and no other, or somebody can be made to log in as somebody else.
type BrowserState struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	Expires  time.Time `json:"expires"`
}

// NewBrowser checks the options.
func NewBrowser(o BrowserOptions) (*Browser, error) {
	if err := check(o.Client); err != nil {
		return nil, err
	}
	if u, err := url.Parse(o.Redirect); err != nil || u.Scheme == "" || u.Host == "" || u.Fragment != "" { // RFC 6749 3.1.2
		return nil, fmt.Errorf("login: redirect %q is not an absolute address without a fragment", o.Redirect)
	}
	return &Browser{o}, nil
}

// Check asks the provider for all that can be asked without a person; see
// [ciba.Client.CheckCode]. It does not find out whether the provider knows the redirect.
func (b *Browser) Check(ctx context.Context) (ciba.Report, error) {
	return b.options.Client.CheckCode(ctx, b.options.Redirect)
}

// Begin returns the address to send the browser to.
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
	parameters.Set("scope", strings.Join(scope(b.options.Scope), " "))
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

// Finish reads the query with which the browser came back. A [*ciba.Error] with the status 0
// is what the provider answered in it. After any error the login begins anew.
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
	if nonce, _ := claims.ID["nonce"].(string); !same(nonce, s.Nonce) { // OpenID Connect Core 3.1.3.7, 11
		return Identity{}, ErrForeign
	}
	return b.options.Reading.identity(claims)
}

const maxCode = 8 << 10 // bytes

// code returns the code of an answer to this login (RFC 6749 4.1.2).
func (b *Browser) code(s BrowserState, query url.Values) (string, error) {
	for _, name := range []string{"state", "iss", "code", "error", "error_description"} {
		if len(query[name]) > 1 { // RFC 6749 3.1
			return "", ErrForeign
		}
	}
	issuer := query.Get("iss")
	switch {
	case !same(query.Get("state"), s.State), issuer != "" && issuer != b.options.Client.Issuer(): // RFC 9207 2.4
		return "", ErrForeign
	case time.Now().After(s.Expires):
		return "", ErrExpired
	case query.Has("error"):
		return "", ciba.Redirected(query)
	}
	code := query.Get("code")
	if code == "" || len(code) > maxCode {
		return "", ErrForeign
	}
	return code, nil
}

// same compares secrets.
func same(a, b string) bool {
	return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}
