// Package login authenticates a person through an OpenID provider: on the provider's pages in the person's browser
// ([Browser]), or on the person's phone ([Phone]).
//
// Browser uses the authorization code flow with PKCE (OpenID Connect Core 1.0 section 3.1, RFC 7636 with S256,
// RFC 9207):
//
//	browser, err := login.NewBrowser(login.BrowserOptions{Client: client, Redirect: "https://sign.example/back"})
//	address, state, err := browser.Begin(ctx) // store state for this browser, redirect it to address
//	identity, err := browser.Finish(ctx, state, r.URL.Query())
//
// Phone uses CIBA. The page and the phone show the same code, which the person compares:
//
//	phone, err := login.NewPhone(login.PhoneOptions{Client: client, ACR: "app-auth"})
//	state, err := phone.Begin(ctx, kennitala)
//	// show state.Code, and every state.Interval:
//	state, identity, err := phone.Poll(ctx, state) // identity and err are nil: poll again
//
// The package stores nothing between calls. All that a login needs is in its state, which can be encoded as JSON and is
// secret. A state is for one login: the caller deletes it when the login has ended.
//
// # Errors
//
// Errors of the provider are those of package ciba: [*ciba.Error] if it refuses, with "access_denied" if the person
// does; [*ciba.TransportError]; and [*ciba.UntrustedError]. The other errors are [ErrMismatch], [ErrExpired],
// [ErrMethod], [ErrNoKennitala] and [ErrKennitalaMismatch]. No error text names a person.
package login

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"

	"github.com/innsigli/innsigli/idp/ciba"
)

var (
	// ErrMismatch is returned for an answer that does not belong to the login.
	ErrMismatch = errors.New("login: the answer does not belong to this login")
	// ErrExpired is returned after the login has expired.
	ErrExpired = errors.New("login: expired")
	// ErrMethod is returned if the person was authenticated by a method that is not accepted.
	ErrMethod = errors.New("login: the authentication method is not accepted")
	// ErrNoKennitala is returned if the claims have no kennitala.
	ErrNoKennitala = errors.New("login: the claims have no kennitala")
	// ErrKennitalaMismatch is returned if the ID token and the userinfo have different kennitalas.
	ErrKennitalaMismatch = errors.New("login: the ID token and the userinfo have different kennitalas")
)

// Identity is a person, as identified by the provider.
type Identity struct {
	Kennitala string // 10 digits
	Name      string // may be empty
	Subject   string // the provider's identifier of the person (sub)
	Issuer    string
	ACR       string // the claim acr of the ID token; may be empty
	// TokenSum is the SHA-256 of the ID token as it was received.
	TokenSum [sha256.Size]byte
}

// ClaimRules describe the claims of a provider.
type ClaimRules struct {
	// Kennitala is the claim with the kennitala: with or without a hyphen, or a semantics identifier of EN 319 412-1
	// 5.1.3 ("PNOIS-"); empty: "nationalRegisterId".
	Kennitala string
	// Name is the claim with the person's name; empty: "name".
	Name string
	// Methods are the accepted values of acr in the ID token; none: those that the login requests
	// ([BrowserOptions].ACR, [PhoneOptions].ACR) or, if it requests none, all. A provider may ignore what is requested,
	// and a person can change it in the browser, so the answer counts.
	Methods []string
}

// withDefault returns the rules with the requested methods in place of missing ones.
func (r ClaimRules) withDefault(requested []string) ClaimRules {
	if len(r.Methods) == 0 {
		r.Methods = requested
	}
	return r
}

var errNoClient = errors.New("login: the client is missing")

// checkClient returns an error if there is no client.
func checkClient(c *ciba.Client) error {
	if c == nil {
		return errNoClient
	}
	return nil
}

// identity returns the person whom the claims of the tokens identify. If both the ID token and the userinfo have a kennitala, it
// has to be the same.
func (r ClaimRules) identity(c *ciba.Client, tokens ciba.Tokens, claims ciba.Claims) (Identity, error) {
	method, _ := claims.ID["acr"].(string)
	if len(r.Methods) > 0 && (method == "" || !slices.Contains(r.Methods, method)) {
		return Identity{}, ErrMethod
	}
	claim := cmp.Or(r.Kennitala, "nationalRegisterId")
	number, ok := parseKennitala(claims.Text(claim))
	if !ok {
		return Identity{}, ErrNoKennitala
	}
	if other, ok := parseKennitala(ciba.Claims{ID: claims.ID}.Text(claim)); ok && other != number {
		return Identity{}, ErrKennitalaMismatch
	}
	return Identity{
		Kennitala: number,
		Name:      claims.Text(cmp.Or(r.Name, "name")),
		Subject:   claims.Text("sub"),
		Issuer:    c.Issuer(),
		ACR:       method,
		TokenSum:  sha256.Sum256([]byte(tokens.ID)),
	}, nil
}

// parseKennitala returns the 10 digits of a kennitala in the forms of ClaimRules.Kennitala.
func parseKennitala(claim string) (string, bool) {
	digits := strings.ReplaceAll(strings.TrimPrefix(claim, "PNOIS-"), "-", "")
	return digits, len(digits) == 10 && strings.Trim(digits, "0123456789") == ""
}

// scopeOrDefault returns the scope of the options, or else "openid profile".
func scopeOrDefault(s []string) []string {
	if len(s) == 0 {
		return []string{"openid", "profile"}
	}
	return s
}
