package handbook_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// client calls the API of a sandbox.
type client struct{ base, token string }

func (s sandbox) client(t *testing.T) client {
	t.Helper()
	c := client{base: s.BaseURL}
	c.token = c.call(t, "/api/v1/auth/token", map[string]any{
		"grant_type": "client_credentials", "client_id": s.ClientID, "client_secret": s.ClientSecret,
	})["access_token"].(string)
	return c
}

// call posts to a path, which has to go well.
func (c client) call(t *testing.T, path string, body any) (answer map[string]any) {
	t.Helper()
	content, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	if body == nil {
		content = nil
	}
	testenv.Wait(t, path, func() bool {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.base+path, bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		if c.token != "" {
			r.Header.Set("Authorization", "Bearer "+c.token)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(response.Body)
		response.Body.Close()
		switch {
		case response.StatusCode == http.StatusServiceUnavailable: // the renderer is being made ready
			return false
		case err != nil || response.StatusCode/100 != 2:
			t.Fatalf("%s: %s, %v\n%s", path, response.Status, err, content)
		case len(content) > 0:
			if err := json.Unmarshal(content, &answer); err != nil {
				t.Fatalf("%s: %v\n%s", path, err, content)
			}
		}
		return true
	})
	return answer
}

// process has a process made and signed, and returns its ID.
func (c client) process(t *testing.T) string {
	t.Helper()
	user := c.call(t, "/api/v1/sandbox/users", map[string]any{"fullName": "Sandbox Signer", "kennitala": "0101302990", "phone": "5550102"})
	document := contents(t, filepath.Join(folder(t), "document.pdf"))
	made := c.call(t, "/api/v1/portal/signing-processes", map[string]any{
		"file": map[string]any{"name": "contract.pdf", "contentBase64": document}, "signatureLocation": "BottomRight",
		"participants": []map[string]any{{"name": "Sandbox Signer", "email": "signer@example.is", "role": "Signer"}},
	})
	id := made["signingProcessId"].(string)
	signer := made["participants"].([]any)[0].(map[string]any)["participantId"].(string)
	c.call(t, "/api/v1/sandbox/portal/signing-processes/"+id+"/participants/"+signer+"/sign", map[string]any{"sandboxUserId": user["uuid"]})
	return id
}
