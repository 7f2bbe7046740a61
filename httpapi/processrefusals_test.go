package httpapi_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/portal"
)

// openPage returns an encrypted document that opens without a password.
func openPage(t *testing.T) []byte {
	t.Helper()
	folder := t.TempDir()
	plain, encrypted := filepath.Join(folder, "plain.pdf"), filepath.Join(folder, "encrypted.pdf")
	if err := os.WriteFile(plain, page, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(testenv.Program(t, "qpdf"), "--encrypt", "", "owner", "256", "--", plain, encrypted).CombinedOutput(); err != nil {
		t.Fatalf("qpdf: %v\n%s", err, out)
	}
	content, err := os.ReadFile(encrypted)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// spec 4.1: documents and pages that are refused, with one example of each answer. Nothing is stored, and the key can be
// used again. Package signing has the table of what is refused.
func TestRefusedProcess(t *testing.T) {
	testenv.Slow(t, "dozens of documents are refused")
	t.Parallel()
	c := start(t, empty).sender(t)
	file := func(content []byte) fields { return draft.with(fields{"file.contentBase64": content}) }
	onPage := func(number any) fields { return draft.with(fields{"signaturePage": number}) }
	const unread, noPage, tooMany = "Document could not be read", "Signature page does not exist", "Too many participants for the page"
	for name, test := range map[string]struct {
		sent  any
		title string
	}{
		"not a PDF":                    {file([]byte("This is no PDF.")), unread},
		"encrypted without a password": {file(openPage(t)), unread},
		"allows no signatures":         {file(unchangeable(t)), "Document does not allow signatures"},
		"page -1":                      {onPage(-1), noPage},
		"a page far beyond":            {onPage(1 << 40), noPage},
		"a signer more than stamps":    {of(signers(stampsOnA4 + 1)...), tooMany},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			for range 2 {
				c.wantProblem(c.createWithKey(name, test.sent), http.StatusBadRequest, test.title)
				c.wantNothingStored()
			}
			made := c.process(http.StatusCreated, c.createWithKey(name, draft))
			c.want(c.call(http.MethodDelete, pathOf(made), nil), http.StatusNoContent, nil)
		})
	}
}

// A fault of the document is reported before one of the account.
func TestOrderOfRefusals(t *testing.T) {
	t.Parallel()
	s := start(t, empty)
	c := s.portal(t) // without a payment method
	if err := s.accounts.SetQuota(t.Context(), c.account, 0); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		sent  fields
		title string
	}{
		{fields{"file.contentBase64": lockedPage, "signaturePage": 9}, "Document could not be read"},
		{fields{"signaturePage": 9}, "Signature page does not exist"},
		{fields{}, "Too many participants for the page"},
		{fields{"participants": signers(4)}, "Payment method required"},
		{fields{"participants": signers(3)}, "Storage quota exceeded"},
	} {
		c.wantProblem(c.create(of(signers(stampsOnA4+1)...).with(step.sent)), http.StatusBadRequest, step.title)
		c.wantNothingStored()
	}
	c.wantInvalid(c.create(draft.with(fields{"file.contentBase64": lockedPage, "file.name": 5})), "file.name")
}

// While the renderer is not ready, the answer is 503, and the key can be used again.
func TestProcessWhileTheRendererIsNotReady(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{breaks: true, renderer: unreadyRenderer{}}).sender(t)
	a := c.createWithKey("the contract", draft)
	c.wantProblem(a, http.StatusServiceUnavailable, "Service unavailable")
	diff(t, "Retry-After", "1", a.header.Get("Retry-After"))
	c.wantNothingStored()
	c.wantProblem(c.createWithKey("the contract", draft.with(fields{"file.name": "other.pdf"})), http.StatusServiceUnavailable, "Service unavailable")
}

// If the page cannot be drawn, the answer does not state that the page has no room (spec 3.3 and 4.1).
func TestPageThatCannotBeDrawn(t *testing.T) {
	t.Parallel()
	s := start(t, wiring{}) // which has no renderer
	c := s.sender(t)
	a := c.create(draft)
	c.wantProblem(a, http.StatusBadRequest, "Too many participants for the page")
	diff(t, "detail", "The page could not be drawn to find free places for the stamps.", c.object(a)["detail"])
	c = s.signer(t)
	c.user(person)
	a = c.start(startBody(idpApp).with(inImage(fields{"alignment": "TopLeft", "positioning": "Auto"})))
	c.wantProblem(a, http.StatusBadRequest, "No free signature slot")
	diff(t, "detail", "The page could not be drawn to find a free place.", c.object(a)["detail"])
}

// wantRefused checks that a body is refused for these fields, and that nothing is stored.
func (c *client) wantRefused(body any, paths ...string) {
	c.Helper()
	c.wantInvalid(c.create(body), paths...)
	c.wantNothingStored()
}

