package httpapi_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/idp"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/storage"
)

// spec 4.1 and 4.2: 201 with the process, its Location and the links. Participants are in the order of the request
// (spec 1.5). Any client of the account can read the process.
func TestProcessIsCreated(t *testing.T) {
	t.Parallel()
	created := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
	s := start(t, empty)
	c := s.sender(t)
	link := regexp.MustCompile(`^` + regexp.QuoteMeta(s.url) + `/sign/[0-9A-Za-z_-]{43}$`)
	a := c.create(of(invitee.with(fields{"kennitala": kennitala, "phoneNumber": phone}), reader, invitee.with(fields{"email": "jon@example.is", "kennitala": nil, "phoneNumber": nil})))
	made := c.process(http.StatusCreated, a)
	id, _ := made["signingProcessId"].(string)
	diff(t, "Location", processes+"/"+id, a.header.Get("Location"))
	if at, _ := made["createdAt"].(string); !created.MatchString(at) || uuid.Validate(id) != nil || id != strings.ToLower(id) {
		t.Errorf("createdAt or signingProcessId of %s", a.body)
	}
	want := object{"signingProcessId": id, "status": "Waiting", "createdAt": made["createdAt"], "warnings": []any{}}
	var participants []any
	drawn := map[any]bool{id: true}
	for i, sent := range []object{
		{"name": invitee["name"], "email": "sigrun@example.is", "role": "Signer", "status": "Waiting"},
		{"name": reader["name"], "email": "vedis@example.is", "role": "Viewer", "status": "None"},
		{"name": invitee["name"], "email": "jon@example.is", "role": "Signer", "status": "Waiting"},
	} {
		got := participant(made, i)
		url, _ := got["signingUrl"].(string)
		if err := uuid.Validate(got["participantId"].(string)); err != nil || !link.MatchString(url) {
			t.Errorf("participantId or signingUrl of %v", got)
		}
		drawn[got["participantId"]], drawn[url] = true, true
		for member, value := range (object{"hasCompleted": false, "hasDeclined": false, "declineReason": nil, "participantId": got["participantId"], "signingUrl": url}) {
			sent[member] = value
		}
		participants = append(participants, sent)
	}
	want["participants"] = participants
	diff(t, "process", want, made)
	diff(t, "number of what was drawn", 7, len(drawn))
	diff(t, "read later", want, c.shown(made))
	diff(t, "read by a colleague", want, c.colleague(account.ScopePortalRead).shown(object{"signingProcessId": strings.ToUpper(id)}))
	c.wantDocuments(1)
}

// document returns the document of a process (spec 4.4).
func (c *client) document(p object) (fileName string, content []byte) {
	c.Helper()
	a := c.call(http.MethodGet, pathOf(p)+"/document", nil)
	body := c.process(http.StatusOK, a)
	diff(c.T, "Content-Length", strconv.Itoa(len(a.body)), a.header.Get("Content-Length"))
	diff(c.T, "Content-Type", "application/json", a.header.Get("Content-Type"))
	content, err := base64.StdEncoding.Strict().DecodeString(body["contentBase64"].(string))
	if err != nil || len(body) != 2 {
		c.Fatalf("%v: members of %.200s", err, a.body)
	}
	return body["fileName"].(string), content
}

// spec 4.4: the current document, with the file name that was sent.
func TestDocumentOfAProcess(t *testing.T) {
	t.Parallel()
	c := start(t, empty).sender(t)
	for _, name := range []string{"contract.pdf", `<"þ">&'` + "\u2028.PDF"} {
		made := c.made(draft.with(fields{"file.name": name}))
		for _, reads := range []*client{c, c.colleague(account.ScopePortalRead)} {
			got, content := reads.document(made)
			diff(t, "file name", name, got)
			if !bytes.Equal(page, content) {
				t.Errorf("the document of %d bytes is not that of %d bytes which was sent", len(content), len(page))
			}
		}
	}
}

// spec 4.4: a deleted process does not exist, and nothing of it is stored.
func TestProcessIsDeleted(t *testing.T) {
	t.Parallel()
	c := start(t, empty).sender(t)
	user := c.user(person)
	kept, made := c.made(draft), c.made(draft)
	c.want(c.call(http.MethodDelete, pathOf(made), nil), http.StatusNoContent, nil)
	c.wantNoProcess(made["signingProcessId"].(string), participant(made, 0)["participantId"].(string), user)
	c.wantDocuments(1)
	c.want(c.colleague(account.ScopePortalWrite).call(http.MethodDelete, pathOf(kept), nil), http.StatusNoContent, nil)
	c.wantDocuments(0)
}

// wantNoProcess checks that no call finds a process.
func (c *client) wantNoProcess(id, participant, user string) {
	c.Helper()
	path, inSandbox := processes+"/"+id, answers+id+"/participants/"+participant
	for _, call := range []struct {
		method, path string
		body         any
	}{
		{http.MethodGet, path, nil}, {http.MethodGet, path + "/document", nil}, {http.MethodDelete, path, nil},
		{http.MethodPost, inSandbox + "/sign", fields{"sandboxUserId": user}}, {http.MethodPost, inSandbox + "/decline", fields{"reason": "No."}},
	} {
		c.wantProblem(c.call(call.method, call.path, call.body), http.StatusNotFound, "Not found")
	}
}

