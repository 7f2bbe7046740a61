package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// answering is the path of a sandbox call about a participant.
func answering(p object, i int, call string) string {
	return answers + p["signingProcessId"].(string) + "/participants/" + participant(p, i)["participantId"].(string) + "/" + call
}

// signAs has a sandbox user sign as a participant.
func (c *client) signAs(p object, i int, user string) answer {
	c.Helper()
	return c.call(http.MethodPost, answering(p, i, "sign"), fields{"sandboxUserId": user})
}

func (c *client) declineAs(p object, i int, body any) answer {
	c.Helper()
	return c.call(http.MethodPost, answering(p, i, "decline"), body)
}

// signedAs has a sandbox user sign as a participant, which the process shows.
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

// spec 4.2: Completed when every signer has signed, whatever viewers do; the document is the
// one with every signature, at level Lt (spec 4.1).
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

// spec 4.2 and 6.4: the process is declined at once and for good.
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

// spec 1.1 and 1.2: what the calls may be sent, before anything is looked for.
func TestFaultyAnswers(t *testing.T) {
	t.Parallel()
	c := start(t, empty).sender(t)
	made := c.made(draft)
	nobody := object{"signingProcessId": uuid.NewString(), "participants": made["participants"]}
	for name, test := range map[string]struct {
		call string
		sent any
		path string
	}{
		"no user":                    {"sign", fields{}, "sandboxUserId"},
		"user null":                  {"sign", fields{"sandboxUserId": nil}, "sandboxUserId"},
		"user of white space":        {"sign", fields{"sandboxUserId": " "}, "sandboxUserId"},
		"user that is no UUID":       {"sign", fields{"sandboxUserId": "Sandbox Signer"}, "sandboxUserId"},
		"user in braces":             {"sign", fields{"sandboxUserId": "{" + uuid.NewString() + "}"}, "sandboxUserId"},
		"user of another type":       {"sign", fields{"sandboxUserId": 5}, "sandboxUserId"},
		"user in an object":          {"sign", fields{"sandboxUserId": object{"uuid": uuid.NewString()}}, "sandboxUserId"},
		"no body":                    {"sign", "", "$"},
		"no JSON":                    {"sign", "sandboxUserId", "$"},
		"user twice":                 {"sign", `{"sandboxUserId":"a","sandboxUserId":"b"}`, "sandboxUserId"},
		"reason of 257 characters":   {"decline", fields{"reason": strings.Repeat("þ", 257)}, "reason"},
		"reason with a line break":   {"decline", fields{"reason": "No,\nthanks"}, "reason"},
		"reason of another type":     {"decline", fields{"reason": true}, "reason"},
		"reason in a list":           {"decline", fields{"reason": []string{"No."}}, "reason"},
		"reason that is not in JSON": {"decline", "No.", "$"},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			for _, p := range []object{made, nobody} {
				c.wantInvalid(c.call(http.MethodPost, answering(p, 0, test.call), test.sent), test.path)
			}
		})
	}
	diff(t, "process", made, c.shown(made))
}

// spec 6.4: production has no such calls, token or not (spec 7.1).
func TestProductionHasNobodyAnswer(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{production: true, renderer: blank{}}).sender(t)
	made := c.made(draft)
	for _, token := range []string{c.token, "wrong"} {
		c := c.in(t)
		c.token = token
		c.wantProblem(c.signAs(made, 0, uuid.NewString()), http.StatusNotFound, "Not found")
		c.wantProblem(c.declineAs(made, 0, nil), http.StatusNotFound, "Not found")
	}
	diff(t, "process", made, c.shown(made))
}
