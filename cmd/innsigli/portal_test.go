package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// invitee is a participant of a body that creates a process.
type invitee struct {
	Name      string `json:"name"`
	Email     string `json:"email"`
	Role      string `json:"role"`
	Kennitala string `json:"kennitala,omitempty"`
	Phone     string `json:"phoneNumber,omitempty"`
}

const documentName = "Leigusamningur.pdf"

// inviteText is the body that creates a process of some people.
func inviteText(t testing.TB, content []byte, people ...invitee) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"file":              map[string]any{"name": documentName, "contentBase64": content},
		"participants":      people,
		"signatureLocation": "BottomRight",
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// wants makes a request and checks the status of its answer.
func (c *client) wants(t *testing.T, status int, method, path, body string) reply {
	t.Helper()
	a, err := c.call(t.Context(), method, path, strings.NewReader(body))
	if err != nil || a.Status != status {
		t.Fatalf("%s %s: %v, %v; want %d", method, path, a, err, status)
	}
	return a
}

// refused checks that a request is refused with a title.
func (c *client) refused(t *testing.T, status int, title, method, path, body string) {
	t.Helper()
	if a := c.wants(t, status, method, path, body); a.Title != title {
		t.Errorf("%s %s: %v, want %s", method, path, a, title)
	}
}

// unknown checks that the API knows nothing of a process, whatever it is asked about it.
func (c *client) unknown(t *testing.T, p processReply, user string) {
	t.Helper()
	const title = "Not found"
	one := processesPath + "/" + p.ProcessID
	c.refused(t, http.StatusNotFound, title, http.MethodGet, one, "")
	c.refused(t, http.StatusNotFound, title, http.MethodGet, one+"/document", "")
	c.refused(t, http.StatusNotFound, title, http.MethodDelete, one, "")
	c.refused(t, http.StatusNotFound, title, http.MethodPost, p.answerPath(0, "sign"), signText(user))
	c.refused(t, http.StatusNotFound, title, http.MethodPost, p.answerPath(0, "decline"), `{"reason":""}`)
}

// signText is the body with which a sandbox user signs.
func signText(user string) string { return fmt.Sprintf(`{"sandboxUserId":%q}`, user) }

// addUser makes a sandbox user and returns the ID.
func (c *client) addUser(t *testing.T, p person) string {
	t.Helper()
	return c.must(t, http.MethodPost, "/api/v1/sandbox/users", p.profile()).UUID
}

// process is a process as it is now.
func (c *client) process(t *testing.T, id string) reply {
	t.Helper()
	return c.must(t, http.MethodGet, processesPath+"/"+id, "")
}

// document is the document of a process as it is now.
func (c *client) document(t *testing.T, id string) []byte {
	t.Helper()
	return c.must(t, http.MethodGet, processesPath+"/"+id+"/document", "").Content
}

// object is a JSON object, all of it.
type object = map[string]any

// get is the whole answer to a GET.
func (c *client) get(t *testing.T, path string) (all object) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	answer, err := c.http.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(&all); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: status %d, %v", path, answer.StatusCode, err)
	}
	return all
}
