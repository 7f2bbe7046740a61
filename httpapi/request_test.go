package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/account"
)

// TestFaultyStart checks that one answer names all faulty fields of a start, and that nothing of a refused start is
// stored. TestEveryField has each field by itself.
func TestFaultyStart(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	without := func(paths ...string) fields {
		f := fields{}
		for _, path := range paths {
			f[path] = absent{}
		}
		return f
	}
	file, signer := without("file.type", "file.name", "file.contentB64"), without("signer.kennitala", "signer.signingMethod", "signer.phone")
	for name, test := range map[string]struct {
		sent  fields
		paths []string
	}{
		"nothing":           {file.with(signer).with(fields{level: absent{}}), []string{"file", "signer"}},
		"members of file":   {file.with(fields{"file": object{}}), []string{"file.type", "file.name", "file.contentB64"}},
		"members of signer": {signer.with(fields{"signer": object{}}), []string{"signer.kennitala", "signer.signingMethod"}},
		"white space": {
			fields{"file.type": " ", "file.name": "\t\n", "signer.kennitala": "\u00a0", "signer.signingMethod": "  ", "signer.phone": " "},
			[]string{"file.type", "file.name", "signer.kennitala", "signer.signingMethod"},
		},
		"members in another case": {
			without("file.name", "signer.kennitala").with(fields{"file.Name": "contract.pdf", "signer.Kennitala": kennitala}),
			[]string{"file.name", "signer.kennitala"},
		},
		"objects of another type": {
			file.with(signer).with(fields{level: absent{}, "file": "contract.pdf", "signer": kennitala, "advancedSignatureSettings": []int{1}, "busySignal": 5, "signatureImage": "none"}),
			[]string{"file", "signer", "advancedSignatureSettings", "busySignal", "signatureImage"},
		},
		"wrong type of the phone with IdpApp": {fields{"signer.phone": 5}, []string{"signer.phone"}},
		"packaging of XML":                    {fields{"file.type": "Xml", packing: "enveloping"}, []string{packing}},
		"packaging of an unknown type":        {fields{"file.type": "xml", packing: "Enveloping"}, []string{"file.type"}},
		"fault after a megabyte":              {fields{"file.contentB64": strings.Repeat("QUJD", 1<<18) + "?"}, []string{"file.contentB64"}},
		"padding missing after a megabyte":    {fields{"file.contentB64": strings.Repeat("QUJD", 1<<18) + "QUJ"}, []string{"file.contentB64"}},
		"some of everything": {
			fields{"file.name": nil, "file.contentB64": "?", "signer.phone": absent{}, "signer.signingMethod": idpSim, "signer.city": strings.Repeat("ð", 65), "busySignal": object{}},
			[]string{"file.name", "file.contentB64", "signer.phone", "signer.city", "busySignal.id"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			c.wantInvalid(c.start(startBody(idpApp).with(test.sent)), test.paths...)
			c.wantDocuments(0)
		})
	}
	for _, empty := range []string{"", " \n"} { // which calls that need no body accept
		c.wantInvalid(c.call(http.MethodPost, signingPath, empty), "$")
	}
	c.signature(c.sign(startBody(idpApp)))
}

// spec 1.1: members may be in any order, and may be written with escapes.
func TestBodyThatIsWrittenOtherwise(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	content := strings.ReplaceAll(normal(t, page).(string), "/", `\/`)
	for name, body := range map[string]string{
		"content first": `{"file":{"contentB64":"` + content + `","name":"a","type":"Pdf"},"signer":{"kennitala":"0101302989","signingMethod":"IdpSim","phone":"5550101"},"advancedSignatureSettings":{"signatureLevel":"B"}}`,
		"content last":  `{"advancedSignatureSettings":{"signatureLevel":"\u0042"},"signer":{"phone":"5550101","signingMethod":"IdpSim","kennitala":"0101302989"},"file":{"type":"Pdf","name":"a","contentB64":"` + content + `"}}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			id := c.member(c.call(http.MethodPost, "/api/v1/signing", body), "pollingId")
			c.signature(c.signed(c.poll(id)))
		})
	}
}

// spec 1.1: a body without a Content-Type is read as JSON, and another type is 415.
func TestContentType(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).client(t, account.Scopes()...)
	id, hook := c.user(person), c.subscribe("https://hooks.example/")
	calls := []struct {
		method, path string
		body         any
		status       int
	}{
		{http.MethodPost, "/api/v1/signing", startBody(idpApp), http.StatusOK},
		{http.MethodPost, "/api/v1/signing/busy-signal", fields{}, http.StatusOK},
		{http.MethodPost, users, person, http.StatusUnprocessableEntity},
		{http.MethodPut, users + "/" + id, person, http.StatusNoContent},
		{http.MethodPut, webhooks + "/" + hook, fields{}, http.StatusOK},
		{http.MethodPost, webhooks, fields{}, http.StatusBadRequest},
		{http.MethodPost, webhooks + "/x/activate", fields{}, http.StatusNotFound},
		{http.MethodPost, webhooks + "/x/test", fields{}, http.StatusNotFound},
		{http.MethodPost, processes, fields{}, http.StatusBadRequest},
		{http.MethodPost, answers + "x/participants/x/sign", fields{}, http.StatusBadRequest},
		{http.MethodPost, answers + "x/participants/x/decline", fields{}, http.StatusNotFound},
	}
	for kind, taken := range map[string]bool{
		"": true, "application/json": true, "Application/JSON": true, "application/json; charset=utf-8": true, `application/json;charset="UTF-8"`: true, "application/json; charset=Utf-8": true,
		"text/plain": false, "text/json": false, "application/xml": false, "application/x-www-form-urlencoded": false, "multipart/form-data; boundary=x": false,
		"application/json; charset=iso-8859-1": false, "application/problem+json": false, "json": false, "application/json;;": false,
	} {
		t.Run(kind, func(t *testing.T) {
			c := c.in(t)
			for _, call := range calls {
				r := c.request(call.method, call.path, call.body)
				r.Header.Del("Content-Type")
				if kind != "" {
					r.Header.Set("Content-Type", kind)
				}
				a := c.send(r)
				if taken {
					diff(t, call.path, call.status, a.status)
					continue
				}
				c.wantProblem(a, http.StatusUnsupportedMediaType, "Unsupported media type")
			}
		})
	}
}

// spec 1.1: the Content-Type of an empty body does not count.
func TestTypeOfNoBody(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).client(t, account.Scopes()...)
	for path, status := range map[string]int{
		"/api/v1/signing/busy-signal":        http.StatusOK,
		webhooks + "/x/activate":             http.StatusNotFound,
		webhooks + "/x/test":                 http.StatusNotFound,
		answers + "x/participants/x/decline": http.StatusNotFound,
		processes:                            http.StatusBadRequest, // which needs one
	} {
		r := c.request(http.MethodPost, path, nil)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded") // as curl does with -d ''
		diff(t, path, status, c.send(r).status)
	}
}
