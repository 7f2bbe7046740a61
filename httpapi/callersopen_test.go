package httpapi_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/httpapi"
)

// tryOpen tries an endpoint that takes no token: whatever is sent as one changes nothing.
func (w crowd) tryOpen(method, template string, row openRow) {
	ask := func(token string) answer {
		var body any
		if row.body != "" {
			body = row.body
		}
		r := w.request(method, strings.NewReplacer("{name}", "not-found", "{request}", "MAA=").Replace(template), body)
		r.Header.Del("Authorization")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		if row.kind != "" {
			r.Header.Set("Content-Type", row.kind)
		}
		return w.send(r)
	}
	without := ask("")
	diff(w.T, "status", http.StatusOK, without.status)
	for _, token := range []string{w.token, w.expired, w.from.token, "garbage"} {
		with := ask(token)
		diff(w.T, "status", without.status, with.status)
		diff(w.T, "Content-Type", without.header.Get("Content-Type"), with.header.Get("Content-Type"))
		if !row.varies {
			diff(w.T, "body", string(without.body), string(with.body))
		}
	}
}

// tryClients tries an endpoint that clients prove themselves at with their secrets. Who does not is
// answered the same whether there is such a client or not.
func (w crowd) tryClients(path string, row clientRow) {
	proving := func(id, secret string) url.Values {
		parameters := url.Values{}
		for name, value := range row.parameters(w.client) {
			parameters.Set(name, value)
		}
		if id != "" {
			parameters.Set("client_id", id)
			parameters.Set("client_secret", secret)
		}
		return parameters
	}
	ask := func(token string, parameters url.Values) answer {
		r := w.request(http.MethodPost, path, parameters.Encode())
		r.Header.Set("Content-Type", formType)
		r.Header.Del("Authorization")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		return w.send(r)
	}
	known := ask("", proving(w.id, "garbage"))
	for name, a := range map[string]answer{
		"no client":                    ask("", proving("", "")),
		"a token in its place":         ask(w.token, proving("", "")),
		"garbage":                      ask("", proving("garbage", "garbage")),
		"a wrong secret":               known,
		"another client's secret":      ask("", proving(w.id, w.stranger.secret)),
		"another environment's client": ask("", proving(w.from.id, w.from.secret)),
	} {
		w.Run(name, func(t *testing.T) {
			w.client.in(t).wantOAuthError(a, http.StatusUnauthorized, "invalid_client")
			if name != "no client" && name != "a token in its place" {
				diff(t, "body", string(known.body), string(a.body))
				diff(t, "header", known.fixedHeader(), a.fixedHeader())
			}
		})
	}
	if row.another != nil {
		theirs, nobodys := ask("", row.another(w, w.token)), ask("", row.another(w, "garbage"))
		diff(w.T, "status", nobodys.status, theirs.status)
		diff(w.T, "body", string(nobodys.body), string(theirs.body))
		diff(w.T, "header", nobodys.fixedHeader(), theirs.fixedHeader())
		diff(w.T, "status of a call with the token", http.StatusOK, w.call(http.MethodGet, webhooks, nil).status)
	}
	diff(w.T, "status of the owner's", http.StatusOK, ask("", proving(w.id, w.secret)).status)
}

// tryNotification tries the endpoint of the identity provider's news, which has secrets of its own: to who
// does not know one, each conversation is like one that there is not.
func (w crowd) tryNotification() {
	w.refuses(w.as("", http.MethodPost, httpapi.NotificationPath, "one"), http.StatusUnauthorized, "Unauthorized", "")
	nobodys := w.as("garbage", http.MethodPost, httpapi.NotificationPath, "another")
	w.wantProblem(nobodys, http.StatusNotFound, "Not found")
	for _, token := range []string{"garbage", w.token, w.expired, w.from.token} {
		a := w.as(token, http.MethodPost, httpapi.NotificationPath, "one")
		diff(w.T, "status", nobodys.status, a.status)
		diff(w.T, "body", string(nobodys.body), string(a.body))
		diff(w.T, "header", nobodys.fixedHeader(), a.fixedHeader())
	}
}
