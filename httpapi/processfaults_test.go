package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/portal"
)

// wantRefused checks that a body creates nothing, and that these fields are why.
func (c *client) wantRefused(body any, paths ...string) {
	c.Helper()
	c.wantInvalid(c.create(body), paths...)
	c.wantNothing()
}

// wantNothing checks that nothing is kept of what was refused.
func (c *client) wantNothing() {
	c.Helper()
	c.wantDocuments(0)
	for p, err := range c.store.AllProcesses(c.Context()) {
		c.Fatalf("there is process %s, %v", p.ID, err)
	}
	if stored, err := c.accounts.Account(c.Context(), c.account); err != nil || stored.Stored != 0 {
		c.Errorf("%d bytes are counted, %v", stored.Stored, err)
	}
}

// spec 4.1: fields that are required are missing, null, blank or of another type.
func TestRequiredFieldsOfAProcess(t *testing.T) {
	t.Parallel()
	c := start(t, empty).sender(t)
	wrong := map[string]any{
		"missing": absent{}, "null": nil, "empty": "", "a number": 5, "true": true, "an object": object{}, "a list": []any{}, "an element": []string{"x"},
	}
	for field, set := range map[string]func(any) fields{
		"file.name":             func(v any) fields { return draft.with(fields{"file.name": v}) },
		"file.contentBase64":    func(v any) fields { return draft.with(fields{"file.contentBase64": v}) },
		"signatureLocation":     func(v any) fields { return draft.with(fields{"signatureLocation": v}) },
		"participants[1].name":  func(v any) fields { return of(invitee, reader.with(fields{"name": v})) },
		"participants[1].email": func(v any) fields { return of(invitee, reader.with(fields{"email": v})) },
		"participants[1].role":  func(v any) fields { return of(invitee, reader.with(fields{"role": v})) },
	} {
		for name, value := range wrong {
			t.Run(field+" "+name, func(t *testing.T) { c.in(t).wantRefused(set(value), field) })
		}
		for _, blank := range []string{" ", "\t\n", "\u00a0"} {
			t.Run(fmt.Sprintf("%s %q", field, blank), func(t *testing.T) { c.in(t).wantRefused(set(blank), field) })
		}
	}
	for name, participants := range map[string]any{
		"missing": absent{}, "null": nil, "empty": "", "a number": 5, "an object": invitee, "an empty list": []any{},
	} {
		t.Run("participants "+name, func(t *testing.T) {
			c.in(t).wantRefused(draft.with(fields{"participants": participants}), "participants")
		})
	}
	for name, element := range map[string]any{"null": nil, "a text": "sigrun@example.is", "a number": 5, "a list": []fields{reader}} {
		t.Run("a participant that is "+name, func(t *testing.T) {
			c.in(t).wantRefused(draft.with(fields{"participants": []any{invitee, element}}), "participants[1]")
		})
	}
	t.Run("a participant without members", func(t *testing.T) {
		c.in(t).wantRefused(of(invitee, fields{}), "participants[1].name", "participants[1].email", "participants[1].role")
	})
	for name, file := range map[string]any{"missing": absent{}, "null": nil, "a text": "contract.pdf", "a list": []string{"contract.pdf"}} {
		t.Run("file "+name, func(t *testing.T) {
			c.in(t).wantRefused(fields{"file": file, "signatureLocation": "TopLeft", "participants": []fields{invitee}}, "file")
		})
	}
	t.Run("all of them", func(t *testing.T) {
		c.in(t).wantRefused(fields{}, "file", "participants", "signatureLocation")
	})
	c.made(draft)
}

