package httpapi_test

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/stamp"
)

// spec 4.1 and 4.2: 201 with the process, its place and the links; participants are in the
// order of the request (spec 1.5), and a later GET answers the same, to any client of the
// account.
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
	want := object{"signingProcessId": id, "status": "Waiting", "createdAt": made["createdAt"]}
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

// document is what spec 4.4 has of a process, its content decoded.
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

// spec 4.4: the document as it is now, under the name that it was sent with.
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

// spec 4.4: nothing of it can be reached any more, and nothing is left.
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

// wantNoProcess checks that no method finds a process.
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

// spec 1.5, 1.7, 4.1 and 4.5: what is another account's, unknown or of
// the web application does not exist.
func TestProcessThatIsNotYours(t *testing.T) {
	t.Parallel()
	s := start(t, empty)
	c, other := s.sender(t), s.sender(t)
	user := c.user(person)
	theirs, web := other.made(draft), s.webProcess(t, c.account)
	for name, test := range map[string]struct{ process, participant string }{
		"another account's":     {theirs["signingProcessId"].(string), participant(theirs, 0)["participantId"].(string)},
		"the web application's": {web.ID, web.Participants[0].ID},
		"unknown":               {uuid.NewString(), uuid.NewString()},
		"no UUID":               {"1", "1"},
		"a zero byte":           {"%00", "%00"},
		"no UTF-8":              {"%ff", "%ff"},
		"long":                  {strings.Repeat("a", 10_000), strings.Repeat("a", 10_000)},
	} {
		t.Run(name, func(t *testing.T) {
			c.in(t).wantNoProcess(test.process, test.participant, user)
		})
	}
	unknown := c.object(c.call(http.MethodGet, "/api/v1/portal/signing-processes/"+uuid.NewString(), nil))
	diff(t, "detail, which is production's too", "The signing process was deleted, or does not exist.", unknown["detail"])
	diff(t, "read by its owner", theirs, other.shown(theirs))
	c.wantDocuments(2)
}

// webProcess is a process of the web application, in the same store.
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

// spec 4.2 and 4.3: seven days later the process is expired, and the links lead nowhere.
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
