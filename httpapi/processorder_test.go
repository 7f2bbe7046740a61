package httpapi_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
)

// begun has a participant log in by the link and begin to sign. Nobody drives the request, so its turn
// lasts.
func (c *client) begun(p object, i int, kennitala string) (request string) {
	c.Helper()
	one := participant(p, i)
	token := strings.TrimPrefix(one["signingUrl"].(string), c.url+"/sign/")
	process, participant, err := c.processes.Login(c.Context(), token, portal.Person{Name: "Sandbox Signer", Kennitala: kennitala, At: time.Now()})
	if err != nil {
		c.Fatal(err)
	}
	place, err := c.processes.ParticipantView(c.Context(), process, participant)
	if err != nil {
		c.Fatal(err)
	}
	started, err := c.processes.Sign(c.Context(), process, participant, portal.SignRequest{Method: idp.App, Revision: place.Revision()})
	if err != nil {
		c.Fatal(err)
	}
	one["signingUrl"] = c.url + "/sign/" + process + "/" + participant
	return started.ID
}

// spec 6.4: 423 while a signature on the document is in progress, and the call can be made
// again. Meanwhile the process and its document are as they were, but for the link (spec 4.3).
func TestSignatureInProgress(t *testing.T) {
	t.Parallel()
	c := start(t, empty).sender(t)
	c.user(person)
	second := c.user(another)
	made := c.made(of(signers(2)...))
	request := c.begun(made, 0, kennitala)
	for _, i := range []int{0, 1} {
		a := c.signAs(made, i, second)
		if i == 0 {
			c.wantProblem(a, http.StatusBadRequest, "Kennitala does not match") // the place is taken
			continue
		}
		c.wantProblem(a, http.StatusLocked, "Signature in progress")
		diff(t, "Retry-After", "1", a.header.Get("Retry-After"))
	}
	c.wantProblem(c.declineAs(made, 0, nil), http.StatusLocked, "Signature in progress")
	diff(t, "process", made, c.shown(made))
	if _, content := c.document(made); !bytes.Equal(page, content) {
		t.Error("the document is not the one that was sent")
	}
	if _, err := c.requests.Drive(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	first := participant(made, 0)
	first["status"], first["hasCompleted"], first["signingUrl"] = "Completed", true, nil
	c.signedAs(made, 1, second, "Completed")
	_, content := c.document(made)
	diff(t, "signatures", 2, len(c.signatures(content)))
}

// spec 4.4: a signature under way ends with its process, and nothing of it remains.
func TestProcessIsDeletedDuringASignature(t *testing.T) {
	t.Parallel()
	c := start(t, empty).sender(t)
	c.user(person)
	made := c.made(draft)
	request := c.begun(made, 0, kennitala)
	c.want(c.call(http.MethodDelete, pathOf(made), nil), http.StatusNoContent, nil)
	c.wantNothing()
	if got, err := c.requests.Drive(t.Context(), request); err == nil && !got.Done {
		t.Errorf("the request goes on: %+v", got)
	}
	c.wantNothing()
}

// spec 6.4: of several reasons the first one in their order is
// told: 404, viewer, answered, kennitala, cannot sign now, not waiting, and then 423.
func TestOrderOfReasonsNotToAnswer(t *testing.T) {
	t.Parallel()
	s := start(t, empty)
	c := s.sender(t)
	user, theirs := c.user(person), s.sender(t).user(person)
	ready := c.user(another)
	cancels := c.user(fields{"fullName": "Who Cancels", "kennitala": "1111111111", "phone": "111", "action": "Cancel"})
	waits := c.user(fields{"fullName": "Who Waits", "kennitala": "2222222222", "phone": "222", "delayInSecondsBeforeAction": 1})
	const answered, open, signing, declines, pinned, viewer = 0, 1, 2, 3, 4, 5
	made := c.made(of(append(signers(4), invitee.with(fields{"kennitala": kennitala}), reader)...))
	c.signedAs(made, answered, user, "Waiting")
	c.begun(made, signing, kennitala) // a turn is taken from here on
	reasons := func(status int, title string) {
		t.Helper()
		for _, test := range []struct {
			participant int
			user        string
			status      int
			title       string
		}{
			{viewer, uuid.NewString(), http.StatusNotFound, "Not found"},
			{answered, theirs, http.StatusNotFound, "Not found"},
			{viewer, cancels, http.StatusBadRequest, "Participant is a viewer"},
			{answered, cancels, http.StatusBadRequest, "Participant has already answered"},
			{answered, user, http.StatusBadRequest, "Participant has already answered"},
			{pinned, cancels, http.StatusBadRequest, "Kennitala does not match"},
			{pinned, ready, http.StatusBadRequest, "Kennitala does not match"},
			{open, cancels, http.StatusBadRequest, "Sandbox user cannot sign now"},
			{open, waits, http.StatusBadRequest, "Sandbox user cannot sign now"},
			{open, ready, status, title},
			{pinned, user, status, title},
		} {
			c.wantProblem(c.signAs(made, test.participant, test.user), test.status, test.title)
		}
		c.wantProblem(c.declineAs(made, viewer, nil), http.StatusBadRequest, "Participant is a viewer")
		c.wantProblem(c.declineAs(made, answered, nil), http.StatusBadRequest, "Participant has already answered")
		c.wantProblem(c.declineAs(made, signing, nil), status, title)
		nobody := object{"signingProcessId": made["signingProcessId"], "participants": []any{object{"participantId": uuid.NewString()}}}
		c.wantProblem(c.signAs(nobody, 0, ready), http.StatusNotFound, "Not found")
		c.wantProblem(c.declineAs(nobody, 0, nil), http.StatusNotFound, "Not found")
	}
	reasons(http.StatusLocked, "Signature in progress")
	diff(t, "process", made, c.shown(made))
	c.want(c.declineAs(made, declines, nil), http.StatusNoContent, nil) // another's turn is not in the way
	reasons(http.StatusBadRequest, "Signing process is not waiting")
	c.wantProblem(c.signAs(made, declines, cancels), http.StatusBadRequest, "Participant has already answered")
}
