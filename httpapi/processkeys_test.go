package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/innsigli/innsigli/account"
)

// createWithKey makes a process with an Idempotency-Key.
func (c *client) createWithKey(key string, body any) answer {
	c.Helper()
	r := c.request(http.MethodPost, processes, body)
	r.Header.Set("Idempotency-Key", key)
	return c.send(r)
}

// spec 1.8: the same key and body give the same process, another body 422; a replay whose
// process was deleted is 404.
func TestProcessWithAKey(t *testing.T) {
	t.Parallel()
	c := start(t, empty).sender(t)
	user := c.user(person)
	first := c.createWithKey("the contract", draft)
	made := c.process(http.StatusCreated, first)
	again := c.createWithKey(`"the contract"`, draft)
	c.wantSame(first, again)
	diff(t, "Location", first.header.Get("Location"), again.header.Get("Location"))
	for name, change := range map[string]fields{
		"another document": {"file.contentBase64": append(page[:len(page):len(page)], '\n')},
		"another field":    {"signatureLocation": "TopRight"},
		"a member more":    {"ignored": true},
	} {
		t.Run(name, func(t *testing.T) {
			c.in(t).wantProblem(c.in(t).createWithKey("the contract", draft.with(change)), http.StatusUnprocessableEntity, "Idempotency key was used")
		})
	}
	c.wantDocuments(1)
	c.signedAs(made, 0, user, "Completed")
	diff(t, "the process as it is", made, c.process(http.StatusCreated, c.createWithKey("the contract", draft)))
	c.want(c.call(http.MethodDelete, pathOf(made), nil), http.StatusNoContent, nil)
	c.wantProblem(c.createWithKey("the contract", draft), http.StatusNotFound, "Not found")
	c.wantProblem(c.createWithKey("the contract", draft.with(fields{"ignored": true})), http.StatusUnprocessableEntity, "Idempotency key was used")
	c.wantNothing()
}

// Keys belong to a client, and to this call: the start of a signing has its own.
func TestKeysOfProcessesBelongToAClient(t *testing.T) {
	t.Parallel()
	s := start(t, empty)
	c := s.client(t, account.Scopes()...)
	c.user(person)
	c.startWithKey("the contract", startBody(idpApp))
	ids := map[any]bool{}
	for _, c := range []*client{c, c.colleague(account.ScopePortalWrite), s.sender(t)} {
		ids[c.process(http.StatusCreated, c.createWithKey("the contract", draft))["signingProcessId"]] = true
	}
	diff(t, "number of processes", 3, len(ids))
}

// spec 1.8: of creations at once with one key, one makes a process. The others get it, or
// 409 while it is being made.
func TestProcessesAtOnceWithOneKey(t *testing.T) {
	t.Parallel()
	c := start(t, empty).sender(t)
	for _, key := range []string{"one", "two", "three"} {
		before := len(c.documents.left(t))
		answers := c.atOnce(6, func() *http.Request {
			r := c.request(http.MethodPost, processes, draft)
			r.Header.Set("Idempotency-Key", key)
			return r
		})
		ids := map[any]bool{}
		for _, a := range answers {
			if a.status == http.StatusConflict {
				c.wantProblem(a, http.StatusConflict, "Request is still running")
				continue
			}
			ids[c.process(http.StatusCreated, a)["signingProcessId"]] = true
		}
		diff(t, "number of processes", 1, len(ids))
		c.wantDocuments(before + 1)
	}
}

// A key that is none, as for a start; a creation that was refused for its fields keeps no key.
func TestFormOfAProcessKey(t *testing.T) {
	t.Parallel()
	c := start(t, empty).sender(t)
	c.wantInvalid(c.createWithKey("", draft), "Idempotency-Key")
	c.wantInvalid(c.createWithKey("samningur þinn", draft), "Idempotency-Key")
	c.wantInvalid(c.createWithKey("the contract", of(reader)), "participants")
	c.wantNothing()
	c.process(http.StatusCreated, c.createWithKey("the contract", draft))
}