// wantNothingStored checks that nothing is stored.
func (c *client) wantNothingStored() {
	c.Helper()
	c.wantDocuments(0)
	for p, err := range c.store.AllProcesses(c.Context()) {
		c.Fatalf("there is process %s, %v", p.ID, err)
	}
	if stored, err := c.accounts.Account(c.Context(), c.account); err != nil || stored.Stored != 0 {
		c.Errorf("%d bytes are counted, %v", stored.Stored, err)
	}
}

// spec 1.3 and 4.1: one answer names all faulty fields, with one message each.
func TestSeveralFaultsOfAProcess(t *testing.T) {
	t.Parallel()
	c := start(t, empty).sender(t)
	for name, test := range map[string]struct {
		sent  fields
		paths []string
	}{
		"one of each": {
			draft.with(fields{"file.name": "contract", "file.contentBase64": "?", "signatureLocation": "Middle", "signaturePage": "2", "participants": []any{
				invitee.with(fields{"name": 5, "phoneNumber": "+354"}), 7, reader.with(fields{"email": "none", "kennitala": "1"}), invitee.with(fields{"role": "Approver"}),
			}}),
			[]string{"file.name", "file.contentBase64", "signatureLocation", "signaturePage", "participants[0].name", "participants[0].phoneNumber", "participants[1]", "participants[2].email", "participants[2].kennitala", "participants[3].email", "participants[3].role"},
		},
		"nothing":                                 {fields{"file.name": absent{}, "file.contentBase64": absent{}, "signatureLocation": absent{}, "participants": absent{}}, []string{"file", "participants", "signatureLocation"}},
		"a participant without members":           {of(invitee, fields{}), []string{"participants[1].name", "participants[1].email", "participants[1].role"}},
		"two participants with one address":       {of(invitee, reader, reader.with(fields{"email": "SIGRUN@Example.is"})), []string{"participants[2].email"}},
		"a list without a signer, and an element": {of(reader.with(fields{"name": " "})), []string{"participants", "participants[0].name"}},
		"types and values":                        {of(invitee.with(fields{"email": "none", "kennitala": 5})).with(fields{"file.name": 5, "signaturePage": 1.5}), []string{"file.name", "signaturePage", "participants[0].email", "participants[0].kennitala"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			a := c.call(http.MethodPost, processes, test.sent)
			c.wantInvalid(a, slices.Clone(test.paths)...)
			for path, messages := range c.object(a)["errors"].(object) {
				if said := messages.([]any); len(said) != 1 {
					t.Errorf("of %s is said: %v", path, said)
				}
			}
			c.wantNothingStored()
		})
	}
	t.Run("a body of 9000 participants", func(t *testing.T) {
		c.in(t).wantRefused(`{"participants":[`+strings.Repeat("{},", 9000)+`{}]}`, "participants", "file", "signatureLocation")
	})
	t.Run("a body of 10001 values", func(t *testing.T) {
		c.in(t).wantRefused(`{"participants":[`+strings.Repeat("{},", 10_000)+`{}]}`, "$")
	})
	diff(t, "limit", 100, portal.MaxParticipants)
}

// spec 4.1: the limits of lists and pages at the last value that is allowed, and other forms of a body. TestEveryField has
// the limits of single fields, TestRefusedProcess what is refused beyond.
func TestLastAllowedValuesOfAProcess(t *testing.T) {
	t.Parallel()
	c := start(t, empty).sender(t)
	crowd := append(signers(1), make([]fields, 99)...)
	for i := range 99 {
		crowd[i+1] = reader.with(fields{"email": strings.Repeat("b", i+1) + "@example.is"})
	}
	two := pdftest.Build(pdftest.Options{Pages: 2})
	for name, body := range map[string]any{
		"100 participants":          of(crowd...),
		"as many signers as stamps": of(signers(stampsOnA4)...),
		"page 1.0":                  `{"signaturePage":1.0,` + written(t, draft)[1:],
		"the last page":             draft.with(fields{"signaturePage": 2, "file.contentBase64": two}),
		"an unknown member":         of(invitee.with(fields{"Kennitala": 5, "status": "Completed"})).with(fields{"status": "Completed", "file.size": 7}),
		"the content first":         `{"file":{"contentBase64":` + written(t, page) + `,"name":"a.pdf"},"participants":[{"role":"Signer","email":"a@b.is","name":"A"}],"signatureLocation":"TopRight"}`,
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			made := c.made(body)
			c.want(c.call(http.MethodDelete, pathOf(made), nil), http.StatusNoContent, nil)
			c.wantNothingStored()
		})
	}
}

// stampsOnA4 is the number of stamps for which an empty page has room.
const stampsOnA4 = 56

// written returns a value in JSON.
func written(t *testing.T, v any) string {
	t.Helper()
	encoded, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}
