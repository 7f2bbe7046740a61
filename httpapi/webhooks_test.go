package httpapi_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/webhook"
	"github.com/innsigli/innsigli/webhook/delivery"
)

const webhooks = "/api/v1/portal/webhooks"

// trial is a server whose webhooks may have local addresses.
var trial = wiring{webhooks: delivery.Options{Endpoints: delivery.Endpoints{AllowPrivate: true}}}

// portal returns a client with the scopes for webhooks.
func (s *server) portal(t *testing.T) *client {
	t.Helper()
	return s.client(t, account.ScopePortalRead, account.ScopePortalWrite)
}

// newHook returns the body that creates a subscription.
func newHook(url string) fields {
	return fields{"url": url, "eventTypes": []string{"process.completed"}}
}

// created creates a subscription and returns the answer.
func (c *client) created(body any) object {
	c.Helper()
	a := c.call(http.MethodPost, webhooks, body)
	if a.status != http.StatusCreated {
		c.Fatalf("status %d: %s", a.status, a.body)
	}
	return c.object(a)
}

// subscribe creates a subscription and returns its ID.
func (c *client) subscribe(url string) string {
	c.Helper()
	return c.created(newHook(url))["id"].(string)
}

// hook reads a subscription.
func (c *client) hook(id string) object {
	c.Helper()
	a := c.call(http.MethodGet, webhooks+"/"+id, nil)
	if a.status != http.StatusOK {
		c.Fatalf("status %d: %s", a.status, a.body)
	}
	return c.object(a)
}

// listedHooks returns the subscriptions in the list.
func (c *client) listedHooks() []any {
	c.Helper()
	list := c.object(c.call(http.MethodGet, webhooks, nil))
	items, ok := list["items"].([]any)
	if len(list) != 1 || !ok {
		c.Fatalf("list %v (spec 1.5)", list)
	}
	return items
}

// spec 5.1: 201 with the subscription, its Location and the secret.
func TestWebhookIsCreated(t *testing.T) {
	t.Parallel()
	stamp := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
	secret := regexp.MustCompile(`^[0-9a-f]{64}$`)
	c := start(t, wiring{}).portal(t)
	for name, test := range map[string]struct {
		sent any
		want object
	}{
		"one event type":    {newHook("https://hooks.example/a?b=c"), object{"url": "https://hooks.example/a?b=c", "eventTypes": []any{"process.completed"}}},
		"all, with repeats": {fields{"url": "https://hooks.example:8443/", "eventTypes": []string{"process.completed", "participant.signed", "process.completed", "participant.declined", "participant.signed"}}, object{"url": "https://hooks.example:8443/", "eventTypes": []any{"process.completed", "participant.signed", "participant.declined"}}},
		"members that are not asked for": {`{"url":"https://hooks.example/","eventTypes":["participant.signed"],"isActive":"yes","secret":"mine","id":7}`,
			object{"url": "https://hooks.example/", "eventTypes": []any{"participant.signed"}}},
		"512 characters": {newHook("https://hooks.example/" + strings.Repeat("x", 512-22)), object{"url": "https://hooks.example/" + strings.Repeat("x", 512-22), "eventTypes": []any{"process.completed"}}},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			a := c.call(http.MethodPost, webhooks, test.sent)
			made := c.object(a)
			diff(t, "status", http.StatusCreated, a.status)
			id, _ := made["id"].(string)
			if err := uuid.Validate(id); err != nil {
				t.Error(err)
			}
			diff(t, "Location", webhooks+"/"+id, a.header.Get("Location"))
			created, _ := made["createdAt"].(string)
			if text, _ := made["secret"].(string); !secret.MatchString(text) || !stamp.MatchString(created) {
				t.Errorf("secret or createdAt of %v", made)
			}
			want := object{"id": id, "isActive": false, "deactivatedReason": nil, "createdAt": created, "updatedAt": created, "secret": made["secret"]}
			for member, value := range test.want {
				want[member] = value
			}
			diff(t, "record", want, made)
			delete(want, "secret")
			diff(t, "read later", want, c.hook(strings.ToUpper(id)))
		})
	}
}

