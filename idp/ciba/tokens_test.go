package ciba_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp/ciba"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// answering returns the endpoints of a provider whose person has answered with an ID token.
func answering(t *testing.T, id func() string) map[string]http.HandlerFunc {
	t.Helper()
	return map[string]http.HandlerFunc{
		"/keys":     keys(t, openidtest.RSAKey()),
		"/userinfo": respond(200, "", `{"sub":"a"}`),
		"/token": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"access_token":"secret-access","id_token":%q,"token_type":"Bearer"}`, id())
		},
	}
}

// TestIDTokenWithCMS checks ID tokens of the size that signatures and certificates require.
func TestIDTokenWithCMS(t *testing.T) {
	cms := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0x30, 0x82}, 4500))
	var id string
	w := newWire(t, answering(t, func() string { return id }))
	c := w.client(t, nil)
	id = tokensFor(t, c, map[string]any{"signature": cms}).ID
	tokens, err := c.Tokens(t.Context(), "secret-auth-req-id")
	if err != nil {
		t.Fatal(err)
	}
	claims, err := c.Claims(t.Context(), tokens)
	if d := cmp.Diff(cms, claims.Text("signature")); err != nil || d != "" {
		t.Error(err, d)
	}
}

func TestTokenSizes(t *testing.T) {
	for name, test := range map[string]struct {
		access, id int // bytes
		good       bool
	}{
		"the largest":               {16 << 10, 128 << 10, true},
		"a larger access token":     {16<<10 + 1, 1, false},
		"a larger ID token":         {1, 128<<10 + 1, false},
		"an ID token of no length":  {1, 0, false},
		"an access token of no one": {0, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			want := ciba.Tokens{Access: strings.Repeat("a", test.access), ID: strings.Repeat("b", test.id)}
			w := newWire(t, map[string]http.HandlerFunc{
				"/token": respond(200, "", `{"access_token":"`+want.Access+`","id_token":"`+want.ID+`","token_type":"Bearer"}`),
			})
			got, err := w.client(t, nil).Tokens(t.Context(), "secret-auth-req-id")
			if !test.good {
				if d := cmp.Diff([]any{"fault", true, 200, time.Duration(0)}, withoutCause(err)); d != "" {
					t.Error(err, d)
				}
				return
			}
			if err != nil || got.Access != want.Access || got.ID != want.ID {
				t.Errorf("%v: tokens of %d and %d bytes", err, len(got.Access), len(got.ID))
			}
		})
	}
}

// TestStoredTokens checks that an ID token has to be valid when it is received, not when the claims are read, which
// may be after a crash (OpenID Connect Core 3.1.3.7, rule 9).
func TestStoredTokens(t *testing.T) {
	for name, test := range map[string]struct {
		life    time.Duration // of the ID token, when it comes
		without bool          // as those that were stored without the time
		rest    time.Duration // until its claims are read
		trusted bool
	}{
		"read at once":                      {life: time.Minute, trusted: true},
		"read after their end":              {life: time.Minute, rest: time.Hour, trusted: true},
		"that come late":                    {life: -2 * time.Minute},
		"without the time":                  {life: time.Hour, without: true, rest: time.Minute, trusted: true},
		"without the time, after their end": {life: time.Minute, without: true, rest: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var id string
				w := newWireInBubble(answering(t, func() string { return id }))
				c := w.client(t, nil)
				id = tokensFor(t, c, map[string]any{"exp": time.Now().Add(test.life).Unix()}).ID
				tokens, err := c.Tokens(t.Context(), "secret-auth-req-id")
				if err != nil {
					t.Fatal(err)
				}
				if test.without {
					tokens.Received = time.Time{}
				}
				time.Sleep(test.rest)
				_, err = c.Claims(t.Context(), restored(t, tokens))
				if want := map[bool]any{true: nil, false: []any{"untrusted"}}[test.trusted]; !cmp.Equal(want, withoutCause(err)) {
					t.Error(err)
				}
			})
		})
	}
}

// restored encodes and decodes tokens.
func restored(t *testing.T, tokens ciba.Tokens) ciba.Tokens {
	t.Helper()
	text, err := json.Marshal(tokens)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "received") == tokens.Received.IsZero() {
		t.Errorf("stored as %s", text)
	}
	var stored ciba.Tokens
	if err := json.Unmarshal(text, &stored); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(tokens, stored); d != "" {
		t.Error(d)
	}
	return stored
}
