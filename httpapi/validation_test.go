package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/account"
)

// spec 1.1, 1.2, 1.3, 3.1, 3.2, 3.4 and 3.11: a field is
// missing or invalid. All the faulty ones are in one answer, and nothing is left of
// the request.
func TestFaultyStart(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	long := func(n int) string { return strings.Repeat("ð", n) }
	const level, packing = "advancedSignatureSettings.signatureLevel", "advancedSignatureSettings.signaturePacking"
	without := func(paths ...string) fields {
		f := fields{}
		for _, path := range paths {
			f[path] = absent{}
		}
		return f
	}
	for name, test := range map[string]struct {
		sent  fields
		paths []string
	}{
		"no file":           {without("file.type", "file.name", "file.contentB64"), []string{"file"}},
		"file null":         {without("file.type", "file.name", "file.contentB64").with(fields{"file": nil}), []string{"file"}},
		"no signer":         {without("signer.kennitala", "signer.signingMethod", "signer.phone"), []string{"signer"}},
		"members of file":   {without("file.type", "file.name", "file.contentB64").with(fields{"file": object{}}), []string{"file.type", "file.name", "file.contentB64"}},
		"members of signer": {without("signer.kennitala", "signer.signingMethod", "signer.phone").with(fields{"signer": object{}}), []string{"signer.kennitala", "signer.signingMethod"}},
		"all that are null": {
			fields{"file.type": nil, "file.name": nil, "file.contentB64": nil, "signer.kennitala": nil, "signer.signingMethod": nil, level: nil},
			[]string{"file.type", "file.name", "file.contentB64", "signer.kennitala", "signer.signingMethod"},
		},
		"white space": {
			fields{"file.type": " ", "file.name": "\t\n", "signer.kennitala": "\u00a0", "signer.signingMethod": "  ", "signer.phone": " "},
			[]string{"file.type", "file.name", "signer.kennitala", "signer.signingMethod"},
		},
		"phone missing with IdpSim": {fields{"signer.signingMethod": idpSim, "signer.phone": absent{}}, []string{"signer.phone"}},
		"phone null with IdpSim":    {fields{"signer.signingMethod": idpSim, "signer.phone": nil}, []string{"signer.phone"}},
		"phone blank with IdpSim":   {fields{"signer.signingMethod": idpSim, "signer.phone": " "}, []string{"signer.phone"}},
		"phone too long":            {fields{"signer.signingMethod": idpSim, "signer.phone": long(17)}, []string{"signer.phone"}},
		"kennitala too long":        {fields{"signer.kennitala": "01013029891"}, []string{"signer.kennitala"}},
		"kennitala of hyphens":      {fields{"signer.kennitala": "-----------"}, []string{"signer.kennitala"}},
		"too long": {
			fields{"file.name": long(257), "signer.country": long(65), "signer.city": long(65), "signer.reason": long(65), "busySignal.id": "00000000-0000-4000-8000-000000000000", "busySignal.userId": long(513)},
			[]string{"file.name", "signer.country", "signer.city", "signer.reason", "busySignal.userId"},
		},
		"control characters": {
			fields{"file.name": "a\x00b", "signer.country": "a\nb", "signer.city": "a\x7fb", "signer.reason": "a\u0085b", "signer.kennitala": "1\x001"},
			[]string{"file.name", "signer.country", "signer.city", "signer.reason", "signer.kennitala"},
		},
		"enums that are none": {
			fields{"file.type": "Docx", "signer.signingMethod": "Telepathy", level: "LTV-archival", packing: "Wrapped"},
			[]string{"file.type", "signer.signingMethod", level, packing},
		},
		"enums in another case": {
			fields{"file.type": "PDF", "signer.signingMethod": "idpApp", level: "b", packing: "enveloped"},
			[]string{"file.type", "signer.signingMethod", level, packing},
		},
		"members in another case": {
			without("file.name", "signer.kennitala").with(fields{"file.Name": "contract.pdf", "signer.Kennitala": kennitala}),
			[]string{"file.name", "signer.kennitala"},
		},
		"wrong types": {
			fields{"file.type": 5, "file.name": []string{"contract.pdf"}, "file.contentB64": object{}, "signer.kennitala": 101302989, "signer.signingMethod": true, "signer.country": 5, "signer.city": object{}, "signer.reason": false, level: 1, packing: 2},
			[]string{"file.type", "file.name", "file.contentB64", "signer.kennitala", "signer.signingMethod", "signer.country", "signer.city", "signer.reason", level, packing},
		},
		"objects that are none": {
			without("file.type", "file.name", "file.contentB64", "signer.kennitala", "signer.signingMethod", "signer.phone", level).with(fields{"file": "contract.pdf", "signer": kennitala, "advancedSignatureSettings": []int{1}, "busySignal": 5, "signatureImage": "none"}),
			[]string{"file", "signer", "advancedSignatureSettings", "busySignal", "signatureImage"},
		},
		"busy signal without id":      {fields{"busySignal.userId": "somebody"}, []string{"busySignal.id"}},
		"busy signal empty":           {fields{"busySignal": object{}}, []string{"busySignal.id"}},
		"busy signal that is no UUID": {fields{"busySignal.id": "the contract"}, []string{"busySignal.id"}},
		"busy signal in braces":       {fields{"busySignal.id": "{00000000-0000-4000-8000-000000000000}"}, []string{"busySignal.id"}},
		"level of another case":       {fields{level: "LT"}, []string{level}},
		"packing of another case":     {fields{"file.type": "Xml", packing: "enveloping"}, []string{packing}},
		"packing of an unknown type":  {fields{"file.type": "xml", packing: "Enveloping"}, []string{"file.type"}},
		"packing Enveloping":          {fields{packing: "Enveloping"}, []string{packing}},
		"packing InternallyDetached":  {fields{packing: "InternallyDetached"}, []string{packing}},
		"some of everything":          {fields{"file.name": nil, "file.contentB64": "?", "signer.phone": absent{}, "signer.signingMethod": idpSim, "signer.city": long(65), "busySignal": object{}}, []string{"file.name", "file.contentB64", "signer.phone", "signer.city", "busySignal.id"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			c.wantInvalid(c.start(startBody(idpApp).with(test.sent)), test.paths...)
			c.wantDocuments(0)
		})
	}
	c.signature(c.sign(startBody(idpApp)))
}

