package login_test

import (
	"testing"

	"github.com/innsigli/innsigli/idp/ciba"
	"github.com/innsigli/innsigli/idp/login"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// Whether the provider knows the client is found without a person, however the client says who
// it is; that it could not ask anybody's phone is no matter.
func TestCheck(t *testing.T) {
	for name, asserts := range map[string]bool{"by its secret": false, "by an assertion": true} {
		t.Run(name, func(t *testing.T) {
			p, client := start(t, openidtest.Options{Redirects: []string{redirect}, PrivateKeyJWT: asserts, Undiscovered: true})
			if r, err := newBrowser(t, login.BrowserOptions{Client: client}).Check(t.Context()); err != nil || r.Problems != nil || r.Doubts != nil {
				t.Errorf("all is right, but %v, %v, %v", r.Problems, r.Doubts, err)
			}
			stranger, err := ciba.New(ciba.Options{Issuer: p.Issuer, ClientID: p.ClientID, Secret: "another"})
			if err != nil {
				t.Fatal(err)
			}
			r, err := newBrowser(t, login.BrowserOptions{Client: stranger}).Check(t.Context())
			if err != nil || len(r.Problems) != 1 || r.Problems[0].Topic != ciba.TopicClient {
				t.Errorf("the provider does not know the secret, but %v, %v", r.Problems, err)
			}
		})
	}
}
