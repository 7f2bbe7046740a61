package ciba_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp/ciba"
	"github.com/innsigli/innsigli/internal/openidtest"
)

// What is wrong with a configuration is found without a request to a person.
func TestCheck(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	for name, test := range map[string]struct {
		change   func(*ciba.Options)
		problems []string // how each begins
		doubts   []string
	}{
		"all is right": {},
		"a wrong secret": {change: func(o *ciba.Options) { o.Secret = "wrong" },
			problems: []string{`the token endpoint does not take the client: 401 "invalid_client"`}},
		"another issuer": {change: func(o *ciba.Options) { o.Issuer += "/" },
			problems: []string{"the metadata: GET " + p.Discovery}},
		"metadata of another issuer that is not needed": {
			change: func(o *ciba.Options) {
				o.Issuer += "/"
				o.Endpoints = ciba.Endpoints{
					BackchannelAuthentication: p.URL(openidtest.Backchannel),
					Token:                     p.URL(openidtest.Token),
					UserInfo:                  p.URL(openidtest.UserInfo),
					JWKS:                      p.URL(openidtest.JWKS),
				}
			},
			doubts: []string{"the metadata: GET " + p.Discovery}},
		"no key": {change: func(o *ciba.Options) { o.Key = nil },
			problems: []string{"there is no key to sign requests with"}},
		"keys at the wrong address": {change: func(o *ciba.Options) { o.Endpoints.JWKS = o.Issuer + "/elsewhere" },
			problems: []string{"the provider's keys: GET " + p.Issuer + "/elsewhere: status 404"}},
		"no keys": {change: func(o *ciba.Options) { o.Endpoints.JWKS = p.Discovery },
			problems: []string{"the provider's keys: none"}},
		"nobody there": {change: func(o *ciba.Options) {
			o.Endpoints.Token, o.Endpoints.JWKS = "https://127.0.0.1:1/", "https://127.0.0.1:1/"
		},
			problems: []string{"the provider's keys: GET https://127.0.0.1:1/: dial", "the token endpoint: POST https://127.0.0.1:1/: dial"}},
	} {
		t.Run(name, func(t *testing.T) {
			checks(t, client(t, p, openidtest.Options{}, test.change), test.problems, test.doubts)
		})
	}
	if asked := p.Asked(); len(asked) > 0 {
		t.Errorf("a person was asked: %v", asked)
	}
}

func checks(t *testing.T, c *ciba.Client, problems, doubts []string) {
	t.Helper()
	r, err := c.Check(t.Context())
	begins := func(got, want string) bool { return strings.HasPrefix(got, want) }
	if err != nil || !slices.EqualFunc(r.Problems, problems, begins) || !slices.EqualFunc(r.Doubts, doubts, begins) {
		t.Errorf("problems %q, doubts %q, %v", r.Problems, r.Doubts, err)
	}
}

func TestCheckOfMetadata(t *testing.T) {
	for name, test := range map[string]struct {
		metadata         string // beside the endpoints
		date             time.Duration
		problems, doubts []string
	}{
		"silent": {},
		"agreeing": {metadata: `,"grant_types_supported":["urn:openid:params:grant-type:ciba"],"token_endpoint_auth_methods_supported":["client_secret_basic"],
			"backchannel_token_delivery_modes_supported":["poll"],"backchannel_authentication_request_signing_alg_values_supported":["RS256"]`},
		"disagreeing": {
			metadata: `,"grant_types_supported":["a"],"token_endpoint_auth_methods_supported":["b"],
				"backchannel_token_delivery_modes_supported":["push"],"backchannel_authentication_request_signing_alg_values_supported":["ES256","d"]`,
			doubts: []string{
				`the metadata names no request signing algorithm "RS256", only ES256, d`,
				`the metadata names no delivery mode "poll", only push`,
				`the metadata names no grant type "urn:openid:params:grant-type:ciba", only a`,
				`the metadata names no client authentication "client_secret_basic", only b`,
			}},
		"another time": {date: time.Hour, problems: []string{"the provider's clock differs by 1h0m"}},
		"a time ago":   {date: -time.Hour, problems: []string{"the provider's clock differs by -"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, map[string]http.HandlerFunc{
				"/keys": keys(t, openidtest.RSAKey()),
				"/.well-known/openid-configuration": func(w http.ResponseWriter, r *http.Request) {
					fmt.Fprintf(w, `{"issuer":"http://%s"%s}`, r.Host, test.metadata)
				},
				"/token": func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Date", time.Now().Add(test.date).UTC().Format(http.TimeFormat))
					w.WriteHeader(400)
					fmt.Fprint(w, `{"error":"invalid_grant"}`)
				},
			})
			checks(t, w.client(t, nil), test.problems, test.doubts)
		})
	}
}

// The wire's tokens for nothing, and a provider without the endpoint of CIBA.
func TestCheckOfOdd(t *testing.T) {
	w := newWire(t, map[string]http.HandlerFunc{"/": says(200, "", `{}`), "/keys": keys(t, openidtest.RSAKey())})
	checks(t, w.client(t, nil), []string{"the token endpoint gives tokens for nothing"}, []string{"the metadata: "})
	p := openidtest.Start(t, openidtest.Options{Undiscovered: true})
	checks(t, client(t, p, openidtest.Options{}, nil), []string{"neither the metadata nor the configuration has backchannel_authentication_endpoint"}, nil)
}

func TestReport(t *testing.T) {
	p, c := connect(t, openidtest.Options{}, nil)
	r, err := c.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := ciba.Endpoints{
		BackchannelAuthentication: p.URL(openidtest.Backchannel),
		Token:                     p.URL(openidtest.Token),
		UserInfo:                  p.URL(openidtest.UserInfo),
		JWKS:                      p.URL(openidtest.JWKS),
		Authorization:             p.URL(openidtest.Authorization),
	}
	if d := cmp.Diff(want, r.Endpoints); d != "" {
		t.Error(d)
	}
	if r.Keys != 1 || !slices.Contains(r.ACRValues, "app-auth") || r.Skew.Abs() > 2*time.Second {
		t.Errorf("keys %d, acr %q, skew %v", r.Keys, r.ACRValues, r.Skew)
	}
}
