package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// spec 4.1: each limit at the last value that is allowed. What is refused beyond is in
// TestFaultyFieldsOfAProcess and TestRefusedProcess.
func TestLastAllowedValuesOfAProcess(t *testing.T) {
	t.Parallel()
	c := start(t, empty).sender(t)
	long := func(n int) string { return strings.Repeat("ð", n) }
	one := func(changes fields) fields { return of(invitee.with(changes)) }
	crowd := append(signers(1), make([]fields, 99)...)
	for i := range 99 {
		crowd[i+1] = reader.with(fields{"email": strings.Repeat("b", i+1) + "@example.is"})
	}
	two := pdftest.Build(pdftest.Options{Pages: 2})
	for name, body := range map[string]any{
		"a file name of 100 characters": draft.with(fields{"file.name": long(96) + ".pdf"}),
		"a file name of one character":  draft.with(fields{"file.name": "ð.PdF"}),
		"a name of 256 characters":      one(fields{"name": long(256)}),
		"an address of 256 characters":  one(fields{"email": strings.Repeat("a", 245) + "@example.is"}),
		"a kennitala of 10 digits":      one(fields{"kennitala": "0000000000"}),
		"a phone of 7 digits":           one(fields{"phoneNumber": "0000000"}),
		"a phone of 1 digit":            one(fields{"phoneNumber": "5"}),
		"100 participants":              of(crowd...),
		"as many signers as stamps":     of(signers(stampsOnA4)...),
		"page 1":                        draft.with(fields{"signaturePage": 1}),
		"page 1.0":                      `{"signaturePage":1.0,` + written(t, draft)[1:],
		"the last page":                 draft.with(fields{"signaturePage": 2, "file.contentBase64": two}),
		"optional fields null":          one(fields{"kennitala": nil, "phoneNumber": nil}).with(fields{"signaturePage": nil}),
		"optional fields blank":         one(fields{"kennitala": " ", "phoneNumber": ""}),
		"an unknown member":             one(fields{"Kennitala": 5, "status": "Completed"}).with(fields{"status": "Completed", "file.size": 7}),
		"the content first":             `{"file":{"contentBase64":` + written(t, page) + `,"name":"a.pdf"},"participants":[{"role":"Signer","email":"a@b.is","name":"A"}],"signatureLocation":"TopRight"}`,
		"top left":                      draft.with(fields{"signatureLocation": "TopLeft"}),
		"bottom right":                  draft.with(fields{"signatureLocation": "BottomRight"}),
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			made := c.made(body)
			c.want(c.call(http.MethodDelete, pathOf(made), nil), http.StatusNoContent, nil)
			c.wantNothing()
		})
	}
}

// stampsOnA4 is how many stamps an empty page has room for.
const stampsOnA4 = 56

// written is a value in JSON.
func written(t *testing.T, v any) string {
	t.Helper()
	encoded, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}
