package signing_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/xades"
)

// invoice is the XML that most tests sign. What is between its root's tags is in every signed document
// as it is.
const (
	invoiceText = "\r\n\t<!-- to the buyer --><l:to>Þór &amp; co</l:to><![CDATA[ <as is> ]]>\r\n"
	invoice     = "<?xml version='1.0'?>\r\n<l:invoice xmlns:l=\"urn:example:invoice\"  n = '1'>" + invoiceText + "</l:invoice>\r\n<?end?>"
)

var packings = []signing.Packing{xades.Enveloped, xades.Enveloping, xades.InternallyDetached}

func newXMLService(t *testing.T, p *phone, o signing.Options) service {
	s := newService(t, p, o)
	s.format = signing.XML
	return s
}

// spec 3.4: XML is signed at each level in each of the packings, and says why and where.
func TestXML(t *testing.T) {
	t.Parallel()
	s := newXMLService(t, newPhone(t), signing.Options{})
	for _, packing := range packings {
		for _, level := range []ades.Level{ades.B, ades.T, ades.LT, ades.LTA} {
			t.Run(fmt.Sprint(packing, " ", level), func(t *testing.T) {
				signed := s.poll(s.mustStart(func(in *signing.Start) {
					in.Packing, in.Level = packing, level
					in.Reason, in.City, in.Country = "Samþykki", "Reykjavík", "Ísland"
				})).Document
				s.checkSigned(signed)
				if !bytes.Contains(signed, []byte(invoiceText)) {
					t.Errorf("the text is another one:\n%.300s", signed)
				}
				got := verified(t, signed, s.phone.ca.Roots()).Signatures[0]
				want := []string{"XAdES-BASELINE-" + level.String(), "Samþykki", "Reykjavík, Ísland", string(ades.WholeDocument)}
				if diff := cmp.Diff(want, []string{got.Format, got.Reason, got.Location, string(got.Coverage)}); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
	s.documents()
}

// A second person signs a document that a first one has signed, whatever the packings, as long as no
// signature would break (spec 3.10 else).
func TestFurtherSignaturesOnXML(t *testing.T) {
	t.Parallel()
	s := newXMLService(t, newPhone(t), signing.Options{})
	sign := func(content []byte, packing signing.Packing) result {
		started, err := s.startWith(content, func(in *signing.Start) { in.Packing, in.Level = packing, ades.LTA })
		if err != nil {
			t.Fatal(err)
		}
		return s.poll(started.ID)
	}
	for _, first := range packings {
		for _, second := range packings {
			t.Run(fmt.Sprint(first, " and ", second), func(t *testing.T) {
				once := sign([]byte(invoice), first)
				twice := sign(once.Document, second)
				if twice.Document == nil {
					if twice.Code != idp.UnableToHandleGivenData || first == second && first != xades.Enveloping {
						t.Fatalf("%+v", twice)
					}
					return
				}
				report := verified(t, twice.Document, s.phone.ca.Roots())
				if len(report.Signatures) != 2 || !report.Passed() {
					t.Errorf("%+v", report.Signatures)
				}
			})
		}
	}
}

// spec 3.10: what is not XML that can be signed starts, and fails at a poll.
func TestXMLThatCannotBeSigned(t *testing.T) {
	testenv.Slow(t, "dozens of documents are refused")
	t.Parallel()
	signed := func() []byte {
		s := newXMLService(t, newPhone(t), signing.Options{})
		return s.poll(s.mustStart()).Document
	}()
	const malformed, forbidden, encoding = "not well-formed", "Another signaturePacking", "encoding of the document is not supported"
	for name, test := range map[string]struct{ content, why string }{
		"not XML":              {"This is no XML.", malformed},
		"one byte":             {"\x00", malformed},
		"an open element":      {"<a><b></a>", malformed},
		"two roots":            {"<a/><b/>", malformed},
		"a prefix of none":     {"<x:a/>", malformed},
		"a prefix of ours":     {"<ds:a/>", malformed},
		"more than it opens":   {"</a><a>", malformed},
		"a PDF":                {"%PDF-1.7\n", malformed},
		"an encoding of no":    {"<?xml version='1.0' encoding='klingon'?><a/>", encoding},
		"bytes of no text":     {"<a>\xff</a>", encoding},
		"a DOCTYPE":            {"<!DOCTYPE a><a/>", "(DOCTYPE)"},
		"an entity":            {"<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/hostname'>]><a>&e;</a>", "(DOCTYPE)"},
		"a relative namespace": {"<a xmlns='orders'/>", "a relative reference"},
		"10,000 deep":          {strings.Repeat("<a>", 10_000) + strings.Repeat("</a>", 10_000), "nested too deep"},
		"70,000 names":         {manyNames(70_000), "too many elements, names"},
		"a broken signature":   {strings.Replace(string(signed), "Þór", "Jón", 1), "A signature in the document is broken."},
	} {
		for _, packing := range packings {
			t.Run(fmt.Sprint(name, " ", packing), func(t *testing.T) { refusedXML(t, test.content, test.why, packing) })
		}
	}
	alone := string(signed[bytes.Index(signed, []byte("<ds:Signature")) : bytes.LastIndex(signed, []byte("</ds:Signature>"))+len("</ds:Signature>")])
	t.Run("a signature alone", func(t *testing.T) { refusedXML(t, alone, "A signature in the document is broken.", xades.Enveloped) })
	t.Run("one that would break", func(t *testing.T) { refusedXML(t, string(signed), forbidden, xades.InternallyDetached) })
}

// manyNames is XML with that many names of elements.
func manyNames(n int) string {
	var b strings.Builder
	b.WriteString("<a>")
	for i := range n {
		fmt.Fprintf(&b, "<a%d/>", i)
	}
	return b.String() + "</a>"
}

// refusedXML checks the one answer to a request that cannot be signed, and that nothing is left of it.
func refusedXML(t *testing.T, content, why string, packing signing.Packing) {
	s := newXMLService(t, newPhone(t), signing.Options{})
	started, err := s.startWith([]byte(content), func(in *signing.Start) { in.Packing = packing })
	if err != nil {
		t.Fatal(err)
	}
	var got idp.Failure
	err = s.Poll(t.Context(), account, started.ID, func(a signing.Answer) error { got = a.Failure; return nil })
	if err != nil || got.Code != idp.UnableToHandleGivenData || got.OAuth != "invalid_request" || !strings.Contains(got.Description, why) || !strings.HasSuffix(got.Description, ".") {
		t.Errorf("%+v, %v", got, err)
	}
	if r := s.poll(started.ID); !r.Finished {
		t.Errorf("told twice: %+v", r)
	}
	if n := s.documents(); n != 0 {
		t.Errorf("%d documents are left", n)
	}
}

// The evidence log tells of XML what it tells of a PDF, and how it is packed.
func TestEvidenceOfXML(t *testing.T) {
	t.Parallel()
	s := newXMLService(t, newPhone(t), signing.Options{})
	id := s.mustStart(func(in *signing.Start) { in.Packing, in.Level = xades.Enveloping, ades.LT })
	signed := s.poll(id).Document
	all := s.facts(id)
	want := facts{"size": float64(len(invoice)), "sha256": sha256Of([]byte(invoice)), "packing": "Enveloping"}
	asked := facts{"size": all["signature.asked"]["size"], "sha256": all["signature.asked"]["sha256"], "packing": all["signature.asked"]["packing"]}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(facts{"level": "LT", "sha256": sha256Of(signed), "size": float64(len(signed))}, all["signature.completed"]); diff != "" {
		t.Error(diff)
	}
}
