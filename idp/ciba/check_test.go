package ciba_test

import (
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
	for name, test := range map[string]struct {
		provider openidtest.Options
		change   func(*ciba.Options)
		problems []string // how each begins
		doubts   []string
	}{
		"all is right": {},
		"a wrong secret": {change: func(o *ciba.Options) { o.Secret = "wrong" },
			problems: []string{`the token endpoint does not take the client: 401 "invalid_client"`}},
		"another issuer": {change: func(o *ciba.Options) { o.Issuer = strings.Replace(o.Issuer, "audkenni", "other", 1) },
			problems: []string{"the metadata: GET http://127.0.0.1:"}},
		"no key": {change: func(o *ciba.Options) { o.Key = nil },
			problems: []string{"there is no key to sign requests with"}},
		"an endpoint that is missing": {provider: openidtest.Options{Undiscovered: true},
			problems: []string{"neither the metadata nor the configuration has backchannel_authentication_endpoint"}},
		"a key's address of another kind": {change: func(o *ciba.Options) { o.Endpoints.JWKS = o.Endpoints.UserInfo },
			problems: []string{"the provider's keys: GET http://127.0.0.1:"}},
		"the wrong way to authenticate": {provider: openidtest.Options{PrivateKeyJWT: true},
			change:   func(o *ciba.Options) { o.PrivateKeyJWT, o.Secret = false, "secret" },
			problems: []string{`the token endpoint does not take the client: 401 "invalid_client"`}},
	} {
		t.Run(name, func(t *testing.T) {
			p := openidtest.Start(t, test.provider)
			c := client(t, p, test.provider, func(o *ciba.Options) {
				o.Endpoints.UserInfo = p.URL(openidtest.UserInfo)
				if test.change != nil {
					test.change(o)
				}
			})
			r, err := c.Check(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			begins := func(got, want string) bool { return strings.HasPrefix(got, want) }
			if !slices.EqualFunc(r.Problems, test.problems, begins) || !slices.EqualFunc(r.Doubts, test.doubts, begins) {
				t.Errorf("problems %q, doubts %q", r.Problems, r.Doubts)
			}
			if asked := p.Asked(); len(asked) > 0 {
				t.Errorf("a person was asked: %v", asked)
			}
		})
	}
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
