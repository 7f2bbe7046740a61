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
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// TestCheck checks that Check finds faults of a configuration without asking a person.
func TestCheck(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	for name, test := range map[string]struct {
		change   func(*ciba.Options)
		problems []string // how each begins, with its topic
		warnings []string
	}{
		"all is right": {},
		"a wrong secret": {change: func(o *ciba.Options) { o.Secret = "wrong" },
			problems: []string{`client: the token endpoint refuses the client: status 401 "invalid_client"`}},
		"another issuer": {change: func(o *ciba.Options) { o.Issuer += "/" },
			problems: []string{"metadata: GET " + p.Discovery}},
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
			warnings: []string{"metadata: GET " + p.Discovery}},
		"keys at the wrong address": {change: func(o *ciba.Options) { o.Endpoints.JWKS = o.Issuer + "/elsewhere" },
			problems: []string{"keys: GET " + p.Issuer + "/elsewhere: status 404"}},
		"no keys": {change: func(o *ciba.Options) { o.Endpoints.JWKS = p.Discovery },
			problems: []string{"keys: the provider publishes no key"}},
		"no server": {change: func(o *ciba.Options) {
			o.Endpoints.Token, o.Endpoints.JWKS = "https://127.0.0.1:1/", "https://127.0.0.1:1/"
		},
			problems: []string{"keys: GET https://127.0.0.1:1/: dial", "tokens: POST https://127.0.0.1:1/: dial"}},
	} {
		t.Run(name, func(t *testing.T) {
			checks(t, client(t, p, openidtest.Options{}, test.change), test.problems, test.warnings)
		})
	}
	if asked := p.Asked(); len(asked) > 0 {
		t.Errorf("a person was asked: %v", asked)
	}
}

func checks(t *testing.T, c *ciba.Client, problems, warnings []string) {
	t.Helper()
	r, err := c.Check(t.Context())
	reports(t, r, err, problems, warnings)
}

func reports(t *testing.T, r ciba.Report, err error, problems, warnings []string) {
	t.Helper()
	begins := func(got ciba.Problem, want string) bool { return strings.HasPrefix(got.String(), want) }
	if err != nil || !slices.EqualFunc(r.Problems, problems, begins) || !slices.EqualFunc(r.Warnings, warnings, begins) {
		t.Errorf("problems %q, warnings %q, %v", r.Problems, r.Warnings, err)
	}
}

func TestCheckOfMetadata(t *testing.T) {
	for name, test := range map[string]struct {
		metadata           string // beside the endpoints
		date               time.Duration
		problems, warnings []string
	}{
		"silent": {},
		"agreeing": {metadata: `,"grant_types_supported":["urn:openid:params:grant-type:ciba"],"token_endpoint_auth_methods_supported":["client_secret_basic"],
			"backchannel_token_delivery_modes_supported":["poll"],"backchannel_authentication_request_signing_alg_values_supported":["RS256"]`},
		"disagreeing": {
			metadata: `,"grant_types_supported":["a"],"token_endpoint_auth_methods_supported":["b"],
				"backchannel_token_delivery_modes_supported":["push"],"backchannel_authentication_request_signing_alg_values_supported":["ES256","d"]`,
			warnings: []string{
				`metadata: the metadata does not list the request signing algorithm "RS256", only "ES256, d"`,
				`metadata: the metadata does not list the grant type "urn:openid:params:grant-type:ciba", only "a"`,
				`metadata: the metadata does not list the client authentication "client_secret_basic", only "b"`,
			}},
		"another time": {date: time.Hour, problems: []string{"clock: the provider's clock differs by 1h0m"}},
		"a time ago":   {date: -time.Hour, problems: []string{"clock: the provider's clock differs by -"}},
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
			checks(t, w.client(t, nil), test.problems, test.warnings)
		})
	}
}

// TestCheckOddProviders checks providers that issue tokens for an unknown grant, and that have no CIBA endpoint.
func TestCheckOddProviders(t *testing.T) {
	w := newWire(t, map[string]http.HandlerFunc{"/": respond(200, "", `{}`), "/keys": keys(t, openidtest.RSAKey())})
	checks(t, w.client(t, nil), []string{"tokens: the token endpoint issued a token for a request that does not exist"}, []string{"metadata: "})
	p := openidtest.Start(t, openidtest.Options{Undiscovered: true})
	checks(t, client(t, p, openidtest.Options{}, nil), []string{"endpoints: the metadata lacks backchannel_authentication_endpoint, and the configuration does not set it"}, nil)
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
	if d := cmp.Diff([]string{"poll", "ping"}, r.DeliveryModes); d != "" {
		t.Error(d)
	}
	if r.Keys != 1 || !slices.Contains(r.ACRValues, "app-auth") || r.Skew.Abs() > 2*time.Second {
		t.Errorf("keys %d, acr %q, skew %v", r.Keys, r.ACRValues, r.Skew)
	}
}

// TestCheckWithoutKey checks that Check tests a client without a key for the code flow.
func TestCheckWithoutKey(t *testing.T) {
	const redirect = "https://sign.example/back"
	p := openidtest.Start(t, openidtest.Options{Redirects: []string{redirect}, Undiscovered: true})
	for name, test := range map[string]struct {
		change   func(*ciba.Options)
		problems []string
	}{
		"all is right": {},
		"a wrong secret": {change: func(o *ciba.Options) { o.Secret = "wrong" },
			problems: []string{`client: the token endpoint refuses the client: status 401 "invalid_client"`}},
	} {
		t.Run(name, func(t *testing.T) {
			c := client(t, p, openidtest.Options{}, func(o *ciba.Options) {
				o.Key = nil
				if test.change != nil {
					test.change(o)
				}
			})
			checks(t, c, test.problems, nil)
			r, err := c.CheckCode(t.Context(), redirect)
			reports(t, r, err, test.problems, nil)
		})
	}
}

// TestCheckCode checks which metadata CheckCode needs, and what it sends.
func TestCheckCode(t *testing.T) {
	w := newWire(t, map[string]http.HandlerFunc{
		"/keys": keys(t, openidtest.RSAKey()),
		"/.well-known/openid-configuration": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"issuer":"http://%s","grant_types_supported":["a"],"backchannel_authentication_request_signing_alg_values_supported":["b"]}`, r.Host)
		},
		"/token": func(w http.ResponseWriter, r *http.Request) {
			if r.PostFormValue("grant_type") != "authorization_code" || r.PostFormValue("redirect_uri") != "https://sign.example/" || r.PostFormValue("code") == "" {
				t.Errorf("sent: %v", r.PostForm)
			}
			w.WriteHeader(400)
			fmt.Fprint(w, `{"error":"unauthorized_client"}`)
		},
	})
	c := w.client(t, func(o *ciba.Options) { o.Endpoints.BackchannelAuthentication = "" })
	r, err := c.CheckCode(t.Context(), "https://sign.example/")
	reports(t, r, err, []string{
		"endpoints: the metadata lacks authorization_endpoint, and the configuration does not set it",
		`client: the token endpoint refuses the client: status 400 "unauthorized_client"`,
	}, []string{`metadata: the metadata does not list the grant type "authorization_code", only "a"`})
}
