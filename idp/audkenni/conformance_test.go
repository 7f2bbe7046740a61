package audkenni_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/audkenni"
	"github.com/innsigli/innsigli/idp/idptest"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// TestConformance runs the suite of package idptest with the default options and with others.
func TestConformance(t *testing.T) {
	testenv.Slow(t, "people take their time, and conversations expire")
	both := []idp.Method{idp.App, idp.SIM}
	for _, test := range []struct {
		name    string
		options audkenni.Options
		op      openidtest.Options
		methods []idp.Method
		older   string // what was stored
	}{
		{"polls", audkenni.Options{}, openidtest.Options{}, both, "testdata/state-1"},
		{"CMS", audkenni.Options{SIM: audkenni.SIMOptions{CMS: true}}, openidtest.Options{}, both[1:], "testdata/state-1-cms"},
		{"pings", audkenni.Options{Ping: true}, openidtest.Options{Notify: "http://127.0.0.1:1/lost"}, both[:1], "testdata/state-1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.op.Interval = time.Second
			p := openidtest.Start(t, test.op)
			idptest.Run(t, func(t testing.TB) idptest.Backend {
				b := backend(t, p, test.options, test.methods)
				b.Older = idptest.Golden(t, test.older, nil)
				return b
			})
		})
	}
}

// backend returns a backend with people of its own. All backends share the provider.
func backend(t testing.TB, p *openidtest.Provider, o audkenni.Options, methods []idp.Method) idptest.Backend {
	provider, way := open(t, p, o)
	known := make(map[string]openidtest.Person) // by kennitala
	b := idptest.Backend{
		Provider: provider,
		Methods:  methods,
		Person: func(t testing.TB, m idp.Method, n idptest.Need) idp.Person {
			person := newPerson(t)
			switch n {
			case idptest.Unknown:
				return named(person, m)
			case idptest.Late:
				person.Answer.Delay = time.Second
			case idptest.Refuses:
				person.Answer.Error = &openidtest.Refusal{Code: "access_denied", Description: "mssp_401"}
			case idptest.Silent:
				person.Answer.Silent, person.Answer.Expires = true, 10*time.Second
			}
			p.Person(person)
			known[person.Kennitala] = person
			return named(person, m)
		},
		Break: func(_ testing.TB, on bool) { way.broken.Store(on) },
		Renew: func(t testing.TB, person idp.Person) { renew(t, p, known[person.Kennitala]) },
		Reopen: func(t testing.TB) idp.Provider {
			again, _ := open(t, p, o)
			return again
		},
		Wait: func(_ testing.TB, d time.Duration) { time.Sleep(min(d, 60*time.Millisecond)) }, // time: a pause between polls
		Code: func(m idp.Method, digests []ades.Digest) string {
			if m == idp.SIM {
				return ""
			}
			return audkenni.VerificationCode(digests[0].Sum)
		},
		Lacks: map[idptest.Need]string{idptest.Notifies: "pings were not agreed"},
	}
	if o.Ping {
		b.Notification, b.Lacks = notification, nil
	}
	return b
}

// notification returns the ping for a conversation.
func notification(t testing.TB, s idp.State) *http.Request {
	var secret struct {
		ID    string `json:"auth_req_id"`
		Token string `json:"notification"`
	}
	if err := json.Unmarshal(s.Secret, &secret); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(secret.Token, base64.RawURLEncoding.EncodeToString([]byte(s.Key))+".") {
		t.Errorf("the token does not name the conversation %q", s.Key)
	}
	r := httptest.NewRequest(http.MethodPost, "/ping", strings.NewReader(`{"auth_req_id":"`+secret.ID+`"}`))
	r.Header.Set("Authorization", "Bearer "+secret.Token)
	return r
}
