package httpapi_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/account"
)

// about is what a call is about.
type about struct {
	ids    map[string]string // in the path, by the names that they have in it
	body   any
	inBody string // an ID in the body
	status int    // that the owner is answered
}

func (a about) path(template string) string {
	for name, id := range a.ids {
		template = strings.ReplaceAll(template, "{"+name+"}", id)
	}
	return template
}

// isNew says that the call is about nothing that is there already.
func (a about) isNew() bool { return len(a.all()) == 0 }

// all are the IDs of what the call is about.
func (a about) all() []string {
	list := slices.Collect(maps.Values(a.ids))
	if a.inBody != "" {
		list = append(list, a.inBody)
	}
	return list
}

// ofNobody is the same call about what does not exist.
func (a about) ofNobody(t *testing.T) about {
	t.Helper()
	a.ids = maps.Clone(a.ids)
	for name := range a.ids {
		a.ids[name] = uuid.NewString()
	}
	if a.inBody != "" {
		encoded, err := json.Marshal(a.body)
		if err != nil {
			t.Fatal(err)
		}
		a.body = strings.ReplaceAll(string(encoded), a.inBody, uuid.NewString())
	}
	return a
}

// tokenRow is an endpoint that takes a token, and a call of it that its owner may make.
type tokenRow struct {
	scope string // empty: any token
	about func(owner *client) about
}

// always is a call that is about nothing there is.
func always(status int, body any) func(*client) about {
	return func(*client) about { return about{status: status, body: body} }
}

// ofHook is a call about a subscription.
func ofHook(status int, body any) func(*client) about {
	return func(c *client) about {
		return about{ids: map[string]string{"subscriptionId": c.subscribed(newEndpoint(c.T))}, status: status, body: body}
	}
}

// ofProcess is a call about a process, or a participant of it.
func ofProcess(status int, body any) func(*client) about {
	return func(c *client) about {
		p := c.made(draft)
		ids := map[string]string{"signingProcessId": p["signingProcessId"].(string), "participantId": participant(p, 0)["participantId"].(string)}
		return about{ids: ids, status: status, body: body}
	}
}

var tokenRows = map[string]tokenRow{
	"POST /api/v1/signing/busy-signal": {account.ScopeSignatures, always(http.StatusOK, nil)},
	"POST /api/v1/signing": {account.ScopeSignatures, func(c *client) about {
		signal := c.signal()
		return about{body: startBody(idpSim).with(fields{"busySignal.id": signal}), inBody: signal, status: http.StatusOK}
	}},
	"GET /api/v1/signing/{pollingId}": {account.ScopeSignatures, func(c *client) about {
		return about{ids: map[string]string{"pollingId": c.begin(startBody(idpSim))}, status: http.StatusOK}
	}},

	"POST /api/v1/portal/signing-processes":                                       {account.ScopePortalWrite, always(http.StatusCreated, draft)},
	"GET /api/v1/portal/signing-processes":                                        {account.ScopePortalRead, always(http.StatusOK, nil)},
	"GET /api/v1/portal/signing-processes/{signingProcessId}":                     {account.ScopePortalRead, ofProcess(http.StatusOK, nil)},
	"GET /api/v1/portal/signing-processes/{signingProcessId}/document":            {account.ScopePortalRead, ofProcess(http.StatusOK, nil)},
	"DELETE /api/v1/portal/signing-processes/{signingProcessId}":                  {account.ScopePortalWrite, ofProcess(http.StatusNoContent, nil)},
	"POST " + answers + "{signingProcessId}/participants/{participantId}/decline": {account.ScopePortalWrite, ofProcess(http.StatusNoContent, fields{"reason": "No."})},
	"POST " + answers + "{signingProcessId}/participants/{participantId}/sign": {account.ScopePortalWrite, func(c *client) about {
		a := ofProcess(http.StatusNoContent, nil)(c)
		a.inBody = c.user(fields{"fullName": "Jón Þórsson", "kennitala": "0202025559", "phone": "5550102"})
		a.body = fields{"sandboxUserId": a.inBody}
		return a
	}},

	"GET /api/v1/portal/webhooks":                            {account.ScopePortalRead, always(http.StatusOK, nil)},
	"POST /api/v1/portal/webhooks":                           {account.ScopePortalWrite, always(http.StatusCreated, newHook("https://hooks.example/"))},
	"GET /api/v1/portal/webhooks/{subscriptionId}":           {account.ScopePortalRead, ofHook(http.StatusOK, nil)},
	"PUT /api/v1/portal/webhooks/{subscriptionId}":           {account.ScopePortalWrite, ofHook(http.StatusOK, fields{"eventTypes": []string{"participant.signed"}})},
	"DELETE /api/v1/portal/webhooks/{subscriptionId}":        {account.ScopePortalWrite, ofHook(http.StatusNoContent, nil)},
	"POST /api/v1/portal/webhooks/{subscriptionId}/activate": {account.ScopePortalWrite, ofHook(http.StatusOK, nil)},
	"POST /api/v1/portal/webhooks/{subscriptionId}/test":     {account.ScopePortalWrite, ofHook(http.StatusNoContent, nil)},

	"GET " + users:  {"", always(http.StatusOK, nil)},
	"POST " + users: {"", always(http.StatusOK, fields{"fullName": "Anna", "kennitala": "0303035559", "phone": "5550103"})},
	"PUT " + users + "/{uuid}": {"", func(c *client) about {
		id := c.user(fields{"fullName": "Björg", "kennitala": "0404045559", "phone": "5550104"})
		return about{ids: map[string]string{"uuid": id}, body: fields{"fullName": "Björg Þórsdóttir"}, status: http.StatusNoContent}
	}},
}

// clientRow is an endpoint that takes a client's secret.
type clientRow struct {
	parameters func(*client) map[string]string
	// another are the parameters of the stranger's who asks about a token; nil: it is about none.
	another func(w crowd, token string) url.Values
}

var clientRows = map[string]clientRow{
	"POST " + tokens: {parameters: func(*client) map[string]string { return map[string]string{"grant_type": "client_credentials"} }},
	"POST " + revocation: {
		parameters: func(c *client) map[string]string { return map[string]string{"token": "none"} },
		another:    func(w crowd, token string) url.Values { return w.stranger.own("token", token) },
	},
}

// openRow is an endpoint that takes no token.
type openRow struct {
	kind, body string
	varies     bool // it tells the time
}

var openRows = map[string]openRow{
	"GET /.well-known/oauth-authorization-server": {},
	"GET /.well-known/sandbox-root.pem":           {},
	"GET /.well-known/webhook-key.pub":            {},
	"GET /crl":                                    {varies: true},
	"GET /crl/root":                               {varies: true},
	"GET /issuers.p7c":                            {},
	"GET /ocsp/{request}":                         {},
	"POST /ocsp":                                  {kind: "application/ocsp-request", body: "none"},
	"POST /tsa":                                   {kind: "application/timestamp-query", body: "none"},
	"GET /healthz":                                {},
	"GET /readyz":                                 {},
	"GET /openapi.json":                           {},
	"GET /problems/{name}":                        {},
}

// rows are the endpoints that have one.
func rows() []string {
	return slices.Concat(slices.Collect(maps.Keys(tokenRows)), slices.Collect(maps.Keys(clientRows)), slices.Collect(maps.Keys(openRows)))
}
