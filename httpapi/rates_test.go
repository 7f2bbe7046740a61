package httpapi_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/storage"
)

// limited is as it is in production (spec 1.9), but that strangers may do little.
var limited = wiring{limits: httpapi.Limits{
	Client:  storage.Rate{PerSecond: 20, Burst: 60},
	Address: storage.Rate{PerSecond: 1, Burst: 30},
}}

const tooOften = "Too many requests"

// mayCall says how many of n calls at once are let through. Those that are not are told when to go on.
func (c *client) mayCall(n int) (through int) {
	c.Helper()
	for range n {
		a := c.call(http.MethodPost, "/api/v1/signing/busy-signal", nil)
		diff(c.T, "RateLimit-Policy", `"client";q=60;w=3`, a.header.Get("RateLimit-Policy"))
		if a.status == http.StatusOK {
			through++
			continue
		}
		c.wantProblem(a, http.StatusTooManyRequests, tooOften)
		diff(c.T, "Retry-After", "1", a.header.Get("Retry-After"))
		diff(c.T, "RateLimit", `"client";r=0;t=3`, a.header.Get("RateLimit"))
	}
	return through
}

// spec 1.9: 20 requests a second with a burst of 60 for each client.
func TestRateOfAClient(t *testing.T) {
	t.Parallel()
	bubble(t, limited, func(t *testing.T, s *server) {
		c := s.signer(t)
		a := c.call(http.MethodPost, "/api/v1/signing/busy-signal", nil)
		diff(t, "RateLimit", `"client";r=59;t=1`, a.header.Get("RateLimit"))
		diff(t, "at once", 59, c.mayCall(70))
		diff(t, "of a colleague", 60, c.colleague(account.ScopeSignatures).mayCall(70))
		time.Sleep(time.Second) // as Retry-After said
		diff(t, "a second later", 20, c.mayCall(30))
		time.Sleep(10 * time.Minute)
		diff(t, "after a pause", 60, c.mayCall(70))
	})
}

// spec 1.9: a poll is never answered 429.
func TestPollsAreNotLimited(t *testing.T) {
	t.Parallel()
	bubble(t, limited, func(t *testing.T, s *server) {
		c := s.signer(t)
		c.mayCall(70)
		for range 100 {
			a := c.call(http.MethodGet, "/api/v1/signing/"+uuid.NewString(), nil)
			diff(t, "status", http.StatusNotFound, a.status)
			diff(t, "RateLimit", "", a.header.Get("RateLimit"))
		}
		diff(t, "beside polls", 0, c.mayCall(1))
		c.token = strings.Repeat("x", 43)
		for range 100 { // of somebody whose token has expired, say
			a := c.from("192.0.2.66", c.request(http.MethodGet, "/api/v1/signing/"+uuid.NewString(), nil))
			diff(t, "status of a stranger", http.StatusUnauthorized, a.status)
		}
	})
}

// A token that grants another scope is its client's all the same: it counts against the client, and what
// strangers do at the same address changes nothing.
func TestRateOfAnotherScope(t *testing.T) {
	t.Parallel()
	bubble(t, limited, func(t *testing.T, s *server) {
		c := s.signer(t).colleague(account.ScopePortalRead)
		call := func() answer {
			return c.from("192.0.2.66", c.request(http.MethodPost, "/api/v1/signing/busy-signal", nil))
		}
		known := c.token
		c.token = strings.Repeat("x", 43)
		for range 31 {
			call()
		}
		c.token = known
		for range 60 {
			diff(t, "status", http.StatusForbidden, call().status)
		}
		a := call()
		c.wantProblem(a, http.StatusTooManyRequests, tooOften)
		diff(t, "RateLimit-Policy", `"client";q=60;w=3`, a.header.Get("RateLimit-Policy"))
	})
}

// from has the client call from an address.
func (c *client) from(address string, r *http.Request) answer {
	c.Helper()
	r.Header.Set(addressHeader, address)
	return c.send(r)
}

// tries asks for a token with a secret.
func (c *client) tries(address, id, secret string) answer {
	c.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}}
	r := c.request(http.MethodPost, "/api/v1/auth/token", form.Encode())
	r.Header.Del("Authorization")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return c.from(address, r)
}

// Whoever guesses at a secret is held up where they are: neither the client elsewhere, nor others at the
// same address, nor tokens that are there.
func TestGuessing(t *testing.T) {
	t.Parallel()
	w := limited
	w.limits.Address = storage.Rate{PerSecond: 1000, Burst: 100_000}
	bubble(t, w, func(t *testing.T, s *server) {
		c := s.signer(t)
		other := c.colleague(account.ScopeSignatures)
		const stranger = "192.0.2.66"
		wrong, refused := 0, 0
		for range 1000 {
			switch a := c.tries(stranger, c.id, strings.Repeat("x", 43)); a.status {
			case http.StatusUnauthorized:
				wrong++
			default:
				c.wantProblem(a, http.StatusTooManyRequests, tooOften)
				refused++
			}
		}
		if wrong != 20 || refused != 980 {
			t.Errorf("%d guesses were judged, %d were not", wrong, refused)
		}
		diff(t, "the right one from there", http.StatusTooManyRequests, c.tries(stranger, c.id, c.secret).status)
		diff(t, "from elsewhere", http.StatusOK, c.tries("192.0.2.67", c.id, c.secret).status)
		diff(t, "another client from there", http.StatusOK, c.tries(stranger, other.id, other.secret).status)
		diff(t, "a token from there", http.StatusOK, c.from(stranger, c.request(http.MethodPost, "/api/v1/signing/busy-signal", nil)).status)
		time.Sleep(2 * time.Second)
		diff(t, "later", http.StatusOK, c.tries(stranger, c.id, c.secret).status)
		for range 100 { // what is right is no guess
			diff(t, "again and again", http.StatusOK, c.tries(stranger, c.id, c.secret).status)
		}
	})
}

// An address from which too much comes that nobody is known by is told so. Who is known is let through.
func TestStrangers(t *testing.T) {
	t.Parallel()
	bubble(t, limited, func(t *testing.T, s *server) {
		c := s.signer(t)
		known, unknown := c.token, strings.Repeat("x", 43)
		call := func(address, token string) answer {
			t.Helper()
			c.token = token
			return c.from(address, c.request(http.MethodPost, "/api/v1/signing/busy-signal", nil))
		}
		for range 30 {
			diff(t, "status", http.StatusUnauthorized, call("2001:db8::1", unknown).status)
		}
		a := call("2001:db8::2", unknown) // of the same site
		c.wantProblem(a, http.StatusTooManyRequests, tooOften)
		if n, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || n != 1 {
			t.Errorf("Retry-After is %q", a.header.Get("Retry-After"))
		}
		diff(t, "the challenge", "", a.header.Get("WWW-Authenticate"))
		diff(t, "RateLimit-Policy", `"address";q=30;w=30`, a.header.Get("RateLimit-Policy"))
		c.wantProblem(c.tries("2001:db8::1", c.id, c.secret), http.StatusTooManyRequests, tooOften)
		diff(t, "who is known", http.StatusOK, call("2001:db8::1", known).status)
		diff(t, "another address", http.StatusUnauthorized, call("2001:db8:0:1::1", unknown).status)
		for range 100 {
			diff(t, "this machine, where a proxy may be", http.StatusUnauthorized, call("127.0.0.1", unknown).status)
		}
	})
}
