package xades_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	"github.com/innsigli/innsigli/xades"
)

// bomb is a document that is made to take much time or memory.
type bomb struct {
	name      string
	content   string
	refused   bool // with ErrUnreadable
	allocated int  // limit of what Verify allocates, as a multiple of the document; zero: 60
}

// TestBombs checks that no bomb passes, is extended, or is signed if it cannot be read, and how much is allocated in
// total. BenchmarkBombs checks the time and the memory in use.
func TestBombs(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	for _, b := range bombs(t, p, 20) {
		doc := document([]byte(b.content))
		b.limitAllocation(t, "Verify", func() {
			report, err := xades.Verify(t.Context(), doc, ades.VerifyOptions{Roots: p.ca.Roots()})
			if errors.Is(err, ades.ErrUnreadable) != b.refused || err == nil && report.Passed() {
				t.Errorf("%s: Verify: got %v, %+v", b.name, err, report)
			}
		})
		b.limitAllocation(t, "Extend", func() {
			if _, err := (xades.Extender{Sources: p.ca.Sources(nil)}).Extend(t.Context(), doc, ades.LTA); err == nil {
				t.Errorf("%s: Extend: got no error", b.name)
			}
		})
		b.limitAllocation(t, "Prepare", func() {
			_, err := xades.Prepare(t.Context(), doc, p.signer, xades.Options{})
			if b.refused && !errors.Is(err, ades.ErrUnreadable) {
				t.Errorf("%s: Prepare: got %v, want ErrUnreadable", b.name, err)
			}
		})
	}
}

func (b bomb) limitAllocation(t *testing.T, name string, do func()) {
	t.Helper()
	most := uint64(cmp.Or(b.allocated, 60)*len(b.content) + 64<<10)
	if allocated := testenv.Allocated(do); allocated > most {
		t.Errorf("%s: %s allocates %d KB, limit %d KB", b.name, name, allocated>>10, most>>10)
	}
}

// BenchmarkBombs fails if an operation on a bomb of full size takes more than two seconds, or more than 200 MB beside the
// document.
func BenchmarkBombs(b *testing.B) {
	p := newPerson(b, catest.New(b), p256(b))
	for _, bomb := range bombs(b, p, 1) {
		doc := document([]byte(bomb.content))
		bounded := func(name string, do func()) {
			b.Run(name+"/"+bomb.name, func(b *testing.B) { testenv.Bounded(b, 2*time.Second, 200<<20, do) })
		}
		bounded("verified", func() { _, _ = xades.Verify(b.Context(), doc, ades.VerifyOptions{Roots: p.ca.Roots()}) })
		bounded("extended", func() { _, _ = xades.Extender{Sources: p.ca.Sources(nil)}.Extend(b.Context(), doc, ades.LTA) })
		bounded("signed", func() { _, _ = xades.Prepare(b.Context(), doc, p.signer, xades.Options{}) })
		for _, k := range packings {
			bounded("checked for "+k.name, func() { _ = xades.Check(b.Context(), doc, k.options()) })
		}
	}
}

