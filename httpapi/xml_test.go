package httpapi_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/sandbox"
)

const (
	packing = "advancedSignatureSettings.signaturePacking"
	level   = "advancedSignatureSettings.signatureLevel"

	orderText = "\r\n\t<o:to>Þór &amp; co</o:to>\r\n"
	order     = "<?xml version='1.0'?>\r\n<o:order xmlns:o=\"urn:example:order\">" + orderText + "</o:order>\r\n<!-- the end -->"
)

// xmlBody is a start request for the person and a document of XML.
func xmlBody(method string, content []byte) fields {
	return startBody(method).with(fields{"file.type": "Xml", "file.name": "order.xml", "file.contentB64": content})
}

// spec 3.4: the packings, Enveloped when none is said, and what the request says of the signer.
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

// rootOf is the name of the first element, behind the XML declaration.
func rootOf(document []byte) string {
	_, rest, _ := strings.Cut(string(document), "?>")
	rest = strings.TrimLeft(rest, "\r\n<")
	return rest[:strings.IndexAny(rest, " >")]
}

// What was signed is signed by a second person.
func TestSecondSignerOfXML(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	second := fields{"fullName": "Second Signer", "kennitala": "0101302479", "phone": "5550102"}
	c.user(second)
	for _, packed := range []string{"Enveloped", "InternallyDetached", "Enveloping"} {
		document := c.sign(xmlBody(idpApp, []byte(order)).with(fields{packing: packed, level: "Lta"}))
		document = c.sign(xmlBody(idpSim, document).with(fields{packing: packed, level: "Lt", "signer.kennitala": second["kennitala"], "signer.phone": second["phone"]}))
		names := map[string]bool{}
		for _, s := range c.signatures(document) {
			names[s.Certificate.Subject.CommonName] = true
		}
		diff(t, packed, map[string]bool{"Sandbox Signer": true, "Second Signer": true}, names)
	}
}

// XML comes in UTF-16 too, and stays so.
func TestXMLInUTF16(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	for name, order := range map[string]binary.AppendByteOrder{"big-endian": binary.BigEndian, "little-endian": binary.LittleEndian} {
		for _, packed := range []string{"Enveloped", "Enveloping", "InternallyDetached"} {
			t.Run(name+" "+packed, func(t *testing.T) {
				c := c.in(t)
				text := "<to>Þór 😀</to>"
				document := c.sign(xmlBody(idpApp, inUTF16(order, "\ufeff<?xml version='1.0' encoding='UTF-16'?><order>"+text+"</order>")).with(fields{packing: packed, level: "Lt"}))
				diff(t, "format", "XAdES-BASELINE-LT", c.signature(document).Format)
				if !bytes.HasPrefix(document, inUTF16(order, "\ufeff<?xml version='1.0' encoding='UTF-16'?>")) || !bytes.Contains(document, inUTF16(order, text)) {
					t.Error("the text was changed")
				}
			})
		}
	}
}

func inUTF16(order binary.AppendByteOrder, text string) (b []byte) {
	for _, unit := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, unit)
	}
	return b
}

// wholeCMS is a provider that makes the whole signature with one method.
type wholeCMS struct{ *sandbox.Sandbox }

func (p wholeCMS) Traits(m idp.Method) idp.Traits {
	return idp.Traits{CMS: m == idp.SIM}
}

// A phone that makes the whole signature makes none for XML.
func TestXMLOnAPhoneThatMakesTheSignature(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{provider: func(s *sandbox.Sandbox) idp.Provider { return wholeCMS{s} }}).signer(t)
	c.user(person)
	c.wantInvalid(c.start(xmlBody(idpSim, []byte(order))), "file.type")
	c.wantDocuments(0)
	c.signature(c.sign(xmlBody(idpApp, []byte(order))))
}

// A document as large as fits is signed as any other (spec 1.6).
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
