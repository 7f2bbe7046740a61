package audkenni_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/audkenni"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// pings starts a server that receives pings.
func pings(t *testing.T) (address string, arrived <-chan *http.Request) {
	t.Helper()
	all := make(chan *http.Request, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		if _, err := body.ReadFrom(r.Body); err != nil {
			return
		}
		again := r.Clone(t.Context())
		again.Body = io.NopCloser(&body)
		all <- again
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(server.Close)
	return server.URL, all
}

// TestPing checks that Auðkenni sends a ping when there is an answer, and that the adapter does not poll before.
func TestPing(t *testing.T) {
	address, arrived := pings(t)
	p := openidtest.Start(t, openidtest.Options{Notify: address, Interval: time.Second})
	provider, _ := open(t, p, audkenni.Options{Ping: true})
	for method, rounds := range map[idp.Method]int{idp.App: 2, idp.SIM: 2} {
		t.Run(string(method), func(t *testing.T) {
			person := newPerson(t)
			p.Person(person)
			other := begin(t, provider, named(person, method), nil)
			<-arrived
			c := begin(t, provider, named(person, method), nil)
			for round := range rounds {
				if w := c.event.(idp.Waiting); w.RetryAfter != 30*time.Second {
					t.Errorf("no poll is due at once, but %+v", w)
				}
				key, authentic, err := provider.Notification(<-arrived)
				if err != nil || key != "conversation" {
					t.Fatalf("round %d: a ping of %q: %v", round, key, err)
				}
				if !authentic(c.state()) || authentic(other.state()) || authentic(idp.State{}) {
					t.Errorf("round %d: a ping is of the conversation that it is about, and of no other", round)
				}
				for {
					c.step()
					if _, waiting := c.event.(idp.Waiting); waiting || c.over() {
						break
					}
				}
			}
			c.verify()
		})
	}
}