// spec 4.5: a process of the web application does not exist for the API.
func TestProcessOfTheWebApplication(t *testing.T) {
	t.Parallel()
	s := start(t, empty)
	c := s.sender(t)
	web := s.webProcess(t, c.account)
	c.wantNoProcess(web.ID, web.Participants[0].ID, c.user(person))
	unknown := c.object(c.call(http.MethodGet, processes+"/"+web.ID, nil))
	diff(t, "detail, which is production's too", "The signing process was deleted, or does not exist.", unknown["detail"])
	c.wantDocuments(1)
}

// webProcess creates a process of the web application in the same store.
func (s *server) webProcess(t *testing.T, owner string) portal.ProcessView {
	t.Helper()
	document, err := s.requests.Upload(t.Context(), bytes.NewReader(page), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	made, err := s.processes.Create(t.Context(), portal.Draft{
		Account: owner, Origin: portal.Web, FileName: "web.pdf", Document: document, Page: 1, Corner: stamp.TopLeft,
		Participants: []portal.Invitee{{Name: "Vefur", Email: "vefur@example.is", Role: portal.Signer}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// spec 4.2 and 4.3: a process expires after seven days, and its links are removed.
func TestProcessExpires(t *testing.T) {
	t.Parallel()
	bubble(t, empty, func(t *testing.T, s *server) {
		c := s.sender(t)
		user := c.user(person)
		made := c.made(of(invitee, reader))
		time.Sleep(7 * 24 * time.Hour)
		c.login()
		diff(t, "process after seven days", made, c.shown(made))
		time.Sleep(time.Second)
		for i := range 2 {
			participant(made, i)["signingUrl"] = nil
		}
		made["status"] = "Expired"
		diff(t, "process after that", made, c.shown(made))
		c.wantProblem(c.signAs(made, 0, user), http.StatusBadRequest, "Signing process is not waiting")
		c.document(made)
		c.want(c.call(http.MethodDelete, pathOf(made), nil), http.StatusNoContent, nil)
	})
}

// processOwner returns the portal's part that the signing service and the portal share.
func (s *server) processOwner(db *faultyStore) *portal.Owner {
	return portal.NewOwner(db.Processes(), db, s.documents, db.EvidenceLog(), billing{s.accounts}, portal.Options{Events: s.hooks, SandboxUsers: sandboxUsers{db.Sandbox()}})
}

// billing adapts the account service to the portal.
type billing struct{ *account.Service }

func (b billing) Terms(ctx context.Context, id string) (portal.Terms, error) {
	terms, err := b.Service.Terms(ctx, id)
	return portal.Terms(terms), err
}

// sandboxUsers adapts the sandbox's store to the portal.
type sandboxUsers struct{ sandbox.Store }

func (p sandboxUsers) SandboxUser(ctx context.Context, owner, id string) (idp.Person, bool, error) {
	u, err := p.User(ctx, owner, id)
	if errors.Is(err, storage.ErrNotFound) {
		err = portal.ErrNotFound
	}
	return idp.Person{Account: owner, Method: idp.App, Kennitala: u.Kennitala}, u.Action == sandbox.Success && u.Delay == 0, err
}

var empty = wiring{renderer: pdftest.Blank{}}

const processes = "/api/v1/portal/signing-processes"

// answers is the prefix of the paths at which sandbox users answer.
const answers = "/api/v1/sandbox/portal/signing-processes/"

// sender returns a client with all scopes, of an account with a payment method.
func (s *server) sender(t *testing.T) *client {
	t.Helper()
	c := s.client(t, account.Scopes()...)
	if err := s.accounts.SetPaymentMethod(t.Context(), c.account, true); err != nil {
		t.Fatal(err)
	}
	return c
}

// roles are the roles of participants.
var roles = []string{"Signer", "Viewer"}

// invitee is a signer in the body that creates a process.
var invitee = fields{"name": "Sigrún Þórsdóttir", "email": "sigrun@example.is", "role": "Signer"}

// reader is a viewer.
var reader = fields{"name": "Védís Önnudóttir", "email": "vedis@example.is", "role": "Viewer"}

// draft is a body that creates a process with one signer.
var draft = fields{
	"file.name": "contract.pdf", "file.contentBase64": page,
	"signatureLocation": "BottomLeft", "participants": []fields{invitee},
}

// of returns a draft with other participants.
func of(participants ...fields) fields { return draft.with(fields{"participants": participants}) }

// signers returns n different signers.
func signers(n int) (list []fields) {
	for i := range n {
		list = append(list, invitee.with(fields{"email": strings.Repeat("a", i+1) + "@example.is"}))
	}
	return list
}

// create sends a body that creates a process.
func (c *client) create(body any) answer {
	c.Helper()
	return c.call(http.MethodPost, processes, body)
}

// made creates a process.
func (c *client) made(body any) object {
	c.Helper()
	return c.process(http.StatusCreated, c.create(body))
}

// process returns the process in an answer.
func (c *client) process(status int, a answer) object {
	c.Helper()
	if a.status != status {
		c.Fatalf("status %d, want %d: %.300s", a.status, status, a.body)
	}
	return c.object(a)
}

// shown reads a process.
func (c *client) shown(p object) object {
	c.Helper()
	return c.process(http.StatusOK, c.call(http.MethodGet, pathOf(p), nil))
}

// pathOf returns the path of a process.
func pathOf(p object) string { return processes + "/" + p["signingProcessId"].(string) }

// participant returns a participant of a process.
func participant(p object, i int) object { return p["participants"].([]any)[i].(object) }

// spec 4.8: the processes of an account, in the order of creation, in pages.
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

// spec 4.8: one answer names all invalid parameters.
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
