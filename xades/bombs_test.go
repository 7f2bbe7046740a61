package xades_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	"github.com/innsigli/innsigli/xades"
)

// bomb is a document that is made to take long, or much room.
type bomb struct {
	name      string
	bytes     []byte
	refused   bool
	allocated int // how many times its length is, if it is much: to verify it
}

var (
	wholeReference = regexp.MustCompile(`(?s)<ds:Reference Id=.*?</ds:Reference>`)
	digestValue    = regexp.MustCompile(`(<ds:DigestValue>)[^<]*`)
	wholeFormat    = regexp.MustCompile(`(?s)<xades:DataObjectFormat .*</xades:DataObjectFormat>`)
	wholeStamp     = regexp.MustCompile(`(?s)<xades141:ArchiveTimeStamp .*</xades141:ArchiveTimeStamp>`)
)

// nested is something in so many elements.
func nested(n int, start, inside, end string) []byte {
	return []byte(strings.Repeat(start, n) + inside + strings.Repeat(end, n))
}

// rightTargets is how many digests of [manyTargets] are right: whoever stops at the first that is wrong has
// to do the work for these.
const rightTargets = 12

// manyTargets is a signature of elements that are in one another, around some content.
func manyTargets(t testing.TB, signed []byte, content string) []byte {
	var start, references strings.Builder
	for i := range 200 {
		fmt.Fprintf(&start, `<a Id="a%d">`, i)
	}
	inside := start.String() + content + strings.Repeat("</a>", 200)
	d, err := xmldoc.Parse([]byte(inside))
	if err != nil {
		t.Fatal(err)
	}
	reference := wholeReference.FindString(string(signed))
	for i := range 900 {
		r := strings.Replace(reference, `URI=""`, fmt.Sprintf(`URI="#a%d"`, i%200), 1)
		if i < rightTargets {
			r = digestValue.ReplaceAllString(r, "${1}"+exclusiveSum(t, d, fmt.Sprint("a", i)))
		}
		references.WriteString(r)
	}
	b := replaced(t, signed, wholeReference, func(string) string { return references.String() })
	return []byte("<root>" + inside + wholeSignature.FindString(string(b)) + "</root>")
}

// exclusiveSum is the digest of an element.
func exclusiveSum(t testing.TB, d *xmldoc.Document, id string) string {
	t.Helper()
	apex, _ := d.ByID(id)
	sum := sha256.New()
	if err := d.Canonicalize(sum, xmldoc.Canonicalization{Method: xmldoc.Exclusive}, xmldoc.Subset{Apex: apex}); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(sum.Sum(nil))
}

// attributed is elements with many attributes, in no order.
func attributed(size int) string {
	var b strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&b, " a%d=''", i*7919%9000)
	}
	return strings.Repeat("<e"+b.String()+"/>", size/b.Len())
}

// manyLists is a signature that refers to a long list many times.
func manyLists(t testing.TB, signed []byte) []byte {
	reference := wholeReference.FindString(string(signed))
	list := `<ds:Object><ds:Manifest Id="list">` + strings.Repeat(reference, 900) + "</ds:Manifest></ds:Object></ds:Signature>"
	b := altered(t, signed, "</ds:Signature>", list)
	return replaced(t, b, wholeReference, func(s string) string {
		return strings.Repeat(strings.Replace(s, `URI=""`, `Type="http://www.w3.org/2000/09/xmldsig#Manifest" URI="#list"`, 1), 900)
	})
}

