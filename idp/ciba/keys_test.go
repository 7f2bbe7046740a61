package ciba_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp/ciba"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// RFC 7517 section 5: what is not understood is left out, and so is what is weak or meant for
// something else.
func TestKeysThatAreNone(t *testing.T) {
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
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
			w := newWire(t, map[string]http.HandlerFunc{"/keys": says(200, "", test.set), "/userinfo": says(200, "", `{"sub":"a"}`)})
			id := token(t, w.URL, jose.RS256, "0", key, nil)
			_, err := w.client(t, nil).Claims(t.Context(), ciba.Tokens{Access: "a", ID: id})
			var fault *ciba.TransportError // the key may be published yet
			if test.trusted && err != nil || !test.trusted && !errors.As(err, &fault) {
				t.Error(err)
			}
		})
	}
}

// The keys being away says nothing of a token.
func TestKeysAreAway(t *testing.T) {
	w := newWire(t, map[string]http.HandlerFunc{"/keys": says(503, "Retry-After: 60", "")})
	c := w.client(t, nil)
	_, err := c.Claims(t.Context(), tokensFor(t, c, nil))
	if d := cmp.Diff([]any{"fault", true, 503, time.Minute}, withoutCause(err)); d != "" {
		t.Error(err, d)
	}
}

// However many ask at once, the keys are fetched once.
func TestManyAtOnce(t *testing.T) {
	var fetched atomic.Int32
	published := keys(t, openidtest.RSAKey())
	w := newWire(t, map[string]http.HandlerFunc{
		"/userinfo": says(200, "", `{"sub":"a"}`),
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

// Keys that have no name, or keep it, change like others.
func TestKeysChangeUnderTheirNames(t *testing.T) {
	for _, kid := range []string{"", "0"} {
		var current atomic.Value
		current.Store(keys(t, openidtest.RSAKey()))
		w := newWire(t, map[string]http.HandlerFunc{
			"/userinfo": says(200, "", `{"sub":"a"}`),
			"/keys":     func(w http.ResponseWriter, r *http.Request) { current.Load().(http.HandlerFunc)(w, r) },
		})
		c := w.client(t, nil)
		if _, err := c.Claims(t.Context(), tokensFor(t, c, nil)); err != nil {
			t.Fatal(err)
		}
		next, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			t.Fatal(err)
		}
		current.Store(keys(t, next))
		id := token(t, w.URL, jose.RS256, kid, next, nil)
		if _, err := c.Claims(t.Context(), ciba.Tokens{Access: "secret-access", ID: id}); err != nil {
			t.Errorf("kid %q: %v", kid, err)
		}
	}
}
