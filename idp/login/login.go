// Package login finds out who a person is, from an identity provider: on the provider's own
// pages in the person's browser ([Browser]), or on the person's phone ([Phone]).
//
// Browser is OpenID Connect's code flow with PKCE (OpenID Connect Core 1.0 section 3.1,
// RFC 7636 with S256, RFC 9207):
//
//	browser, err := login.NewBrowser(login.BrowserOptions{Client: client, Redirect: "https://sign.example/back"})
//	address, state, err := browser.Begin(ctx) // keep state for this browser, redirect it to address
//	identity, err := browser.Finish(ctx, state, r.URL.Query())
//
// Phone is CIBA. The code is shown on the page and on the phone, for the person to compare:
//
//	phone, err := login.NewPhone(login.PhoneOptions{Client: client, ACR: "app-auth"})
//	state, err := phone.Begin(ctx, kennitala)
//	// show state.Code, and every state.Interval:
//	state, identity, err := phone.Poll(ctx, state) // nil and nil: not yet
//
// Nothing is kept between the calls: what a login needs travels in its state, which is JSON
// and secret. A state is good for one login: the caller drops it when the login has ended.
//
// # Errors
//
// Errors of the provider are those of package ciba: [*ciba.Error] when it refuses, among them
// "access_denied" for a person who does not want to; [*ciba.TransportError]; and
// [*ciba.UntrustedError]. The package's own are [ErrForeign], [ErrExpired], [ErrMethod],
// [ErrNoKennitala] and [ErrTwoPeople]. No error text names a person.
package login

import (
	"errors"

	"github.com/innsigli/innsigli/idp/ciba"
)

var (
	// ErrForeign: the answer does not belong to the login.
	ErrForeign = errors.New("login: the answer is not one to this login")
	// ErrExpired: the login took too long.
	ErrExpired = errors.New("login: expired")
	// ErrMethod: the person was identified by another method than those that count.
	ErrMethod = errors.New("login: identified by a method that does not count")
	// ErrNoKennitala: the provider does not say the person's kennitala.
	ErrNoKennitala = errors.New("login: the provider names no kennitala")
	// ErrTwoPeople: the ID token and the userinfo have different kennitalas.
	ErrTwoPeople = errors.New("login: the ID token and the userinfo have different kennitalas")
)

// Identity is who a person is, by the word of the provider.
type Identity struct {
	Kennitala string // 10 digits
	Name      string // may be empty
	Subject   string // the provider's own name for the person, which says nothing elsewhere
}

// Reading is how a provider's claims are understood.
type Reading struct {
	// Kennitala is the claim with the kennitala, bare, with a hyphen, or in the form of
	// EN 319 412-1 5.1.3 ("PNOIS-"); empty: "nationalRegisterId".
	Kennitala string
	// Name is the claim with the person's name; empty: "name".
	Name string
	// Methods are the values of acr in the ID token that count; none: any does. What a browser
	// was asked to request can be changed on the way, and this is what finds it.
	Methods []string
}

var errNoClient = errors.New("login: no client")

func check(c *ciba.Client) error {
	if c == nil {
		return errNoClient
	}
	return nil
}