// bombs are whole, or that part of each of them.
func bombs(t testing.TB, p person, part int) []bomb {
	signed := sign(t, []byte(contract), p, xades.Options{})
	archived := signLevel(t, []byte(contract), p, ades.LTA, xades.Options{})
	long := sign(t, paragraphs((2<<20)/part), p, xades.Options{})
	element := wholeSignature.FindString(string(signed))
	times := func(b []byte, what *regexp.Regexp, n int) []byte {
		return replaced(t, b, what, func(s string) string { return strings.Repeat(s, n) })
	}
	var attributes, prefixes bytes.Buffer
	for i := range 1_000_000 / part {
		fmt.Fprintf(&attributes, ` a%d=""`, i)
	}
	for i := range 5000 {
		fmt.Fprintf(&prefixes, ` xmlns:p%d="u:%d"`, i, i)
	}
	entities := `<!DOCTYPE a [<!ENTITY a "` + strings.Repeat("a", 1000) + `">`
	for c := 'b'; c < 'k'; c++ {
		entities += fmt.Sprintf(`<!ENTITY %c "%s">`, c, strings.Repeat(fmt.Sprintf("&%c;", c-1), 10))
	}
	return []bomb{
		{name: "entities", bytes: []byte(entities + "]><a>&j;</a>"), refused: true},
		{name: "entity elsewhere", bytes: []byte(`<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]><a>&b;</a>`), refused: true},
		{name: "document type elsewhere", bytes: []byte(`<!DOCTYPE a SYSTEM "http://example.org/a.dtd"><a/>`), refused: true},
		{name: "1,000 deep", bytes: nested(1000, "<a>", "", "</a>"), refused: true},
		{name: "a million deep, and no end", bytes: nested(1_000_000/part, "<a>", "", ""), refused: true},
		{name: "a million attributes", bytes: []byte("<a" + attributes.String() + "/>"), refused: true},
		{name: "a million elements", bytes: []byte("<a>" + strings.Repeat("<b/>", 1_000_000/part) + "</a>")},
		{name: "60 signatures within each other", bytes: nested(60, `<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:Object>`, element, "</ds:Object></ds:Signature>")},
		{name: "5,000 namespaces for 20,000 elements", bytes: []byte("<a" + prefixes.String() + ">" + strings.Repeat("<b c='d'>e</b>", 20_000/part) + element + "</a>")},
		{name: "400 signatures", bytes: times(signed, wholeSignature, 400/part)},
		{name: "100,000 signatures", bytes: []byte("<a>" + strings.Repeat(`<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"/>`, 100_000/part) + "</a>"), refused: true},
		{name: "900 references", bytes: times(signed, wholeReference, 900)},
		{name: "900 references to 2 MB", bytes: times(long, wholeReference, 900)},
		{name: "900 references to 200 elements of 1 MB within each other", bytes: manyTargets(t, signed, string(paragraphs((1<<20)/part)))},
		{name: "900 references to many attributes", bytes: manyTargets(t, signed, attributed((20<<20)/part))},
		{name: "900 times the same Manifest of 900 references", bytes: manyLists(t, signed)},
		{name: "100,000 descriptions of formats", bytes: times(signed, wholeFormat, 100_000/part)},
		{name: "100,000 references", bytes: times(signed, wholeReference, 100_000/part)},
		{name: "40 signatures of 2 MB", bytes: times(long, wholeSignature, 40)},
		{name: "300 archive timestamps", bytes: times(altered(t, archived, "250000", "1"), wholeStamp, 300)},
		{name: "30 MB of Base64", bytes: []byte(`<a Id="b">` + strings.Repeat("QUJD", (7<<20)/part) + element + "</a>")},
		{name: "30 MB of Base64 for a value", bytes: signatureValue.ReplaceAll(signed, []byte("${1}"+strings.Repeat("QUJD", (7<<20)/part)))},
		{name: "30 MB of Base64 for a certificate", bytes: replaced(t, signed, keyInfo, func(string) string {
			return "<ds:KeyInfo><ds:X509Data><ds:X509Certificate>" + strings.Repeat("QUJD", (7<<20)/part) + "</ds:X509Certificate></ds:X509Data></ds:KeyInfo>"
		})},
		{name: "the same identifier 100,000 times", bytes: []byte("<a>" + strings.Repeat(`<b Id="c"/>`, 100_000/part) + element + "</a>")},
		{name: "900 references of the corpus", bytes: readFile(t, testenv.Corpus(t, "signed/xml")+"/xades-900-references.xml")},
	}
}