// bombs returns bombs of full size divided by part.
func bombs(t testing.TB, p person, part int) []bomb {
	signed := sign(t, []byte(contract), p, xades.Options{})
	long := sign(t, paragraphs((2<<20)/part), p, xades.Options{})
	archived := replace("250000", "1")(t, p, signLevel(t, []byte(contract), p, ades.LTA, xades.Options{}))
	signature := string(wholeSignature.Find(signed))
	repeated := func(b []byte, pattern *regexp.Regexp, n int) string {
		return string(edit(pattern, func(s string) string { return strings.Repeat(s, n) })(t, p, b))
	}
	nested := func(n int, start, inside, end string) string {
		return strings.Repeat(start, n) + inside + strings.Repeat(end, n)
	}
	inRoot := func(s string, n int, more string) string { return "<a>" + strings.Repeat(s, n/part) + more + "</a>" }
	numbered := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	entities := `<!DOCTYPE a [<!ENTITY a "` + strings.Repeat("a", 1000) + `">`
	for c := 'b'; c < 'k'; c++ {
		entities += fmt.Sprintf(`<!ENTITY %c "%s">`, c, strings.Repeat(fmt.Sprintf("&%c;", c-1), 10))
	}
	base64Text := strings.Repeat("QUJD", (7<<20)/part)
	comments := strings.Repeat("<!---->", 3_000_000/part)
	sum := sha256.Sum256([]byte(`<a Id="r"></a>`))
	beside := strings.Replace(referenceTo("", "#r", filterTransform+exclusiveTransform), "AAAA", base64.StdEncoding.EncodeToString(sum[:]), 1)
	return []bomb{
		{name: "entities", content: entities + "]><a>&j;</a>", refused: true},
		{name: "external entity", content: `<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]><a>&b;</a>`, refused: true},
		{name: "external document type", content: `<!DOCTYPE a SYSTEM "http://example.org/a.dtd"><a/>`, refused: true},
		{name: "1,000 deep", content: nested(1000, "<a>", "", "</a>"), refused: true},
		{name: "a million deep, without end tags", content: nested(1_000_000/part, "<a>", "", ""), refused: true},
		{name: "a million attributes", content: "<a" + numbered(1_000_000/part, ` a%d=""`) + "/>", refused: true},
		{name: "a million elements", content: inRoot("<b/>", 1_000_000, "")},
		{name: "60 nested signatures", content: nested(60, `<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:Object>`, signature, "</ds:Object></ds:Signature>")},
		{name: "5,000 namespaces for 20,000 elements", content: "<a" + numbered(5000, ` xmlns:p%[1]d="u:%[1]d"`) + ">" + strings.Repeat("<b c='d'>e</b>", 20_000/part) + signature + "</a>"},
		{name: "400 signatures", content: repeated(signed, wholeSignature, 400/part)},
		{name: "100,000 signatures", content: inRoot(`<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"/>`, 100_000, ""), refused: true},
		{name: "40 signatures of 2 MB", content: repeated(long, wholeSignature, 40)},
		{name: "900 references", content: repeated(signed, documentReference, 900)},
		{name: "900 references to 2 MB", content: repeated(long, documentReference, 900)},
		{name: "900 references to 200 nested elements of 1 MB", content: manyTargets(t, p, signed, string(paragraphs((1<<20)/part)))},
		{name: "900 references to many attributes", content: manyTargets(t, p, signed, attributed((20<<20)/part))},
		{name: "900 references to a Manifest of 900 references", content: manyManifests(t, p, signed)},
		{name: "900 references of the corpus", content: string(readFile(t, testenv.Corpus(t, "signed/xml")+"/xades-900-references.xml"))},
		{name: "100,000 references", content: repeated(signed, documentReference, 100_000/part)},
		{name: "100,000 DataObjectFormats", content: repeated(signed, element("xades:DataObjectFormat"), 100_000/part)},
		{name: "300 archive timestamps", content: repeated(archived, element("xades141:ArchiveTimeStamp"), 300)},
		{name: "30 MB of Base64", content: `<a Id="b">` + base64Text + signature + "</a>"},
		{name: "30 MB of Base64 as value", content: string(substitute(signatureValue, "${1}"+base64Text)(t, p, signed))},
		{name: "30 MB of Base64 as certificate", content: string(substitute(keyInfo, "<ds:KeyInfo><ds:X509Data><ds:X509Certificate>"+base64Text+"</ds:X509Certificate></ds:X509Data></ds:KeyInfo>")(t, p, signed))},
		{name: "20,000 references below a tag of 4 MB", content: manyElements("<a"+strings.Repeat(" ", (4<<20)/part)+`b="">`, 20_000/part, inclusive11Transform), allocated: 200},
		{name: "20,000 references beside 60,000 namespaces", content: manyElements("<a>"+numbered(60_000/part, `<b xmlns:p%[1]d="u:%[1]d"/>`), 20_000/part, exclusiveTransform), allocated: 200},
		{name: "20,000 references to no identifier, beside one of 4 MB", content: `<a><b Id="` + strings.Repeat("b", (4<<20)/part) + `"/>` + strings.Repeat(unvalued(numbered(1000, referenceTo("", "#c%d", "")), ""), 20/min(part, 20)) + "</a>"},
		{name: "1,000 references to an Object with a tag of 4 MB", content: strings.Replace(unvalued(strings.Repeat(referenceTo("", "#o", base64Transform), 1000), ""), signatureEnd, `<ds:Object Id="o" MimeType="`+strings.Repeat("b", (4<<20)/part)+`">QUJD</ds:Object>`+signatureEnd, 1)},
		{name: "100,000 DataObjectFormats of an Object with a tag of 4 MB", content: repeated(wideObject(t, p, (4<<20)/part), element("xades:DataObjectFormat"), 100_000/part), allocated: 200},
		{name: "the same identifier 100,000 times", content: inRoot(`<b Id="c"/>`, 100_000, signature)},

		// The coverage of these is found in the time that it takes to read them.
		{name: "20 signatures of 1,000 references beside 3,000,000 comments", content: "<internally-detached>" + comments + strings.Repeat(unvalued(strings.Repeat(referenceTo("", "#x", ""), 1000), ""), 20) + "</internally-detached>"},
		{name: "64 Manifests of 1,000 references to elements of an Object", content: "<r>" + listed(max(64/part, 1)) + "</r>", allocated: 200},
		{name: "200 signatures and 2,000,000 instructions beside the root", content: strings.Repeat("<?a?>", 2_000_000/part) + `<a Id="r">` + strings.Repeat(unvalued(beside, ""), 200) + "</a>"},
		{name: "490 signatures beside 3,000,000 comments in an Object", content: `<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:Object><x>` + strings.Repeat(unvalued(referenceTo("", "#x", ""), ""), 490) + "</x>" + comments + "</ds:Object></ds:Signature>"},
	}
}

