package httpapi_test

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/innsigli/innsigli/webhook"
)

// endpoint is a subscriber's, which verifies what it gets.
type endpoint struct {
	*httptest.Server
	key              atomic.Pointer[webhook.Key]
	signed, unsigned atomic.Int32 // what it answers to requests that verify, and to others
	meanwhile        atomic.Pointer[func()]
	received         atomic.Int32
}

func newEndpoint(t *testing.T) *endpoint {
	t.Helper()
	e := new(endpoint)
	e.answers(http.StatusNoContent, http.StatusUnauthorized)
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.received.Add(1)
		if do := e.meanwhile.Swap(nil); do != nil {
			(*do)()
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		status := &e.unsigned
		if webhook.Verify(r.Header, body, *e.key.Load()) == nil {
			status = &e.signed
		}
		w.WriteHeader(int(status.Load()))
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *endpoint) answers(signed, unsigned int32) {
	e.signed.Store(signed)
	e.unsigned.Store(unsigned)
}

// subscribed is a subscription to the endpoint, which gets its secret.
func (c *client) subscribed(e *endpoint) (id string) {
	c.Helper()
	made := c.created(newHook(e.URL))
	secret, err := hex.DecodeString(made["secret"].(string))
	if err != nil {
		c.Fatal(err)
	}
	key := webhook.Secret(secret)
	e.key.Store(&key)
	return made["id"].(string)
}

func (c *client) activate(id string) answer {
	c.Helper()
	return c.call(http.MethodPost, webhooks+"/"+id+"/activate", nil)
}

// wantFailedCheck checks the 422 of an activation (spec 5.3).
func (c *client) wantFailedCheck(a answer, check string) {
	c.Helper()
	diff(c.T, "Content-Type", problemType, a.header.Get("Content-Type"))
	detail, _ := c.object(a)["detail"].(string)
	if detail == "" {
		c.Errorf("no detail: %s", a.body)
	}
	c.want(a, http.StatusUnprocessableEntity, object{
		"type": c.url + "/problems/activation-failed", "title": "Activation failed", "status": 422, "detail": detail, "failedCheck": check,
	})
}

// spec 5.1 and 5.3: from inactive to active and back, with the reason why.
func TestWebhookLife(t *testing.T) {
	t.Parallel()
	c := start(t, trial).portal(t)
	e := newEndpoint(t)
	id := c.subscribed(e)
	want := func(what string, got object, active bool, reason any) {
		t.Helper()
		if got["isActive"] != active || got["deactivatedReason"] != reason {
			t.Errorf("%s: active %v, %v; want %v, %v", what, got["isActive"], got["deactivatedReason"], active, reason)
		}
		diff(t, "read after "+what, got, c.hook(id))
		if _, shown := got["secret"]; shown {
			t.Errorf("%s: the secret is shown again", what)
		}
	}
	activated := func() object {
		t.Helper()
		a := c.activate(id)
		diff(t, "status", http.StatusOK, a.status)
		return c.object(a)
	}
	want("activation", activated(), true, nil)
	diff(t, "pings", int32(2), e.received.Load())
	want("another one", activated(), true, nil)
	want("a change of what it hears of", c.change(id, fields{"eventTypes": []string{"participant.signed"}}), true, nil)
	want("a change to the same URL", c.change(id, fields{"url": e.URL}), true, nil)
	want("switching off", c.change(id, fields{"isActive": false}), false, "SwitchedOff")
	want("switching off once more", c.change(id, fields{"isActive": false}), false, "SwitchedOff")
	want("activation after that", activated(), true, nil)
	want("a new URL", c.change(id, fields{"url": e.URL + "/new"}), false, "UrlChanged")
	want("activation of that", activated(), true, nil)
	c.want(c.call(http.MethodDelete, webhooks+"/"+id, nil), http.StatusNoContent, nil)
}

// spec 5.3: 422 names the check, whether it was inactive, which it
// stays, or active, which it stays too.
func TestActivationThatFails(t *testing.T) {
	t.Parallel()
	c := start(t, trial).portal(t)
	e := newEndpoint(t)
	id := c.subscribed(e)
	for name, test := range map[string]struct {
		signed, unsigned int32
		check            string
	}{
		"accepts everything":  {http.StatusOK, http.StatusOK, "UnverifiablePing"},
		"forbids":             {http.StatusOK, http.StatusForbidden, "UnverifiablePing"},
		"refuses everything":  {http.StatusUnauthorized, http.StatusUnauthorized, "SignedPing"},
		"fails":               {http.StatusInternalServerError, http.StatusInternalServerError, "SignedPing"},
		"redirects":           {http.StatusFound, http.StatusUnauthorized, "SignedPing"},
		"the wrong way round": {http.StatusUnauthorized, http.StatusOK, "SignedPing"},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			before := c.hook(id)
			for _, active := range []bool{false, true} {
				if active {
					e.answers(http.StatusNoContent, http.StatusUnauthorized)
					before = c.object(c.activate(id))
				}
				e.answers(test.signed, test.unsigned)
				c.wantFailedCheck(c.activate(id), test.check)
				diff(t, "subscription", before, c.hook(id))
			}
			c.change(id, fields{"isActive": false})
		})
	}
	e.Close()
	c.wantFailedCheck(c.activate(id), "Unreachable")
}