// spec 4.1: values that are not allowed.
func TestFaultyFieldsOfAProcess(t *testing.T) {
	t.Parallel()
	c := start(t, empty).sender(t)
	long := func(n int) string { return strings.Repeat("ð", n) }
	change := func(name string, values ...any) (all []fields) {
		for _, v := range values {
			all = append(all, of(invitee.with(fields{name: v})))
		}
		return all
	}
	top := func(name string, values ...any) (all []fields) {
		for _, v := range values {
			all = append(all, draft.with(fields{name: v}))
		}
		return all
	}
	for field, bodies := range map[string][]fields{
		"file.name": top("file.name", "contract", "contract.pdf ", "contract.pdf.exe", ".pdf", "pdf", "a/b.pdf", `a\b.pdf`, "../contract.pdf", "a\x00.pdf", "a\n.pdf", "a\u0085.pdf",
			"contract.\u1d56\u1d48\u1da0", long(97)+".pdf"),
		"file.contentBase64":   top("file.contentBase64", "This is no Base64!", "QUI", "QUJD\n", "-_-_", "QQ==QUJD"),
		"signatureLocation":    top("signatureLocation", "topLeft", "TOPLEFT", "Top", "TopLeft ", "Center", "0", "TopLeft,TopRight"),
		"signaturePage":        top("signaturePage", "1", 1.5, true, object{}, []int{1}, "", "first"),
		"participants[0].name": change("name", long(257), "Sigrún\x00", "Sigrún\r\nBcc: everybody@example.is", "Sigr\u007fún"),
		"participants[0].email": change("email", "sigrun", "sigrun@", "@example.is", "sigrun example.is", "Sigrún <sigrun@example.is>", "<sigrun@example.is>", "a@b.is, c@d.is", "a@b.is c@d.is",
			" sigrun@example.is", "sigrun@example.is ", "sigrun@example.is\n", "sigrun@@example.is", "mailto:sigrun@example.is", strings.Repeat("a", 246)+"@example.is"),
		"participants[0].kennitala":   change("kennitala", "010130298", "01013029891", "010130-2989", "010130 2989", "010130298x", " 0101302989", "٠١٠١٣٠٢٩٨٩", "-101302989", 101302989, true, object{}, []string{kennitala}),
		"participants[0].phoneNumber": change("phoneNumber", "55501011", "555-010", "555 010", "+354555", "５５５", "abc", "555010x", 5550101, false, object{}, []string{phone}),
	} {
		for _, body := range bodies {
			t.Run(field, func(t *testing.T) { c.in(t).wantRefused(body, field) })
		}
	}
	for name, participants := range map[string][]fields{
		"nobody signs":     {reader},
		"two read":         {reader, reader.with(fields{"email": "jon@example.is"})},
		"101 participants": signers(101),
	} {
		t.Run(name, func(t *testing.T) { c.in(t).wantRefused(of(participants...), "participants") })
	}
	for _, role := range []string{"signer", "VIEWER", "Approver", "Signer ", "None"} {
		t.Run("role "+role, func(t *testing.T) {
			c.in(t).wantRefused(of(invitee, reader.with(fields{"role": role})), "participants[1].role")
		})
	}
	for _, same := range []string{"sigrun@example.is", "SIGRUN@EXAMPLE.IS", "Sigrun@Example.is"} {
		t.Run("shared address "+same, func(t *testing.T) {
			c.in(t).wantRefused(of(invitee, reader, reader.with(fields{"email": same})), "participants[2].email")
		})
	}
	c.made(draft)
}

// spec 1.3 and 4.1: all the faulty fields are in one answer, whoever finds them, and
// each has one sentence.
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
			c.wantNothing()
		})
	}
	t.Run("a body of 9000 participants", func(t *testing.T) {
		c.in(t).wantRefused(`{"participants":[`+strings.Repeat("{},", 9000)+`{}]}`, "participants", "file", "signatureLocation")
	})
	t.Run("a body of 10001 values", func(t *testing.T) {
		c.in(t).wantRefused(`{"participants":[`+strings.Repeat("{},", 10_000)+`{}]}`, "$")
	})
	for _, body := range []string{"", "[]", "null", "{", `{"participants":[{"name":"a","name":"b"}]}`} {
		path := "$"
		if strings.Contains(body, "name") {
			path = "participants[0].name"
		}
		t.Run("body "+body, func(t *testing.T) { c.in(t).wantRefused(body, path) })
	}
	diff(t, "limit", 100, portal.MaxParticipants)
}