// The answer has the secret that signs. The list does not have it.
func TestWebhookSecretIsShownOnce(t *testing.T) {
	t.Parallel()
	s := start(t, wiring{})
	c := s.portal(t)
	diff(t, "empty list", []any{}, c.listedHooks())
	var want []any
	for _, path := range []string{"3", "1", "2"} {
		made := c.created(newHook("https://hooks.example/" + path))
		kept, err := s.hooks.Subscription(t.Context(), c.account, made["id"].(string))
		if err != nil || hex.EncodeToString(kept.Secret) != made["secret"] {
			t.Errorf("the secret is not that of the subscription: %v", err)
		}
		delete(made, "secret")
		want = append(want, made)
	}
	diff(t, "list in the order of creation", want, c.listedHooks())
	diff(t, "list of a colleague", want, c.colleague(account.ScopePortalRead).listedHooks())
	diff(t, "list of another account", []any{}, s.portal(t).listedHooks())
}

// spec 5.5 and 7.1: each environment publishes its key.
func TestWebhookKeyIsPublished(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]wiring{"sandbox": {}, "production": {production: true}} {
		t.Run(name, func(t *testing.T) {
			c := start(t, w).client(t)
			c.token = ""
			line := regexp.MustCompile(`^ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI[A-Za-z0-9+/]+={0,2} \S+\n$`)
			lines := func() []byte { return c.send(c.request(http.MethodGet, "/.well-known/webhook-key.pub", nil)).body }
			if one := lines(); !line.Match(one) {
				t.Errorf("%q", one)
			}
		})
	}
}

// change makes a PUT and returns the subscription after it.
func (c *client) change(id string, body any) object {
	c.Helper()
	a := c.call(http.MethodPut, webhooks+"/"+id, body)
	if a.status != http.StatusOK {
		c.Fatalf("status %d: %s", a.status, a.body)
	}
	return c.object(a)
}

// spec 1.1 and 5.1: a PUT changes only the fields that it has.
func TestWebhookIsChanged(t *testing.T) {
	t.Parallel()
	before := newHook("https://hooks.example/before")
	for name, test := range map[string]struct {
		sent    any
		changed object
	}{
		"nothing":                        {fields{}, object{}},
		"null":                           {fields{"url": nil, "eventTypes": nil, "isActive": nil}, object{}},
		"the values it has":              {before, object{}},
		"white space is no URL":          {fields{"url": " "}, object{}},
		"url":                            {fields{"url": "https://hooks.example/after"}, object{"url": "https://hooks.example/after"}},
		"event types":                    {fields{"eventTypes": []string{"participant.signed", "participant.signed"}}, object{"eventTypes": []any{"participant.signed"}}},
		"switched off, which it is":      {fields{"isActive": false}, object{}},
		"all":                            {fields{"url": "https://hooks.example/after", "eventTypes": []string{"participant.declined"}, "isActive": false}, object{"url": "https://hooks.example/after", "eventTypes": []any{"participant.declined"}}},
		"members that are not asked for": {`{"id":1,"secret":"mine","deactivatedReason":"None"}`, object{}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, wiring{}, func(t *testing.T, s *server) {
				c := s.portal(t)
				want := c.created(before)
				delete(want, "secret")
				time.Sleep(2 * time.Millisecond) // that is what updatedAt can tell apart
				got := c.change(want["id"].(string), test.sent)
				if len(test.changed) > 0 {
					if got["updatedAt"].(string) <= want["updatedAt"].(string) {
						t.Errorf("updatedAt is %v, and was %v", got["updatedAt"], want["updatedAt"])
					}
					want["updatedAt"] = got["updatedAt"]
				}
				for member, value := range test.changed {
					want[member] = value
				}
				diff(t, "after the change", want, got)
				diff(t, "read later", want, c.hook(want["id"].(string)))
			})
		})
	}
}