// spec 5.3: 409 when the URL changes meanwhile, and the subscription stays inactive.
func TestWebhookThatChangesWhileItIsActivated(t *testing.T) {
	t.Parallel()
	c := start(t, trial).portal(t)
	e := newEndpoint(t)
	for name, test := range map[string]struct {
		change func(id string)
		status int
		title  string
	}{
		"another URL":  {func(id string) { c.change(id, fields{"url": e.URL + "/other"}) }, http.StatusConflict, "Subscription was changed"},
		"switched off": {func(id string) { c.change(id, fields{"isActive": false}) }, http.StatusConflict, "Subscription was changed"},
		"deleted":      {func(id string) { c.call(http.MethodDelete, webhooks+"/"+id, nil) }, http.StatusNotFound, "Not found"},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			id := c.subscribed(e)
			meanwhile := func() { test.change(id) }
			e.meanwhile.Store(&meanwhile)
			c.wantProblem(c.activate(id), test.status, test.title)
			if test.status == http.StatusConflict {
				diff(t, "active", any(false), c.hook(id)["isActive"])
			}
		})
	}
	id := c.subscribed(e)
	same := func() { c.change(id, fields{"url": e.URL, "eventTypes": []string{"participant.signed"}}) }
	e.meanwhile.Store(&same)
	after := c.object(c.activate(id))
	diff(t, "active", any(true), after["isActive"])
	diff(t, "event types", any([]any{"participant.signed"}), after["eventTypes"])
}

// spec 5.3: one signed ping, also to a subscription that is inactive.
func TestWebhookIsTested(t *testing.T) {
	t.Parallel()
	c := start(t, trial).portal(t)
	e := newEndpoint(t)
	id := c.subscribed(e)
	for _, body := range []any{nil, "", "{}", " {} "} {
		c.want(c.call(http.MethodPost, webhooks+"/"+id+"/test", body), http.StatusNoContent, nil)
	}
	diff(t, "pings", int32(4), e.received.Load())
	diff(t, "active", any(false), c.hook(id)["isActive"])
	diff(t, "status", http.StatusOK, c.call(http.MethodPost, webhooks+"/"+id+"/activate", "{}").status)
	for _, status := range []int32{http.StatusUnauthorized, http.StatusMovedPermanently, http.StatusGone, http.StatusServiceUnavailable} {
		e.answers(status, http.StatusUnauthorized)
		c.wantProblem(c.call(http.MethodPost, webhooks+"/"+id+"/test", nil), http.StatusBadGateway, "Webhook test failed")
	}
	e.Close()
	c.wantProblem(c.call(http.MethodPost, webhooks+"/"+id+"/test", nil), http.StatusBadGateway, "Webhook test failed")
	diff(t, "active", any(true), c.hook(id)["isActive"])
}
