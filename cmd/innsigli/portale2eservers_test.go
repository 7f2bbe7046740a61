package main

import (
	"net/http"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
)

// A server dies while a participant signs. Another one on its database puts the signature into the document,
// and nobody else signs before it is there.
func TestPortalServerDies(t *testing.T) {
	testenv.Slow(t, "a server dies, and another waits for what it had in hand")
	t.Parallel()
	s := newStory(t, build(t, "-tags", "failpoints"), postgrestest.Database(t))
	made := s.createProcess(t, inviteText(t, lease, tenants...))
	dying := s.start("signing/signed")
	other := clientOf(dying.BaseURL)
	other.token = s.token
	if a, err := other.call(t.Context(), http.MethodPost, made.answerPath(0, "sign"), strings.NewReader(signText(s.users[0]))); err == nil {
		t.Errorf("the server that was to die says %v", a)
	}
	if !dying.dies(t) {
		t.Fatalf("the server did not die:\n%s", dying.talk())
	}
	s.signsInTurn(t, made, 2, 1)
	anna, _ := s.toldOfSignature(t, made, 0, 0, 1, s.began)
	jon, _ := s.toldOfSignature(t, made, 2, 1, 2, s.began)
	s.refused(t, http.StatusBadRequest, "Participant has already answered", http.MethodPost, made.answerPath(0, "sign"), signText(s.users[0]))
	sol, _ := s.signs(t, made, 3, 2)
	s.told(t, made, "process.completed", object{"signingProcessId": made.ProcessID, "participants": []any{anna, jon, sol}})
	s.showsProcess(t, made, "Completed", "Completed", "None", "Completed", "Completed")
	if n := len(s.signatures(t, made)); n != 3 {
		t.Errorf("%d signatures", n)
	}
	s.ends(t)
}

// signsInTurn has a participant sign once nobody else does. A job that a server had in hand which died is
// another's when its lease has run out, after two minutes.
func (s *story) signsInTurn(t *testing.T, made reply, participant, user int) {
	t.Helper()
	testenv.Wait(t, "a turn to sign", func() bool {
		a, err := s.call(t.Context(), http.MethodPost, made.answerPath(participant, "sign"), strings.NewReader(signText(s.users[user])))
		if err != nil || a.Status != http.StatusNoContent && a.Status != http.StatusLocked {
			t.Fatalf("signing in turn: %v, %v\n%s", a, err, s.server.talk())
		}
		return a.Status == http.StatusNoContent
	})
}
