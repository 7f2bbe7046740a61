package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/account"
)

// startWithKey sends a start with an Idempotency-Key.
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

// spec 1.8: for 24 hours the same key and body get the same answer, also after the request has finished.
func TestSameKeyAndBody(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		body      fields
		documents int // with the image
	}{
		"PDF IdpApp": {startBody(idpApp), 1}, "PDF IdpSim": {startBody(idpSim), 1},
		"XML IdpApp":            {xmlBody(idpApp, []byte(order)).with(fields{packing: "Enveloping", level: "Lta"}), 1},
		"PDF IdpSim with image": {startBody(idpSim).with(manual).with(ofImage(jpegPicture(t), "Jpeg")), 2},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, wiring{}, func(t *testing.T, s *server) {
				c := s.signer(t)
				c.user(person)
				first := c.startWithKey("the contract", test.body)
				again := func() { t.Helper(); c.wantSame(first, c.startWithKey("the contract", test.body)) }
				id := c.member(first, "pollingId")
				again()
				c.wantDocuments(test.documents)
				time.Sleep(5 * time.Second)
				again()
				if test.body["signer.signingMethod"] == idpApp {
					c.wantFailure(c.poll(id), pending)
					again()
				}
				c.signature(c.signed(c.poll(id)))
				again()
				time.Sleep(24*time.Hour - time.Minute)
				c.login()
				again()
				c.wantFinished(id)
				c.wantDocuments(0)
			})
		})
	}
}

// spec 1.8: a refusal is repeated as well.
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

// spec 1.8: a start that created no request does not store its key.
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

// A key is a string of printable ASCII characters, quoted or bare.
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

// createWithKey creates a process with an Idempotency-Key.
func (c *client) createWithKey(key string, body any) answer {
	c.Helper()
	r := c.request(http.MethodPost, processes, body)
	r.Header.Set("Idempotency-Key", key)
	return c.send(r)
}

// spec 1.8: the same key and body get the same process, and another body 422. A repetition whose process was deleted
// is 404.
func TestProcessWithAKey(t *testing.T) {
	t.Parallel()
	c := start(t, empty).sender(t)
	user := c.user(person)
	first := c.createWithKey("the contract", draft)
	made := c.process(http.StatusCreated, first)
	again := c.createWithKey(`"the contract"`, draft)
	c.wantSame(first, again)
	diff(t, "Location", first.header.Get("Location"), again.header.Get("Location"))
	c.wantInvalid(c.createWithKey("", draft), "Idempotency-Key")
	c.wantProblem(c.createWithKey("the contract", draft.with(fields{"signatureLocation": "TopRight"})), http.StatusUnprocessableEntity, "Idempotency key was used")
	c.wantDocuments(1)
	c.signedAs(made, 0, user, "Completed")
	diff(t, "the process as it is", made, c.process(http.StatusCreated, c.createWithKey("the contract", draft)))
	c.want(c.call(http.MethodDelete, pathOf(made), nil), http.StatusNoContent, nil)
	c.wantProblem(c.createWithKey("the contract", draft), http.StatusNotFound, "Not found")
	c.wantProblem(c.createWithKey("the contract", draft.with(fields{"ignored": true})), http.StatusUnprocessableEntity, "Idempotency key was used")
	c.wantNothingStored()
}

// A key belongs to a client and a call: starts of signing requests have their own.
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