// unvalued returns a signature with a wrong value.
func unvalued(references, rest string) string {
	return `<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:SignedInfo><ds:CanonicalizationMethod Algorithm="` + exclusiveMethod + `"/>` +
		`<ds:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256"/>` + references +
		`</ds:SignedInfo><ds:SignatureValue>AAAA</ds:SignatureValue>` + rest + signatureEnd
}

const manifestType = ` Type="http://www.w3.org/2000/09/xmldsig#Manifest"`

// manyTargets returns a signature of 200 nested elements around content. The first 12 of its 900 digests are right, so
// that the work for them has to be done.
func manyTargets(t testing.TB, p person, signed []byte, content string) string {
	var start strings.Builder
	for i := range 200 {
		fmt.Fprintf(&start, `<a Id="a%d">`, i)
	}
	inside := start.String() + content + strings.Repeat("</a>", 200)
	d := parse(t, []byte(inside))
	references := edit(documentReference, func(reference string) string {
		var all strings.Builder
		for i := range 900 {
			r := strings.Replace(reference, `URI=""`, fmt.Sprintf(`URI="#a%d"`, i%200), 1)
			if i < 12 {
				apex, _ := d.ByID(fmt.Sprint("a", i))
				sum := sha256.Sum256(canonical(t, d, xmldoc.Canonicalization{Method: xmldoc.Exclusive}, xmldoc.Subset{Apex: apex}))
				r = regexp.MustCompile(`(<ds:DigestValue>)[^<]*`).ReplaceAllString(r, "${1}"+base64.StdEncoding.EncodeToString(sum[:]))
			}
			all.WriteString(r)
		}
		return all.String()
	})
	return "<root>" + inside + string(wholeSignature.Find(references(t, p, signed))) + "</root>"
}

// manyElements returns a document of signatures with count references to different small elements, whose digests are
// right.
func manyElements(start string, count int, transforms string) string {
	var elements, references, signatures strings.Builder
	for i := range count {
		sum := sha256.Sum256(fmt.Appendf(nil, `<k Id="k%d"></k>`, i))
		fmt.Fprintf(&elements, `<k Id="k%d"/>`, i)
		references.WriteString(strings.Replace(referenceTo("", fmt.Sprint("#k", i), transforms), "AAAA", base64.StdEncoding.EncodeToString(sum[:]), 1))
		if i%1000 == 999 || i == count-1 {
			signatures.WriteString(unvalued(references.String(), ""))
			references.Reset()
		}
	}
	return start + elements.String() + signatures.String() + "</a>"
}

// attributed returns elements of 9,000 unsorted attributes.
func attributed(size int) string {
	var b strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&b, " a%d=''", i*7919%9000)
	}
	return strings.Repeat("<e"+b.String()+"/>", size/b.Len())
}

// wideObject returns an enveloping signature over an Object that states a long MimeType.
func wideObject(t testing.TB, p person, size int) []byte {
	signed := sign(t, []byte(contract), p, xades.Options{Packing: xades.Enveloping})
	return []byte(strings.Replace(string(signed), "<ds:Object Id=", `<ds:Object MimeType="`+strings.Repeat("b", size)+`" Id=`, 1))
}

// manyManifests returns a signature that refers to the same Manifest 900 times.
func manyManifests(t testing.TB, p person, signed []byte) string {
	list := `<ds:Object><ds:Manifest Id="list">` + strings.Repeat(string(documentReference.Find(signed)), 900) + "</ds:Manifest></ds:Object>"
	refer := edit(documentReference, func(s string) string {
		return strings.Repeat(strings.Replace(s, ` URI=""`, manifestType+` URI="#list"`, 1), 900)
	})
	return string(all(before(signatureEnd, list), refer)(t, p, signed))
}

// listed returns a signature of Manifests, each with 1,000 references to elements in an Object of the signature.
func listed(manifests int) string {
	var references, lists, elements strings.Builder
	for m := range manifests {
		references.WriteString(referenceTo(manifestType, fmt.Sprint("#m", m), ""))
		fmt.Fprintf(&lists, `<ds:Object><ds:Manifest Id="m%d">`, m)
		for i := range 1000 {
			fmt.Fprintf(&elements, `<k Id="k%d"/>`, 1000*m+i)
			lists.WriteString(referenceTo("", fmt.Sprint("#k", 1000*m+i), ""))
		}
		lists.WriteString("</ds:Manifest></ds:Object>")
	}
	return unvalued(references.String(), lists.String()+"<ds:Object>"+elements.String()+"</ds:Object>")
}
