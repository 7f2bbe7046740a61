package ciba_test

import (
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp/ciba"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// calls are the statuses of the calls of an endpoint.
func calls(p *openidtest.Provider, e openidtest.Endpoint) (statuses []int) {
	for _, c := range p.Calls() {
		if c.Endpoint == e {
			statuses = append(statuses, c.Status)
		}
	}
	return statuses
}

// A key that is new is found at once, and one that was withdrawn does not count any more,
// as soon as the client has heard of it.
func TestKeysChange(t *testing.T) {
	p, c := connect(t, openidtest.Options{}, nil)
	old, err := poll(t, c, ask(t, c, appAuth()).ID)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := c.Claims(t.Context(), old); err != nil {
			t.Fatal(err)
		}
	}
	p.RotateKeys(true)
	if _, err := authenticate(t, c); err != nil {
		t.Errorf("with a new key: %v", err)
	}
	if _, err := c.Claims(t.Context(), old); err != nil {
		t.Errorf("the old key is still there: %v", err)
	}
	p.RotateKeys(false)
	if _, err := authenticate(t, c); err != nil {
		t.Errorf("with a new key alone: %v", err)
	}
	if d := cmp.Diff([]int{200, 200, 200}, calls(p, openidtest.JWKS)); d != "" {
		t.Errorf("requests for keys: %s", d)
	}
	// It is looked for, and not looked for again so soon.
	for range 2 {
		var fault *ciba.TransportError
		if _, err := c.Claims(t.Context(), old); !errors.As(err, &fault) {
			t.Errorf("a withdrawn key: %v", err)
		}
	}
	if d := cmp.Diff([]int{200, 200, 200, 200}, calls(p, openidtest.JWKS)); d != "" {
		t.Errorf("requests for keys: %s", d)
	}
}

// The keys are published later than they sign: the token is good from then on.
func TestKeysAreBehind(t *testing.T) {
	for name, test := range map[string]struct {
		kid    string
		before http.HandlerFunc
	}{
		"with other keys": {"1", keys(t, openidtest.RSAKey())},
		"with no keys":    {"1", keys(t)},
		"with no names":   {"", keys(t)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				next, err := rsa.GenerateKey(rand.Reader, 2048)
				if err != nil {
					t.Fatal(err)
				}
				published, fetched := test.before, 0
				w := unwired(map[string]http.HandlerFunc{
					"/userinfo": says(200, "", `{"sub":"a"}`),
					"/keys":     func(w http.ResponseWriter, r *http.Request) { fetched++; published(w, r) },
				})
				c := w.client(t, nil)
				tokens := ciba.Tokens{Access: "secret-access", ID: token(t, w.URL, jose.RS256, test.kid, next, nil), Received: time.Now()}
				for range 60 { // every 5 seconds
					_, err := c.Claims(t.Context(), tokens)
					if d := cmp.Diff([]any{"fault", false, 0, time.Duration(0)}, withoutCause(err)); d != "" {
						t.Fatal(err, d)
					}
					discreet(t, err)
					time.Sleep(5 * time.Second)
				}
				if fetched != 30 { // every 10 seconds
					t.Errorf("fetched %d times", fetched)
				}
				published = keys(t, openidtest.RSAKey(), next)
				if _, err := c.Claims(t.Context(), tokens); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A signature that is not of the key that it names is final, once the keys were read again.
func TestKeysDoNotFit(t *testing.T) {
	fetched, published := 0, keys(t, openidtest.RSAKey())
	w := newWire(t, map[string]http.HandlerFunc{
		"/userinfo": says(200, "", `{"sub":"a"}`),
		"/keys":     func(w http.ResponseWriter, r *http.Request) { fetched++; published(w, r) },
	})
	c := w.client(t, nil)
	if _, err := c.Claims(t.Context(), tokensFor(t, c, nil)); err != nil {
		t.Fatal(err)
	}
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	forged := ciba.Tokens{Access: "secret-access", ID: token(t, w.URL, jose.RS256, "0", other, nil)}
	_, err = c.Claims(t.Context(), forged)
	if d := cmp.Diff([]any{"untrusted"}, withoutCause(err)); d != "" || fetched != 2 {
		t.Errorf("%v after the keys were fetched %d times", err, fetched)
	}
}

// A provider that was killed and started again goes on with what it was asked before.
func TestProviderRestarts(t *testing.T) {
	p, c := connect(t, openidtest.Options{}, nil)
	p.Person(person(openidtest.Answer{Silent: true}))
	asked := ask(t, c, appAuth())
	p.Stop()
	var fault *ciba.TransportError
	if _, err := c.Tokens(t.Context(), asked.ID); !errors.As(err, &fault) || fault.Status != 0 {
		t.Fatalf("while the provider is away: %v", err)
	}
	p.Go()
	p.Person(person(openidtest.Answer{}))
	tokens, err := poll(t, c, asked.ID)
	if err != nil {
		t.Fatal(err)
	}
	p.Restart()
	if _, err := c.Claims(t.Context(), tokens); err != nil {
		t.Error(err)
	}
}
