package audkenni

import (
	"crypto/elliptic"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/ciba"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// unreachable returns a provider that cannot be reached.
func unreachable(t testing.TB, o Options) *Provider {
	t.Helper()
	client, err := ciba.New(ciba.Options{
		Issuer: "https://audkenni.invalid", ClientID: "innsigli", Secret: "secret",
		Key: certtest.NewKey(t, elliptic.P256()), HTTP: &http.Client{Transport: noNetwork{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	o.Client = client
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

type noNetwork struct{}

func (noNetwork) RoundTrip(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

// TestNotification checks that only a ping with the token of the conversation is authentic.
func TestNotification(t *testing.T) {
	p := unreachable(t, Options{Ping: true, SIM: SIMOptions{CMS: true}})
	person := idp.Person{Method: idp.SIM, Kennitala: "0101302989", Phone: "6990001"}
	state, _, err := p.Begin(t.Context(), "ský 1/2", person, idp.Text{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := resume(state)
	if err != nil {
		t.Fatal(err)
	}
	token := c.Notification
	named, random, _ := strings.Cut(token, ".")
	if strings.Contains(string(state.Public), random) {
		t.Error("the token is in the public part of the state")
	}
	elsewhere := base64.RawURLEncoding.EncodeToString([]byte("elsewhere"))
	for _, test := range []struct {
		name, token string
		key         string // "": not read
		authentic   bool
	}{
		{"the conversation's", token, "ský 1/2", true},
		{"without the secret", named + ".", "ský 1/2", false},
		{"without any", named, "ský 1/2", false},
		{"with another secret", named + "." + strings.Repeat("A", len(random)), "ský 1/2", false},
		{"cut off", token[:len(token)-1], "ský 1/2", false},
		{"too long", token + "A", "ský 1/2", false},
		{"of another conversation", elsewhere + "." + random, "elsewhere", false},
		{"that names nothing", "?." + random, "", false},
		{"empty", "", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			key, authentic, err := p.Notification(ping(test.token, "x"))
			if (err == nil) != (test.key != "") || key != test.key {
				t.Fatalf("the key is %q, not %q: %v", key, test.key, err)
			}
			if err == nil && authentic(state) != test.authentic {
				t.Errorf("authentic: %v", !test.authentic)
			}
		})
	}

	if _, _, err := unreachable(t, Options{}).Notification(ping(token, "x")); err == nil {
		t.Error("who polls takes no pings")
	}
	if _, _, err := p.Begin(t.Context(), strings.Repeat("k", 1000), person, idp.Text{}, nil); err == nil {
		t.Error("a key that has no room in a token is refused")
	}
}

func ping(token, authReqID string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"auth_req_id":"`+authReqID+`"}`))
	r.Header.Set("Authorization", "Bearer "+token)
	return r
}

// TestNotificationOfRequests checks that a ping has to be about the last request (CIBA Core 1.0 10.2). If the State
// has no open request, the ping may be about one that is not stored yet.
func TestNotificationOfRequests(t *testing.T) {
	p := unreachable(t, Options{Ping: true})
	for _, c := range seeds(t) {
		state, err := c.state()
		if err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string]bool{c.AuthReqID: true, "another": c.Phase == ready} {
			_, authentic, err := p.Notification(ping(c.Notification, id))
			if err != nil {
				t.Fatal(err)
			}
			if got := authentic(state); got != want {
				t.Errorf("a ping about %q while %s: %v", id, c.Phase, got)
			}
		}
	}
}
