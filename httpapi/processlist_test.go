package httpapi_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/innsigli/innsigli/account"
)

// spec 4.8: the account's processes in the order of creation, a page at a time.
func TestProcessesAreListed(t *testing.T) {
	t.Parallel()
	s := start(t, empty)
	c := s.sender(t)
	user := c.user(fields{"fullName": "Jón Þórsson", "kennitala": "0202025559", "phone": "5550102"})
	get := func(query string) object {
		t.Helper()
		a := c.call(http.MethodGet, processes+query, nil)
		diff(t, "Cache-Control", "no-store", a.header.Get("Cache-Control"))
		return c.process(http.StatusOK, a)
	}
	diff(t, "none", object{"items": []any{}, "next": nil}, get(""))
	s.sender(t).made(draft) // of another account
	waiting, completed, declined := c.made(of(invitee, reader, invitee.with(fields{"email": "jon@example.is"}))), c.made(draft), c.made(draft)
	answer := func(p object, what string, body fields) {
		t.Helper()
		path := answers + p["signingProcessId"].(string) + "/participants/" + participant(p, 0)["participantId"].(string) + what
		c.want(c.call(http.MethodPost, path, body), http.StatusNoContent, nil)
	}
	answer(completed, "/sign", fields{"sandboxUserId": user})
	answer(declined, "/decline", fields{"reason": "No."})

	list := get("")["items"].([]any)
	if len(list) != 3 {
		t.Fatalf("%d are listed", len(list))
	}
	created := func(p object) time.Time {
		t.Helper()
		at, err := time.Parse(time.RFC3339, p["createdAt"].(string))
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	week := created(waiting).Add(7 * 24 * time.Hour).Format("2006-01-02T15:04:05.000Z")
	for i, want := range []object{
		{"signingProcessId": waiting["signingProcessId"], "status": "Waiting", "createdAt": waiting["createdAt"], "expiresAt": week, "endedAt": nil, "fileName": "contract.pdf", "signers": 2.0, "signed": 0.0, "viewers": 1.0},
		{"signingProcessId": completed["signingProcessId"], "status": "Completed", "createdAt": completed["createdAt"], "expiresAt": nil, "fileName": "contract.pdf", "signers": 1.0, "signed": 1.0, "viewers": 0.0},
		{"signingProcessId": declined["signingProcessId"], "status": "Declined", "createdAt": declined["createdAt"], "expiresAt": nil, "fileName": "contract.pdf", "signers": 1.0, "signed": 0.0, "viewers": 0.0},
	} {
		got := list[i].(object)
		if _, said := want["endedAt"]; !said {
			if ended, err := time.Parse("2006-01-02T15:04:05.000Z", got["endedAt"].(string)); err != nil || ended.Before(created(want)) {
				t.Errorf("endedAt %v", got["endedAt"])
			}
			want["endedAt"] = got["endedAt"]
		}
		diff(t, "item", want, got)
	}
	ids := func(query string) (ids []any, next any) {
		t.Helper()
		page := get(query)
		for _, one := range page["items"].([]any) {
			ids = append(ids, one.(object)["signingProcessId"])
		}
		return ids, page["next"]
	}
	all := []any{waiting["signingProcessId"], completed["signingProcessId"], declined["signingProcessId"]}
	for query, want := range map[string][]any{
		"?status=Waiting": all[:1], "?status=Completed&limit=1": all[1:2], "?status=Declined": all[2:], "?status=Expired": nil, "?limit=200&unknown=1": all, "?limit=3": all,
		"?createdAfter=" + url.QueryEscape(created(waiting).Add(time.Hour).Format(time.RFC3339)):                                    nil,
		"?createdAfter=" + url.QueryEscape(created(waiting).Add(-time.Hour).In(time.FixedZone("", -3600)).Format(time.RFC3339Nano)): all,
	} {
		got, next := ids(query)
		diff(t, query, want, got)
		diff(t, "next of "+query, nil, next)
	}
	first, next := ids("?limit=2")
	diff(t, "first page", all[:2], first)
	c.want(c.call(http.MethodDelete, pathOf(waiting), nil), http.StatusNoContent, nil)
	second, end := ids("?limit=2&after=" + next.(string))
	diff(t, "second page", all[2:], second)
	diff(t, "next of the second page", nil, end)
}

// spec 4.8: each wrong parameter is named, all in one answer.
func TestFaultyListOfProcesses(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).client(t, account.ScopePortalRead)
	for query, want := range map[string][]string{
		"?status=waiting":                          {"status"},
		"?status=None":                             {"status"},
		"?createdAfter=yesterday":                  {"createdAfter"},
		"?createdAfter=2026-03-02":                 {"createdAfter"},
		"?limit=0":                                 {"limit"},
		"?limit=201":                               {"limit"},
		"?limit=ten":                               {"limit"},
		"?limit=99999999999999999999":              {"limit"},
		"?after=1":                                 {"after"},
		"?limit=1&limit=1":                         {"limit"},
		"?status=Waiting&status=Waiting":           {"status"},
		"?status=x&createdAfter=x&limit=x&after=x": {"status", "createdAfter", "limit", "after"},
		"?status=&createdAfter=&limit=&after=":     {"status", "createdAfter", "limit", "after"},
		"?limit=%zz":                               {"$"},
		"?after=" + url.QueryEscape("AQAAAAAAAAAAYQ\x00\r\nx"): {"after"},
	} {
		a := c.call(http.MethodGet, processes+query, nil)
		p := c.process(http.StatusBadRequest, a)
		diff(t, "title", "One or more validation errors occurred.", p["title"].(string))
		diff(t, "Content-Type", problemType, a.header.Get("Content-Type"))
		got := p["errors"].(object)
		for _, field := range want {
			if messages, _ := got[field].([]any); len(messages) == 0 {
				t.Errorf("%s: %s", query, a.body)
			}
		}
		diff(t, "faults of "+query, len(want), len(got))
	}
}
