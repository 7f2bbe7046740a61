package httpapi_test

import (
	"encoding/hex"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/webhook/delivery"
)

const webhooks = "/api/v1/portal/webhooks"

// trial is a server whose webhooks may go to this machine.
var trial = wiring{webhooks: delivery.Options{Endpoints: delivery.Endpoints{AllowPrivate: true}}}

// portal is a client with all that webhooks need.
func (s *server) portal(t *testing.T) *client {
	t.Helper()
	return s.client(t, account.ScopePortalRead, account.ScopePortalWrite)
}

// newHook is the body that creates a subscription to an endpoint.
func newHook(url string) fields {
	return fields{"url": url, "eventTypes": []string{"process.completed"}}
}

// created is the answer to the creation of a subscription.
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

// hook is a subscription as it is read.
func (c *client) hook(id string) object {
	c.Helper()
	a := c.call(http.MethodGet, webhooks+"/"+id, nil)
	if a.status != http.StatusOK {
		c.Fatalf("status %d: %s", a.status, a.body)
	}
	return c.object(a)
}

// listedHooks are the account's subscriptions by the list.
func (c *client) listedHooks() []any {
	c.Helper()
	list := c.object(c.call(http.MethodGet, webhooks, nil))
	items, ok := list["items"].([]any)
	if len(list) != 1 || !ok {
		c.Fatalf("list %v (spec 1.5)", list)
	}
	return items
}

// spec 5.1: 201 with the record, its place and the secret.
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

// The secret is the one that signs, and the list has it no more than a subscription has.
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

// spec 1.5, 1.7 and 5.1: what is not yours does not exist.
func TestWebhookThatIsNotYours(t *testing.T) {
	t.Parallel()
	s := start(t, wiring{})
	c, other := s.portal(t), s.portal(t)
	id := other.subscribe("https://hooks.example/")
	for name, path := range map[string]string{
		"another account's": id, "unknown": uuid.NewString(), "no UUID": "1", "a zero byte": "%00", "no UTF-8": "%ff", "long": strings.Repeat("a", 40_000),
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			for _, call := range []struct {
				method, path string
				body         any
			}{
				{http.MethodGet, "", nil}, {http.MethodPut, "", fields{}}, {http.MethodPut, "", fields{"isActive": true}}, {http.MethodDelete, "", nil},
				{http.MethodPost, "/activate", nil}, {http.MethodPost, "/test", nil},
			} {
				c.wantProblem(c.call(call.method, webhooks+"/"+path+call.path, call.body), http.StatusNotFound, "Not found")
			}
		})
	}
	diff(t, "subscriptions of the owner", 1, len(other.listedHooks()))
}

// spec 5.1: deleted permanently.
func TestWebhookIsDeleted(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).portal(t)
	id := c.subscribe("https://hooks.example/")
	c.want(c.call(http.MethodDelete, webhooks+"/"+id, nil), http.StatusNoContent, nil)
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		c.wantProblem(c.call(method, webhooks+"/"+id, nil), http.StatusNotFound, "Not found")
	}
	diff(t, "list", []any{}, c.listedHooks())
}

// spec 5.1: a number of subscriptions for an account, whatever others have.
func TestTooManyWebhooks(t *testing.T) {
	t.Parallel()
	s := start(t, wiring{webhooks: delivery.Options{MaxSubscriptions: 2}})
	c := s.portal(t)
	first := c.subscribe("https://hooks.example/")
	c.subscribe("https://hooks.example/")
	c.wantProblem(c.call(http.MethodPost, webhooks, newHook("https://hooks.example/")), http.StatusBadRequest, "Too many webhook subscriptions")
	s.portal(t).subscribe("https://hooks.example/")
	c.call(http.MethodDelete, webhooks+"/"+first, nil)
	c.subscribe("https://hooks.example/")
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
