package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// change makes a PUT and returns the subscription after it.
func (c *client) change(id string, body any) object {
	c.Helper()
	a := c.call(http.MethodPut, webhooks+"/"+id, body)
	if a.status != http.StatusOK {
		c.Fatalf("status %d: %s", a.status, a.body)
	}
	return c.object(a)
}

// spec 1.1 and 5.1: only the fields to change.
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

// spec 5.1: activation is done only with the activate call, and nothing else of the
// change is done (spec 5.1).
func TestWebhookIsNotActivatedByAChange(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).portal(t)
	id := c.subscribe("https://hooks.example/")
	want := c.hook(id)
	for _, sent := range []fields{{"isActive": true}, {"isActive": true, "url": "https://hooks.example/after", "eventTypes": []string{"participant.signed"}}} {
		c.wantProblem(c.call(http.MethodPut, webhooks+"/"+id, sent), http.StatusUnprocessableEntity, "Activation has a call of its own")
		diff(t, "subscription", want, c.hook(id))
	}
}

// spec 5.1: 400 with all the faulty fields, and nothing is done.
func TestFaultyWebhooks(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).portal(t)
	id := c.subscribe("https://hooks.example/")
	before, good := c.listedHooks(), newHook("https://hooks.example/other")
	const url, types = "url", "eventTypes"
	long := make([]string, 9_000)
	for i := range long {
		long[i] = "process.completed"
	}
	for name, test := range map[string]struct {
		sent  fields
		paths []string
	}{
		"http":                            {fields{url: "http://hooks.example/"}, []string{url}},
		"another scheme":                  {fields{url: "ftp://hooks.example/"}, []string{url}},
		"no URL":                          {fields{url: "hooks"}, []string{url}},
		"loopback":                        {fields{url: "https://127.0.0.1/"}, []string{url}},
		"localhost":                       {fields{url: "https://localhost/"}, []string{url}},
		"a decimal address":               {fields{url: "https://2130706433/"}, []string{url}},
		"a private address":               {fields{url: "https://10.0.0.1/"}, []string{url}},
		"link-local":                      {fields{url: "https://169.254.169.254/latest/"}, []string{url}},
		"a user":                          {fields{url: "https://somebody:secret@hooks.example/"}, []string{url}},
		"513 characters":                  {fields{url: "https://hooks.example/" + strings.Repeat("x", 513-22)}, []string{url}},
		"a line break":                    {fields{url: "https://hooks.example/\n"}, []string{url}},
		"an unknown event type":           {fields{types: []string{"process.completed", "process.expired"}}, []string{"eventTypes[1]"}},
		"a ping, which nobody chooses":    {fields{types: []string{"webhook.ping"}}, []string{"eventTypes[0]"}},
		"another case":                    {fields{types: []string{"Process.Completed"}}, []string{"eventTypes[0]"}},
		"no event type":                   {fields{types: []string{}}, []string{types}},
		"a list too long for its repeats": {fields{types: long}, []string{types}},
		"no list":                         {fields{types: "process.completed"}, []string{types}},
		"elements that are no text":       {fields{types: []any{1, nil, "process.completed", []int{}}}, []string{"eventTypes[0]", "eventTypes[1]", "eventTypes[3]"}},
		"an empty element":                {fields{types: []string{"process.completed", ""}}, []string{"eventTypes[1]"}},
		"wrong types":                     {fields{url: 5, types: object{}}, []string{url, types}},
		"a wrong type beside a bad value": {fields{url: true, types: []any{"process.expired", 7}}, []string{url, "eventTypes[0]", "eventTypes[1]"}},
		"a bad value beside a wrong type": {fields{url: "https://localhost/", types: 7}, []string{url, types}},
		"two bad values":                  {fields{url: "https://10.0.0.1/", types: []string{"x"}}, []string{url, "eventTypes[0]"}},
	} {
		t.Run("POST "+name, func(t *testing.T) {
			c := c.in(t)
			a := c.call(http.MethodPost, webhooks, good.with(test.sent))
			c.wantInvalid(a, slices.Clone(test.paths)...)
			for path, messages := range c.object(a)["errors"].(object) {
				if said := messages.([]any); len(said) != 1 {
					t.Errorf("of %s is said: %v", path, said)
				}
			}
		})
		t.Run("PUT "+name, func(t *testing.T) {
			c := c.in(t)
			c.wantInvalid(c.call(http.MethodPut, webhooks+"/"+id, test.sent), slices.Clone(test.paths)...)
		})
		t.Run("PUT beside what is right "+name, func(t *testing.T) {
			c := c.in(t)
			c.wantInvalid(c.call(http.MethodPut, webhooks+"/"+id, good.with(test.sent).with(fields{"isActive": "no"})), append([]string{"isActive"}, test.paths...)...)
		})
	}
	for name, sent := range map[string]fields{"no field": {}, "null": {url: nil, types: nil}, "white space": {url: " ", types: nil}} {
		t.Run("POST "+name, func(t *testing.T) {
			c := c.in(t)
			c.wantInvalid(c.call(http.MethodPost, webhooks, sent), url, types)
		})
	}
	c.wantInvalid(c.call(http.MethodPut, webhooks+"/"+id, fields{"isActive": 1}), "isActive")
	diff(t, "list after refusals", before, c.listedHooks())
}

// spec 1.1: what a body may be, of the calls that need one and of those that do not.
func TestBodiesOfWebhooks(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).portal(t)
	one := webhooks + "/" + c.subscribe("https://hooks.example/")
	before := c.listedHooks()
	bad := map[string]string{
		"[]": "$", "null": "$", "{": "$", "{}{}": "$", `"url"`: "$", "\xff": "$",
		`{"url":"https://a.example/","url":"https://b.example/","eventTypes":["participant.signed"]}`: "url",
		fmt.Sprintf(`{"eventTypes":[%s"x"]}`, strings.Repeat(`"x",`, 10_000)):                         "$",
	}
	for body, path := range bad {
		for _, call := range []struct{ method, path string }{{http.MethodPost, webhooks}, {http.MethodPut, one}, {http.MethodPost, one + "/activate"}, {http.MethodPost, one + "/test"}} {
			c.wantInvalid(c.call(call.method, call.path, body), path)
		}
	}
	c.wantInvalid(c.call(http.MethodPost, webhooks, ""), "$")
	c.wantInvalid(c.call(http.MethodPut, one, ""), "$")
	diff(t, "list after refusals", before, c.listedHooks())
}
