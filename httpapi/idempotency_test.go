package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/account"
)

// startWithKey starts with an Idempotency-Key.
func (c *client) startWithKey(key string, body any) answer {
	c.Helper()
	r := c.request(http.MethodPost, "/api/v1/signing", body)
	r.Header.Set("Idempotency-Key", key)
	return c.send(r)
}

// wantSame checks that an answer is the same as an earlier one.
func (c *client) wantSame(first, again answer) {
	c.Helper()
	diff(c.T, "status", first.status, again.status)
	diff(c.T, "body", string(first.body), string(again.body))
}

// spec 1.8: for 24 hours the same key and body give the same answer, also
// when the request has finished or was cleared meanwhile.
func TestSameKeyAndBody(t *testing.T) {
	t.Parallel()
	for _, method := range methods {
		t.Run(method, func(t *testing.T) {
			bubble(t, wiring{}, func(t *testing.T, s *server) {
				c := s.signer(t)
				c.user(person)
				first := c.startWithKey("the contract", startBody(method))
				id := c.member(first, "pollingId")
				c.wantSame(first, c.startWithKey("the contract", startBody(method)))
				c.wantDocuments(1)
				time.Sleep(5 * time.Second)
				c.wantSame(first, c.startWithKey("the contract", startBody(method)))
				if method == idpApp {
					c.wantFailure(c.poll(id), pending)
					c.wantSame(first, c.startWithKey("the contract", startBody(method)))
				}
				c.signature(c.signed(c.poll(id)))
				c.wantSame(first, c.startWithKey("the contract", startBody(method)))
				time.Sleep(24*time.Hour - time.Minute)
				c.login()
				c.wantSame(first, c.startWithKey("the contract", startBody(method)))
				c.wantFinished(id)
				c.wantDocuments(0)
			})
		})
	}
}

// spec 1.8 and 3.6: clearing what was abandoned does not free the key.
func TestKeyOfAnAbandonedRequest(t *testing.T) {
	t.Parallel()
	bubble(t, wiring{}, func(t *testing.T, s *server) {
		c := s.signer(t)
		c.user(person)
		first := c.startWithKey("the contract", startBody(idpApp))
		time.Sleep(16 * time.Minute)
		c.wantSame(first, c.startWithKey("the contract", startBody(idpApp)))
		c.wantFinished(c.member(first, "pollingId"))
		c.wantDocuments(0)
	})
}

// spec 1.8: the answer that is given again may be a refusal.
func TestSameKeyAndBodyOfARefusedStart(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	first := c.startWithKey("the contract", startBody(idpApp))
	c.wantFailure(first, userNotFound)
	c.user(person)
	c.wantSame(first, c.startWithKey("the contract", startBody(idpApp)))
	c.wantDocuments(0)
	c.member(c.startWithKey("another try", startBody(idpApp)), "pollingId")
}

// spec 1.8: the same key with another body.
func TestSameKeyAndAnotherBody(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	first := c.startWithKey("the contract", startBody(idpApp))
	for name, change := range map[string]fields{
		"another document": {"file.contentB64": append(page[:len(page):len(page)], '\n')},
		"another field":    {"signer.city": "Akureyri"},
		"a member more":    {"ignored": true},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			c.wantProblem(c.startWithKey("the contract", startBody(idpApp).with(change)), http.StatusUnprocessableEntity, "Idempotency key was used")
			c.wantDocuments(1)
		})
	}
	c.wantSame(first, c.startWithKey("the contract", startBody(idpApp)))
}

// spec 1.8: starts that created no work keep no key.
func TestKeyOfAStartThatCreatedNothing(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	body := startBody(idpSim).with(fields{"busySignal.id": c.signal()})
	holder := c.begin(body)
	c.wantInvalid(c.startWithKey("the contract", body.with(fields{"signer.city": 5})), "signer.city")
	c.wantHeld(c.startWithKey("the contract", body), nil)
	c.signed(c.poll(holder))
	c.member(c.startWithKey("the contract", body), "pollingId")
}

// Keys belong to a client: another one, of the same account too, knows nothing of
// them.
func TestKeysBelongToAClient(t *testing.T) {
	t.Parallel()
	s := start(t, wiring{})
	c, other := s.signer(t), s.signer(t)
	c.user(person)
	other.user(person)
	ids := map[string]bool{}
	for _, c := range []*client{c, c.colleague(account.ScopeSignatures), other} {
		ids[c.member(c.startWithKey("the contract", startBody(idpApp)), "pollingId")] = true
	}
	diff(t, "number of requests", 3, len(ids))
	c.wantDocuments(3)
}

// spec 1.8: of starts at once with one key, one creates work. The others
// get its answer, or 409 while it is still running.
func TestStartsAtOnceWithOneKey(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	for range 5 {
		key := strings.Repeat("k", len(c.documents.made)+1)
		before := len(c.documents.left(t))
		answers := c.atOnce(6, func() *http.Request {
			r := c.request(http.MethodPost, "/api/v1/signing", startBody(idpApp))
			r.Header.Set("Idempotency-Key", key)
			return r
		})
		ids := map[string]bool{}
		for _, a := range answers {
			if a.status == http.StatusConflict {
				c.wantProblem(a, http.StatusConflict, "Request is still running")
				continue
			}
			ids[c.member(a, "pollingId")] = true
		}
		diff(t, "number of requests", 1, len(ids))
		c.wantDocuments(before + 1)
	}
}

// The key is a text of printable ASCII, in quotes or bare.
func TestFormOfAKey(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	first := c.startWithKey("the contract", startBody(idpApp))
	c.wantSame(first, c.startWithKey(`"the contract"`, startBody(idpApp)))
	c.member(c.startWithKey(strings.Repeat("k", 255), startBody(idpApp)), "pollingId")
	c.wantDocuments(2)
	for name, key := range map[string]string{
		"empty":          "",
		"empty, quoted":  `""`,
		"too long":       strings.Repeat("k", 256),
		"not ASCII":      "samningur þinn",
		"one quote only": `"the contract`,
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			c.wantInvalid(c.startWithKey(key, startBody(idpApp)), "Idempotency-Key")
		})
	}
	r := c.request(http.MethodPost, "/api/v1/signing", startBody(idpApp))
	r.Header["Idempotency-Key"] = []string{"one", "two"}
	c.wantInvalid(c.send(r), "Idempotency-Key")
	c.wantDocuments(2)
}
