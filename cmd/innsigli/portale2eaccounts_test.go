package main

import (
	"bytes"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// What a client of an account makes, every client of the account sees and may do with; for others it does
// not exist (spec 1.7).
func TestPortalAccounts(t *testing.T) {
	testenv.Slow(t, "foreign programs verify what is signed")
	store := "bolt:" + filepath.Join(shortFolder(t), "store.db")
	server := startSandbox(t, installed(t), store, nil)
	one, stranger := server.signIn(t), server.account(t, store)
	colleague := server.colleague(t, store)
	user := one.addUser(t, people[0])
	strangers := stranger.addUser(t, people[0])
	made := one.createProcess(t, inviteText(t, document, invitee{Name: "Anna", Email: "anna@example.is", Role: "Signer"}))

	stranger.unknown(t, made.processReply, strangers)
	at := processesPath + "/" + made.ProcessID
	if diff := cmp.Diff(one.get(t, at), colleague.get(t, at)); diff != "" {
		t.Errorf("another client of the account sees (-one +other):\n%s", diff)
	}
	if !bytes.Equal(colleague.document(t, made.ProcessID), document) {
		t.Error("another client of the account has another document")
	}
	one.refused(t, http.StatusNotFound, "Not found", http.MethodPost, made.answerPath(0, "sign"), signText(strangers))
	colleague.wants(t, http.StatusNoContent, http.MethodPost, made.answerPath(0, "sign"), signText(user))
	if status := one.process(t, made.ProcessID).Participants[0].Status; status != "Completed" {
		t.Errorf("the participant is %s", status)
	}
	stranger.unknown(t, made.processReply, strangers)
	colleague.wants(t, http.StatusNoContent, http.MethodDelete, at, "")
	one.unknown(t, made.processReply, user)
}

// colleague is another client of the sandbox's account.
func (p *sandboxProcess) colleague(t *testing.T, store string) *client {
	t.Helper()
	fields := strings.Fields(output(t, done, "client", "create", sandboxAccount, "colleague", "--store", store)) // client id ID client secret SECRET
	c := clientOf(p.BaseURL)
	_, token, err := c.issue(fields[2], fields[5])
	if err != nil || token.AccessToken == "" {
		t.Fatalf("token: %+v, %v", token, err)
	}
	c.token = token.AccessToken
	return c
}
