package ciba_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp/ciba"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

const kennitala = "0101302989"

// connect returns a client of a provider that knows one person.
func connect(t *testing.T, o openidtest.Options, change func(*ciba.Options)) (*openidtest.Provider, *ciba.Client) {
	t.Helper()
	p := openidtest.Start(t, o)
	p.Person(person(openidtest.Answer{}))
	return p, client(t, p, o, change)
}

func person(a openidtest.Answer) openidtest.Person {
	return openidtest.Person{Kennitala: kennitala, Phone: "5550101", Name: "Anna Örk", Key: openidtest.RSAKey(), Answer: a}
}

func client(t *testing.T, p *openidtest.Provider, o openidtest.Options, change func(*ciba.Options)) *ciba.Client {
	t.Helper()
	options := ciba.Options{
		Issuer: p.Issuer, Discovery: p.Discovery, ClientID: p.ClientID, Secret: p.Secret,
		Key: p.Key, KeyID: p.KeyID, Algorithm: o.Algorithm, PrivateKeyJWT: o.PrivateKeyJWT,
	}
	if o.PrivateKeyJWT {
		options.Secret = ""
	}
	if change != nil {
		change(&options)
	}
	c, err := ciba.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func appAuth() ciba.Request {
	return ciba.Request{LoginHint: kennitala, Scope: []string{"openid", "profile", "signature"}, ACR: "app-auth", BindingMessage: "Innskráning 1234"}
}

func ask(t *testing.T, c *ciba.Client, r ciba.Request) ciba.Asked {
	t.Helper()
	asked, err := c.Ask(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return asked
}

// poll asks for the tokens until the person has answered.
func poll(t *testing.T, c *ciba.Client, id string) (tokens ciba.Tokens, err error) {
	t.Helper()
	testenv.Wait(t, "the person's answer", func() bool {
		tokens, err = c.Tokens(t.Context(), id)
		var refused *ciba.Error
		return !errors.As(err, &refused) || !refused.Pending()
	})
	return tokens, err
}

// authenticate is a whole round.
func authenticate(t *testing.T, c *ciba.Client) (ciba.Claims, error) {
	t.Helper()
	tokens, err := poll(t, c, ask(t, c, appAuth()).ID)
	if err != nil {
		t.Fatal(err)
	}
	return c.Claims(t.Context(), tokens)
}

// identified is a whole round.
func identified(t *testing.T, c *ciba.Client) {
	t.Helper()
	claims, err := authenticate(t, c)
	if err != nil {
		t.Error(err)
	}
	got := []string{claims.Text("nationalRegisterId"), claims.Text("name"), claims.Text("certificate")}
	if d := cmp.Diff([]string{kennitala, "Anna Örk", "na"}, got); d != "" {
		t.Error(d)
	}
}

// Every way to sign and to authenticate is one that a certified provider takes, which
// demands iat, nbf, exp and jti of what is signed.
func TestProviderTakesRequests(t *testing.T) {
	for _, algorithm := range []string{"RS256", "PS256", "ES256"} {
		t.Run(algorithm, func(t *testing.T) {
			_, c := connect(t, openidtest.Options{Algorithm: algorithm}, nil)
			identified(t, c)
		})
		t.Run("assertion in "+algorithm, func(t *testing.T) {
			_, c := connect(t, openidtest.Options{Algorithm: algorithm, PrivateKeyJWT: true}, nil)
			identified(t, c)
		})
	}
}

func TestProviderTakesClients(t *testing.T) {
	p, _ := connect(t, openidtest.Options{}, nil)
	for name, change := range map[string]func(*ciba.Options){
		"with a form-encoded secret": func(o *ciba.Options) { o.FormSecret = true },
		"without a kid":              func(o *ciba.Options) { o.KeyID = "" },
		"without discovery": func(o *ciba.Options) {
			o.Discovery = p.URL("nowhere")
			o.Endpoints = ciba.Endpoints{
				BackchannelAuthentication: p.URL(openidtest.Backchannel),
				Token:                     p.URL(openidtest.Token),
				UserInfo:                  p.URL(openidtest.UserInfo),
				JWKS:                      p.URL(openidtest.JWKS),
			}
		},
	} {
		t.Run(name, func(t *testing.T) { identified(t, client(t, p, openidtest.Options{}, change)) })
	}
}

// An issuer is a name, which need not be where the provider is.
func TestIssuerIsElsewhere(t *testing.T) {
	_, c := connect(t, openidtest.Options{Issuer: "https://idp.example:443/realms/audkenni"}, nil)
	identified(t, c)
}

// A provider whose metadata lacks the endpoint of CIBA is asked at the one of the options.
func TestEndpointIsNotDiscovered(t *testing.T) {
	p, c := connect(t, openidtest.Options{Undiscovered: true}, nil)
	var fault *ciba.TransportError
	if _, err := c.Ask(t.Context(), appAuth()); !errors.As(err, &fault) || fault.Sent {
		t.Errorf("without the endpoint: %v", err)
	}
	identified(t, client(t, p, openidtest.Options{}, func(o *ciba.Options) {
		o.Endpoints.BackchannelAuthentication = p.URL(openidtest.Backchannel)
	}))
}
