package httpapi_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
)

// answering returns the path of a sandbox call for a participant.
func answering(p object, i int, call string) string {
	return answers + p["signingProcessId"].(string) + "/participants/" + participant(p, i)["participantId"].(string) + "/" + call
}

// signAs makes a sandbox user sign as a participant.
func (c *client) signAs(p object, i int, user string) answer {
	c.Helper()
	return c.call(http.MethodPost, answering(p, i, "sign"), fields{"sandboxUserId": user})
}

func (c *client) declineAs(p object, i int, body any) answer {
	c.Helper()
	return c.call(http.MethodPost, answering(p, i, "decline"), body)
}

// signedAs makes a sandbox user sign as a participant, and checks the process.
func (c *client) signedAs(p object, i int, user, status string) {
	c.Helper()
	c.want(c.signAs(p, i, user), http.StatusNoContent, nil)
	signed := participant(p, i)
	signed["status"], signed["hasCompleted"], signed["signingUrl"] = "Completed", true, nil
	p["status"] = status
	diff(c.T, "process", p, c.shown(p))
}

// another is a second sandbox user.
var another = fields{"fullName": "Jón Þórsson", "kennitala": "0202025559", "phone": "5550102"}

// spec 4.2: a process is Completed when every signer has signed. Its document has every signature, at level Lt (spec
// 4.1).
func TestEverySignerSigns(t *testing.T) {
	c := start(t, wiring{renderer: newRenderer(t)}).sender(t)
	first, second := c.user(person), c.user(another)
	made := c.made(of(invitee.with(fields{"kennitala": kennitala}), reader, invitee.with(fields{"email": "jon@example.is"})))
	c.signedAs(made, 2, strings.ToUpper(second), "Waiting")
	_, once := c.document(made)
	c.signature(once)
	c.signedAs(made, 0, first, "Completed")
	_, twice := c.document(made)
	signatures := c.signatures(twice)
	if len(signatures) != 2 {
		t.Fatalf("%d signatures", len(signatures))
	}
	diff(t, "signers", []string{"Jón Þórsson", "Sandbox Signer"}, []string{signatures[0].SignerName, signatures[1].SignerName})
	for _, signature := range signatures {
		diff(t, "level", "PAdES-BASELINE-LT", signature.Format)
	}
	diff(t, "stamps", 2, len(rects(t, page, twice)))
	c.wantDocuments(1)
}

// spec 4.2 and 6.4: a process that was declined stays declined.
func TestSignerDeclines(t *testing.T) {
	t.Parallel()
	c := start(t, empty).sender(t)
	user := c.user(person)
	for name, test := range map[string]struct {
		sent   any
		reason string
	}{
		"256 characters":     {fields{"reason": strings.Repeat("þ", 256)}, strings.Repeat("þ", 256)},
		"an empty reason":    {fields{"reason": ""}, ""},
		"white space":        {fields{"reason": " \t"}, ""},
		"null":               {fields{"reason": nil}, ""},
		"no reason":          {fields{}, ""},
		"no body":            {nil, ""},
		"nothing but spaces": {"  ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			made := c.made(of(signers(2)...))
			c.want(c.declineAs(made, 1, test.sent), http.StatusNoContent, nil)
			declined := participant(made, 1)
			declined["status"], declined["hasDeclined"], declined["declineReason"], declined["signingUrl"] = "Declined", true, test.reason, nil
			made["status"] = "Declined"
			diff(t, "process", made, c.shown(made))
			c.wantProblem(c.signAs(made, 0, user), http.StatusBadRequest, "Signing process is not waiting")
			c.wantProblem(c.declineAs(made, 0, nil), http.StatusBadRequest, "Signing process is not waiting")
			diff(t, "process afterwards", made, c.shown(made))
		})
	}
}

// beginSigning makes a participant log in with the link and start to sign. The test drives the request, so that the
// signature stays in progress until then.
func (c *client) beginSigning(p object, i int, kennitala string) (request string) {
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

// spec 6.4: 423 while a signature on the document is in progress. Meanwhile the process and its document do not
// change, except the link (spec 4.3).
func TestSignatureInProgress(t *testing.T) {
	t.Parallel()
	c := start(t, empty).sender(t)
	c.user(person)
	second := c.user(another)
	made := c.made(of(signers(2)...))
	request := c.beginSigning(made, 0, kennitala)
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
	c.wantInvalid(c.signAs(made, 0, "Sandbox Signer"), "sandboxUserId") // fields come before anything else
	c.wantInvalid(c.declineAs(made, 0, fields{"reason": true}), "reason")
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