// spec 1.2: RFC 4648 section 4 with padding; line breaks, the URL alphabet
// and the empty string are refused.
func TestContentThatIsNotBase64(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	for name, content := range map[string]any{
		"other characters":          "This is not Base64!",
		"the URL alphabet":          "-_-_",
		"a line break":              "QUJD\r\nREVG",
		"a line break at the end":   "QUJD\n",
		"line breaks of 4 bytes":    "QUJD\r\n\r\nREVG",
		"a space":                   "QUJD REVG",
		"padding missing":           "QUI",
		"padding too much":          "QUI==",
		"padding in the middle":     "QQ==QUJD",
		"padding alone":             "====",
		"empty":                     "",
		"a fault after a megabyte":  strings.Repeat("QUJD", 1<<18) + "?",
		"a lacking one at the end":  strings.Repeat("QUJD", 1<<18) + "QUJ",
		"a character of two bytes":  "QUJð",
		"a number":                  12345678,
		"an object":                 object{"QUJD": "QUJD"},
		"null":                      nil,
		"a data URL, as some write": "data:application/pdf;base64,QUJD",
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			c.wantInvalid(c.start(startBody(idpApp).with(fields{"file.contentB64": content})), "file.contentB64")
			c.wantDocuments(0)
		})
	}
	c.signature(c.sign(startBody(idpApp)))
}

// spec 1.1: a body that is not one JSON value, or repeats a member.
func TestBodyThatIsNotJSON(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).client(t, account.ScopeSignatures)
	id := c.user(person)
	for name, test := range map[string]struct{ body, path string }{
		"nothing":                    {"", "$"},
		"white space":                {" \n", "$"},
		"no JSON":                    {"kennitala=0101302989", "$"},
		"cut off":                    {`{"file":{"name":"Sandbox`, "$"},
		"single quotes":              {`{'fullName':'Sandbox'}`, "$"},
		"a comma too much":           {`{"fullName":"Sandbox",}`, "$"},
		"two values":                 {`{} {}`, "$"},
		"an array":                   {`[{"fullName":"Sandbox"}]`, "$"},
		"a text":                     {`"Sandbox"`, "$"},
		"null":                       {`null`, "$"},
		"a byte order mark":          {"\ufeff{}", "$"},
		"not UTF-8":                  {"{\"fullName\":\"\xff\"}", "$"},
		"half a surrogate pair":      {`{"fullName":"\ud800"}`, "$"},
		"a control character":        {"{\"fullName\":\"\x01\"}", "$"},
		"nesting without an end":     {strings.Repeat(`{"a":`, 10_000), "$"},
		"a repeated member":          {`{"fullName":"Sandbox","fullName":"Sandbox"}`, "fullName"},
		"a repeated member, escaped": {`{"fullName":"Sandbox","full\u004eame":"Sandbox"}`, "fullName"},
		"a repeated inner member":    {`{"signer":{"phone":"5550101","phone":"5550101"}}`, "signer.phone"},
		"a repeated element member":  {`{"list":[{},{"a":1,"a":1}]}`, "list[1].a"},
		"a repeated secret name":     {`{"signer":{"sandbox Sandbox!":1,"sandbox Sandbox!":1}}`, "signer"},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			for _, e := range []struct{ method, path string }{
				{http.MethodPost, "/api/v1/signing"}, {http.MethodPost, users}, {http.MethodPut, users + "/" + id},
			} {
				a := c.call(e.method, e.path, test.body)
				c.wantInvalid(a, test.path)
				for _, sent := range []string{"Sandbox", kennitala, phone} {
					if strings.Contains(string(a.body), sent) {
						t.Errorf("the answer repeats %q: %s", sent, a.body)
					}
				}
			}
			c.wantDocuments(0)
		})
	}
}

// spec 1.1: the content may stand anywhere in the body, and members may be
// written with escapes.
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
