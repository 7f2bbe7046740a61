package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// processesPath is where processes are made.
const processesPath = "/api/v1/portal/signing-processes"

// processReply is what the tests read of a process.
type processReply struct {
	ProcessID    string `json:"signingProcessId"`
	Participants []struct {
		ID         string  `json:"participantId"`
		Status     string  `json:"status"`
		SigningURL *string `json:"signingUrl"`
	} `json:"participants"`
	Content []byte `json:"contentBase64"` // of its document
}

// answerPath is that of the sandbox call with which a participant answers.
func (p processReply) answerPath(participant int, call string) string {
	return "/api/v1/sandbox/portal/signing-processes/" + p.ProcessID + "/participants/" + p.Participants[participant].ID + "/" + call
}

// processText is the body of the call that makes a process of signers and a viewer.
func processText(content []byte, signers ...person) string {
	var list strings.Builder
	for _, p := range signers {
		fmt.Fprintf(&list, `{"name":%q,"email":"%s@example.is","role":"Signer"},`, p.name, p.phone)
	}
	return fmt.Sprintf(`{"file":{"name":"contract.pdf","contentBase64":%q},"signatureLocation":"BottomRight",
		"participants":[%s{"name":"Some Viewer","email":"viewer@example.is","role":"Viewer"}]}`,
		base64.StdEncoding.EncodeToString(content), &list)
}

// createProcess makes a process, once the server is ready to look for places.
func (c *client) createProcess(t testing.TB, body string) reply {
	t.Helper()
	var a reply
	testenv.Wait(t, "a process", func() bool {
		var err error
		a, err = c.call(t.Context(), http.MethodPost, processesPath, strings.NewReader(body))
		if err != nil || a.Status != http.StatusCreated && a.Status != http.StatusServiceUnavailable {
			t.Fatalf("making a process: %v, %v", a, err)
		}
		return a.Status == http.StatusCreated
	})
	return a
}
