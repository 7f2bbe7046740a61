package xades_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/testenv"
	"github.com/innsigli/innsigli/xades"
)

// What the verification of a bomb may take. The time is five times as long where others share the processor
// or races are watched for.
const (
	bombTime = 2 * time.Second
	bombHeap = 200 << 20
)

// bomb is a document that is made to take long, or much room.
type bomb struct {
	name    string
	bytes   []byte
	refused bool
}

var (
	wholeReference = regexp.MustCompile(`(?s)<ds:Reference Id=.*?</ds:Reference>`)
	wholeFormat    = regexp.MustCompile(`(?s)<xades:DataObjectFormat .*</xades:DataObjectFormat>`)
	wholeStamp     = regexp.MustCompile(`(?s)<xades141:ArchiveTimeStamp .*</xades141:ArchiveTimeStamp>`)
)

// nested is something in so many elements.
func nested(n int, start, inside, end string) []byte {
	return []byte(strings.Repeat(start, n) + inside + strings.Repeat(end, n))
}

// manyTargets is a signature of elements that are in one another.
func manyTargets(t *testing.T, signed []byte) []byte {
	var start, references strings.Builder
	reference := wholeReference.FindString(string(signed))
	for i := range 200 {
		fmt.Fprintf(&start, `<a Id="a%d">`, i)
	}
	for i := range 900 {
		references.WriteString(strings.Replace(reference, `URI=""`, fmt.Sprintf(`URI="#a%d"`, i%200), 1))
	}
	b := replaced(t, signed, wholeReference, func(string) string { return references.String() })
	element := wholeSignature.FindString(string(b))
	return []byte("<root>" + start.String() + string(paragraphs(1<<20)) + strings.Repeat("</a>", 200) + element + "</root>")
}

// manyLists is a signature that refers to a long list many times.
func manyLists(t *testing.T, signed []byte) []byte {
	reference := wholeReference.FindString(string(signed))
	list := `<ds:Object><ds:Manifest Id="list">` + strings.Repeat(reference, 900) + "</ds:Manifest></ds:Object></ds:Signature>"
	b := altered(t, signed, "</ds:Signature>", list)
	return replaced(t, b, wholeReference, func(s string) string {
		return strings.Repeat(strings.Replace(s, `URI=""`, `Type="http://www.w3.org/2000/09/xmldsig#Manifest" URI="#list"`, 1), 900)
	})
}

func bombs(t *testing.T, p person) []bomb {
	signed := sign(t, []byte(contract), p, xades.Options{})
	archived := signLevel(t, []byte(contract), p, ades.LTA, xades.Options{})
	long := sign(t, paragraphs(2<<20), p, xades.Options{})
	element := wholeSignature.FindString(string(signed))
	times := func(b []byte, part *regexp.Regexp, n int) []byte {
		return replaced(t, b, part, func(s string) string { return strings.Repeat(s, n) })
	}
	var attributes, prefixes bytes.Buffer
	for i := range 1_000_000 {
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
		{"entities", []byte(entities + "]><a>&j;</a>"), true},
		{"entity elsewhere", []byte(`<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]><a>&b;</a>`), true},
		{"document type elsewhere", []byte(`<!DOCTYPE a SYSTEM "http://example.org/a.dtd"><a/>`), true},
		{"1,000 deep", nested(1000, "<a>", "", "</a>"), true},
		{"a million deep, and no end", nested(1_000_000, "<a>", "", ""), true},
		{"a million attributes", []byte("<a" + attributes.String() + "/>"), true},
		{"a million elements", []byte("<a>" + strings.Repeat("<b/>", 1_000_000) + "</a>"), false},
		{"60 signatures within each other", nested(60, `<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:Object>`, element, "</ds:Object></ds:Signature>"), false},
		{"5,000 namespaces for 20,000 elements", []byte("<a" + prefixes.String() + ">" + strings.Repeat("<b c='d'>e</b>", 20_000) + element + "</a>"), false},
		{"400 signatures", times(signed, wholeSignature, 400), false},
		{"100,000 signatures", []byte("<a>" + strings.Repeat(`<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"/>`, 100_000) + "</a>"), true},
		{"900 references", times(signed, wholeReference, 900), false},
		{"900 references to 2 MB", times(long, wholeReference, 900), false},
		{"900 references to 200 elements of 1 MB within each other", manyTargets(t, signed), false},
		{"900 times the same Manifest of 900 references", manyLists(t, signed), false},
		{"100,000 descriptions of formats", times(signed, wholeFormat, 100_000), false},
		{"100,000 references", times(signed, wholeReference, 100_000), false},
		{"40 signatures of 2 MB", times(long, wholeSignature, 40), false},
		{"300 archive timestamps", times(altered(t, archived, "250000", "1"), wholeStamp, 300), false},
		{"30 MB of Base64", []byte(`<a Id="b">` + strings.Repeat("QUJD", 7<<20) + element + "</a>"), false},
		{"30 MB of Base64 for a value", signatureValue.ReplaceAll(signed, []byte("${1}"+strings.Repeat("QUJD", 7<<20))), false},
		{"30 MB of Base64 for a certificate", replaced(t, signed, keyInfo, func(string) string {
			return "<ds:KeyInfo><ds:X509Data><ds:X509Certificate>" + strings.Repeat("QUJD", 7<<20) + "</ds:X509Certificate></ds:X509Data></ds:KeyInfo>"
		}), false},
		{"the same identifier 100,000 times", []byte("<a>" + strings.Repeat(`<b Id="c"/>`, 100_000) + element + "</a>"), false},
		{"900 references of the corpus", readFile(t, testenv.Corpus(t, "signed/xml")+"/xades-900-references.xml"), false},
	}
}

// Nothing takes longer than two seconds, or more than 200 MB beside the document, and nothing of it passes.
func TestBombs(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	for _, b := range bombs(t, p) {
		report, took, heap, err := b.explode(t, p)
		for try := 1; took > bombTime && try < 3; try++ { // the machine may have been busy
			report, took, heap, err = b.explode(t, p)
		}
		t.Logf("figure: %s, %d KB: %v, %d MB", b.name, len(b.bytes)>>10, took.Round(time.Millisecond), heap>>20)
		if took > 5*bombTime || heap > bombHeap {
			t.Errorf("%s took %v and %d MB", b.name, took, heap>>20)
		}
		if errors.Is(err, xades.ErrUnreadable) != b.refused || err == nil && report.Passed() {
			t.Errorf("%s: %v, %+v", b.name, err, report)
		}
	}
}

func (b bomb) explode(t *testing.T, p person) (report *ades.Report, took time.Duration, heap uint64, err error) {
	t.Helper()
	began := time.Now()
	heap = peakHeap(func() {
		report, err = xades.Verify(t.Context(), document(b.bytes), xades.VerifyOptions{Roots: p.ca.Roots()})
	})
	return report, time.Since(began), heap, err
}

// Verification ends with its context.
func TestVerifyEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := xades.Verify(ctx, document([]byte(contract)), xades.VerifyOptions{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
