package httpapi_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

const (
	packing = "advancedSignatureSettings.signaturePacking"
	level   = "advancedSignatureSettings.signatureLevel"

	orderText = "\r\n\t<o:to>Þór &amp; co</o:to>\r\n"
	order     = "<?xml version='1.0'?>\r\n<o:order xmlns:o=\"urn:example:order\">" + orderText + "</o:order>\r\n<!-- the end -->"
)

// xmlBody returns a start request of the person for an XML document.
func xmlBody(method string, content []byte) fields {
	return startBody(method).with(fields{"file.type": "Xml", "file.name": "order.xml", "file.contentB64": content})
}

// spec 3.4: the packagings, with Enveloped as the default, and the signer's fields in the signature.
func TestSignaturePackings(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	for name, test := range map[string]struct {
		sent any
		root string // of the signed document
	}{
		"Enveloped": {"Enveloped", "o:order"}, "Enveloping": {"Enveloping", "ds:Signature"}, "InternallyDetached": {"InternallyDetached", "internally-detached"},
		"null": {nil, "o:order"}, "nothing": {absent{}, "o:order"},
	} {
		for sent, format := range map[string]string{"B": "XAdES-BASELINE-B", "Lta": "XAdES-BASELINE-LTA"} {
			t.Run(name+" "+sent, func(t *testing.T) {
				c := c.in(t)
				for _, method := range methods {
					body := xmlBody(method, []byte(order)).with(fields{packing: test.sent, level: sent, "signer.country": "Ísland", "signer.city": "Reykjavík", "signer.reason": "Samþykki"})
					document := c.sign(body)
					s := c.signature(document)
					diff(t, "signature", []string{format, "Samþykki", "Reykjavík, Ísland"}, []string{s.Format, s.Reason, s.Location})
					diff(t, "coverage", ades.WholeDocument, s.Coverage)
					if !bytes.Contains(document, []byte(orderText)) || rootOf(document) != test.root {
						t.Errorf("%s: the signed document is %.400s", method, document)
					}
				}
			})
		}
	}
	c.wantDocuments(0)
}

// rootOf returns the name of the root element.
func rootOf(document []byte) string {
	_, rest, _ := strings.Cut(string(document), "?>")
	rest = strings.TrimLeft(rest, "\r\n<")
	return rest[:strings.IndexAny(rest, " >")]
}

// spec 1.6: an XML document of the largest size is signed.
func TestLargeXML(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	row, size := "<row n='1'><to>Þór</to><sum>1000</sum></row>\n", 22*mebibyte
	if testenv.Race { // with which a poll would be over before
		size = mebibyte
	}
	content := []byte("<rows>" + strings.Repeat(row, size/len(row)) + "</rows>")
	document := c.sign(xmlBody(idpApp, content).with(fields{packing: "InternallyDetached", level: "Lt"}))
	if c.signature(document); !bytes.Contains(document, content) {
		t.Error("the text was changed")
	}
}
