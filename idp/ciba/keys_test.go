package ciba_test

import (
	"crypto/rsa"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"
	"github.com/innsigli/innsigli/idp/ciba"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// TestUnusableKeys checks that keys that are unknown, weak or for another use are ignored (RFC 7517 section 5).
func TestUnusableKeys(t *testing.T) {
	weak := certtest.NewRSAKey(t, 1024)
	strong := openidtest.RSAKey()
	published := func(key *rsa.PrivateKey, use string) string {
		text, err := json.Marshal(jose.JSONWebKey{Key: key.Public(), KeyID: "0", Use: use})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for name, test := range map[string]struct {
		key     *rsa.PrivateKey // strong
		set     string
		trusted bool
	}{
		"none":                       {set: `{"keys":[]}`},
		"no set":                     {set: `{}`},
		"an RSA key of 1024 bits":    {set: `{"keys":[` + published(weak, "sig") + `]}`, key: weak},
		"for encryption":             {set: `{"keys":[` + published(strong, "enc") + `]}`},
		"symmetric":                  {set: `{"keys":[{"kty":"oct","kid":"0","k":"AAAA"}]}`},
		"of a kind to come":          {set: `{"keys":[{"kty":"XYZ","kid":"0"}, 1, null, "a", {}]}`},
		"beside one of a kind":       {set: `{"keys":[{"kty":"XYZ","kid":"0"}, 1, ` + published(strong, "sig") + `]}`, trusted: true},
		"beside more than can be":    {set: `{"keys":[` + strings.Repeat("1,", 100) + published(strong, "sig") + `]}`},
		"beside as many as there be": {set: `{"keys":[` + strings.Repeat("1,", 99) + published(strong, "sig") + `]}`, trusted: true},
	} {
		t.Run(name, func(t *testing.T) {
			key := strong
			if test.key != nil {
				key = test.key
			}
			w := newWire(t, map[string]http.HandlerFunc{"/keys": respond(200, "", test.set), "/userinfo": respond(200, "", `{"sub":"a"}`)})
			id := token(t, w.URL, jose.RS256, "0", key, nil)
			_, err := w.client(t, nil).Claims(t.Context(), ciba.Tokens{Access: "a", ID: id})
			var fault *ciba.TransportError // the key may be published yet
			if test.trusted && err != nil || !test.trusted && !errors.As(err, &fault) {
				t.Error(err)
			}
		})
	}
}

// TestKeysUnavailable checks that the error is a TransportError if the key set cannot be fetched.
func TestKeysUnavailable(t *testing.T) {
	w := newWire(t, map[string]http.HandlerFunc{"/keys": respond(503, "Retry-After: 60", "")})
	c := w.client(t, nil)
	_, err := c.Claims(t.Context(), tokensFor(t, c, nil))
	if d := cmp.Diff([]any{"fault", true, 503, time.Minute}, withoutCause(err)); d != "" {
		t.Error(err, d)
	}
}

// TestKeysConcurrent checks that concurrent calls fetch the keys once.
func TestKeysConcurrent(t *testing.T) {
	var fetched atomic.Int32
	published := keys(t, openidtest.RSAKey())
	w := newWire(t, map[string]http.HandlerFunc{
		"/userinfo": respond(200, "", `{"sub":"a"}`),
		"/keys":     func(w http.ResponseWriter, r *http.Request) { fetched.Add(1); published(w, r) },
	})
	c := w.client(t, nil)
	tokens := tokensFor(t, c, nil)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, err := c.Claims(t.Context(), tokens); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := fetched.Load(); n != 1 {
		t.Errorf("fetched %d times", n)
	}
}

// TestRotationWithoutNewKid checks the rotation of keys that have no kid, or the same one.
func TestRotationWithoutNewKid(t *testing.T) {
	for _, kid := range []string{"", "0"} {
		var current atomic.Value
		current.Store(keys(t, openidtest.RSAKey()))
		w := newWire(t, map[string]http.HandlerFunc{
			"/userinfo": respond(200, "", `{"sub":"a"}`),
			"/keys":     func(w http.ResponseWriter, r *http.Request) { current.Load().(http.HandlerFunc)(w, r) },
		})
		c := w.client(t, nil)
		if _, err := c.Claims(t.Context(), tokensFor(t, c, nil)); err != nil {
			t.Fatal(err)
		}
		next := certtest.NewRSAKey(t, 2048)
		current.Store(keys(t, next))
		id := token(t, w.URL, jose.RS256, kid, next, nil)
		if _, err := c.Claims(t.Context(), ciba.Tokens{Access: "secret-access", ID: id}); err != nil {
			t.Errorf("kid %q: %v", kid, err)
		}
	}
}

// calls returns the statuses of the responses of an endpoint.
func calls(p *openidtest.Provider, e openidtest.Endpoint) (statuses []int) {
	for _, c := range p.Calls() {
		if c.Endpoint == e {
			statuses = append(statuses, c.Status)
		}
	}
	return statuses
}

// TestRotation checks that a new key is found immediately, and that a removed key is not accepted after the key set was
// fetched again.
func TestRotation(t *testing.T) {
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
	// The client fetches the key set again, but not twice within retryDelay.
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

// TestKeysPublishedLate checks that a token is accepted after its key was published.
func TestKeysPublishedLate(t *testing.T) {
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
				next := certtest.NewRSAKey(t, 2048)
				published, fetched := test.before, 0
				w := newWireInBubble(map[string]http.HandlerFunc{
					"/userinfo": respond(200, "", `{"sub":"a"}`),
					"/keys":     func(w http.ResponseWriter, r *http.Request) { fetched++; published(w, r) },
				})
				c := w.client(t, nil)
				tokens := ciba.Tokens{Access: "secret-access", ID: token(t, w.URL, jose.RS256, test.kid, next, nil), Received: time.Now()}
				for range 60 { // every 5 seconds
					_, err := c.Claims(t.Context(), tokens)
					if d := cmp.Diff([]any{"fault", false, 0, time.Duration(0)}, withoutCause(err)); d != "" {
						t.Fatal(err, d)
					}
					checkDiscreet(t, err)
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

// TestSignatureOfAnotherKey checks that a token with the kid of another key is refused for good after the key set was
// fetched again.
func TestSignatureOfAnotherKey(t *testing.T) {
	fetched, published := 0, keys(t, openidtest.RSAKey())
	w := newWire(t, map[string]http.HandlerFunc{
		"/userinfo": respond(200, "", `{"sub":"a"}`),
		"/keys":     func(w http.ResponseWriter, r *http.Request) { fetched++; published(w, r) },
	})
	c := w.client(t, nil)
	if _, err := c.Claims(t.Context(), tokensFor(t, c, nil)); err != nil {
		t.Fatal(err)
	}
	other := certtest.NewRSAKey(t, 2048)
	forged := ciba.Tokens{Access: "secret-access", ID: token(t, w.URL, jose.RS256, "0", other, nil)}
	_, err := c.Claims(t.Context(), forged)
	if d := cmp.Diff([]any{"untrusted"}, withoutCause(err)); d != "" || fetched != 2 {
		t.Errorf("%v after the keys were fetched %d times", err, fetched)
	}
}

// TestProviderRestarts checks that a request survives a restart of the provider.
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