// TestFaultyWebhooks checks that one answer names all faulty fields, with one message each, and that nothing is stored (spec
// 5.1). TestEveryField has each field by itself.
func TestFaultyWebhooks(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).portal(t)
	id := c.subscribe("https://hooks.example/")
	before, good := c.listedHooks(), newHook("https://hooks.example/other")
	const url, types = "url", "eventTypes"
	for name, test := range map[string]struct {
		sent  fields
		paths []string
	}{
		"an element":                      {fields{types: []string{"process.completed", "process.expired"}}, []string{"eventTypes[1]"}},
		"elements of other types":         {fields{types: []any{1, nil, "process.completed", []int{}}}, []string{"eventTypes[0]", "eventTypes[1]", "eventTypes[3]"}},
		"wrong types":                     {fields{url: 5, types: object{}}, []string{url, types}},
		"a wrong type beside a bad value": {fields{url: true, types: []any{"process.expired", 7}}, []string{url, "eventTypes[0]", "eventTypes[1]"}},
		"a bad value beside a wrong type": {fields{url: "https://localhost/", types: 7}, []string{url, types}},
		"two bad values":                  {fields{url: "https://10.0.0.1/", types: []string{"x"}}, []string{url, "eventTypes[0]"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			a := c.call(http.MethodPost, webhooks, good.with(test.sent))
			c.wantInvalid(a, slices.Clone(test.paths)...)
			for path, messages := range c.object(a)["errors"].(object) {
				if len(messages.([]any)) != 1 {
					t.Errorf("the messages about %s are %v", path, messages)
				}
			}
			c.wantInvalid(c.call(http.MethodPut, webhooks+"/"+id, test.sent), slices.Clone(test.paths)...)
			c.wantInvalid(c.call(http.MethodPut, webhooks+"/"+id, good.with(test.sent).with(fields{"isActive": "no"})), append([]string{"isActive"}, test.paths...)...)
		})
	}
	c.wantInvalid(c.call(http.MethodPost, webhooks, fields{}), url, types)
	for _, call := range []struct{ method, path string }{{http.MethodPost, webhooks}, {http.MethodPut, webhooks + "/" + id}} {
		c.wantInvalid(c.call(call.method, call.path, ""), "$")
	}
	diff(t, "list after refusals", before, c.listedHooks())
}

// endpoint is a subscriber's endpoint, which verifies the requests.
type endpoint struct {
	*httptest.Server
	key              atomic.Pointer[webhook.Key]
	signed, unsigned atomic.Int32 // what it answers to requests that verify, and to others
	received         atomic.Int32
}

func newEndpoint(t *testing.T) *endpoint {
	t.Helper()
	e := new(endpoint)
	e.answers(http.StatusNoContent, http.StatusUnauthorized)
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.received.Add(1)
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

// subscribed creates a subscription for the endpoint, and gives it the secret.
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

// spec 5.1 and 5.3: a subscription is activated and deactivated, with the reason.
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

// spec 5.3: 422 names the check that failed. The subscription does not change.
func TestActivationThatFails(t *testing.T) {
	t.Parallel()
	c := start(t, trial).portal(t)
	e := newEndpoint(t)
	id := c.subscribed(e)
	before := c.hook(id)
	e.answers(http.StatusOK, http.StatusOK)
	c.wantFailedCheck(c.activate(id), "UnverifiablePing")
	e.answers(http.StatusUnauthorized, http.StatusUnauthorized)
	c.wantFailedCheck(c.activate(id), "SignedPing")
	diff(t, "subscription", before, c.hook(id))
	e.Close()
	c.wantFailedCheck(c.activate(id), "Unreachable")
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
	e.Close()
	c.wantProblem(c.call(http.MethodPost, webhooks+"/"+id+"/test", nil), http.StatusBadGateway, "Webhook test failed")
	diff(t, "active", any(true), c.hook(id)["isActive"])
}

// busyWebhooks are webhooks whose activations and tests find no capacity in time.
type busyWebhooks struct{ httpapi.Webhooks }

func (busyWebhooks) Activate(context.Context, string, string) (delivery.Subscription, error) {
	return delivery.Subscription{}, fmt.Errorf("activating: %w", delivery.ErrTooManyCalls)
}

func (busyWebhooks) Test(context.Context, string, string) error {
	return fmt.Errorf("testing: %w", delivery.ErrTooManyCalls)
}

// RFC 6585 4: 429 with a Retry-After. It is not an error of the server.
func TestActivationsThatGetNoTurn(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{hooks: func(all httpapi.Webhooks) httpapi.Webhooks { return busyWebhooks{all} }}).portal(t)
	id := c.subscribe("https://hooks.example/")
	for _, call := range []string{"/activate", "/test"} {
		a := c.call(http.MethodPost, webhooks+"/"+id+call, nil)
		c.wantProblem(a, http.StatusTooManyRequests, "Too many activations and tests")
		diff(t, "Retry-After", "30", a.header.Get("Retry-After"))
	}
}
