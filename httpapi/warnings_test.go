package httpapi_test

import (
	"encoding/json"
	"net/http"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades/inspect"
)

// scripted has a script on its page and a form in XML.
var scripted = pdftest.Build(pdftest.Options{
	Page: "/AA << /O << /S /JavaScript /JS (a\\(\\)) >> >>", Catalog: "/AcroForm << /Fields [] /XFA [] >>",
})

// spec 3.12: the warnings about a document are in the answers of the Portal API and in the evidence log of both
// APIs, whose other answers stay as they are.
func TestWarnings(t *testing.T) {
	t.Parallel()
	s := start(t, empty)
	c := s.sender(t)
	made := c.made(draft.with(fields{"file.contentBase64": scripted}))
	want := []any{
		object{"code": "XFA", "detail": "The form is an XFA form, which some viewers show in place of the pages (object 1).", "page": 0.0},
		object{"code": "JavaScript", "detail": "An action runs JavaScript (object 10).", "page": 1.0},
	}
	diff(t, "warnings", want, plain(t, made["warnings"]))
	diff(t, "read later", want, plain(t, c.shown(made)["warnings"]))
	diff(t, "in the evidence log", want, s.fact(t, made["signingProcessId"].(string), "process.created", "warnings"))
	for _, clean := range []bool{true, false} {
		file, noted := scripted, any(want)
		if clean {
			file, noted = page, []any{}
		}
		c := s.signer(t)
		c.user(person)
		a := c.start(startBody(idpApp).with(fields{"file.contentB64": file}))
		request, _ := c.object(a)["pollingId"].(string)
		diff(t, "start", http.StatusOK, a.status)
		diff(t, "in the evidence log", noted, s.fact(t, request, "signature.asked", "warnings"))
	}
}

// spec 3.12: an account refuses documents by the kinds of their warnings. Nothing is stored.
func TestRefusedDocument(t *testing.T) {
	t.Parallel()
	for policy, detail := range map[inspect.Policy]string{
		"refuse":                "The account does not accept documents with JavaScript, XFA.",
		"refuse:XFA":            "The account does not accept documents with XFA.",
		"refuse:EmbeddedFiles":  "",
		inspect.Warn:            "",
		"refuse:JavaScript,XFA": "The account does not accept documents with JavaScript, XFA.",
	} {
		s := start(t, empty)
		for name, one := range map[string]struct {
			client *client
			call   func(c *client) answer
			ok     int
		}{
			"process": {s.sender(t), func(c *client) answer {
				return c.createWithKey("key", draft.with(fields{"file.contentBase64": scripted}))
			}, http.StatusCreated},
			"signing": {s.signer(t), func(c *client) answer {
				c.user(person)
				return c.start(startBody(idpApp).with(fields{"file.contentB64": scripted}))
			}, http.StatusOK},
		} {
			c := one.client
			testenv.NoError(t, s.accounts.SetDocuments(t.Context(), c.account, policy))
			a := one.call(c)
			if detail == "" {
				diff(t, name+" with "+string(policy), one.ok, a.status)
				continue
			}
			c.wantProblem(a, http.StatusBadRequest, "Document is not accepted")
			diff(t, name+" with "+string(policy), detail, c.object(a)["detail"])
			if name == "process" {
				c.wantNothingStored()
				c.process(http.StatusCreated, c.createWithKey("key", draft))
			}
		}
	}
}

// plain returns a value of JSON as it is read.
func plain(t *testing.T, value any) (read any) {
	t.Helper()
	encoded, err := json.Marshal(value)
	testenv.NoError(t, err)
	testenv.NoError(t, json.Unmarshal(encoded, &read))
	return read
}

// fact returns a fact of the first entry of a kind in the evidence log.
func (s *server) fact(t *testing.T, subject, kind, name string) any {
	t.Helper()
	entries, err := s.store.EvidenceLog().Entries(t.Context(), subject)
	testenv.NoError(t, err)
	for _, e := range entries {
		var facts map[string]any
		if e.Kind == kind {
			testenv.NoError(t, json.Unmarshal(e.Facts, &facts))
			return facts[name]
		}
	}
	t.Fatalf("%s has no entry %s", subject, kind)
	return nil
}
