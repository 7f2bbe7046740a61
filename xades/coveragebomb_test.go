package xades_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/xades"
)

// unsound is a signature of something with a value that is none.
func unsound(references, objects string) string {
	return `<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:SignedInfo>` +
		`<ds:CanonicalizationMethod Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/>` +
		`<ds:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"/>` + references +
		`</ds:SignedInfo><ds:SignatureValue>AAAA</ds:SignatureValue>` + objects + `</ds:Signature>`
}

func referenceTo(uri, kind string) string {
	return fmt.Sprintf(`<ds:Reference Type="%s" URI="#%s"><ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/>`+
		`<ds:DigestValue>AAAA</ds:DigestValue></ds:Reference>`, kind, uri)
}

// listed is a signature of so many lists, with each of their thousand references to an element in its Object.
func listed(lists int) string {
	var references, manifests, elements strings.Builder
	for m := range lists {
		references.WriteString(referenceTo(fmt.Sprint("m", m), "http://www.w3.org/2000/09/xmldsig#Manifest"))
		fmt.Fprintf(&manifests, `<ds:Object><ds:Manifest Id="m%d">`, m)
		for i := range 1000 {
			fmt.Fprintf(&elements, `<k Id="k%d"/>`, 1000*m+i)
			manifests.WriteString(referenceTo(fmt.Sprint("k", 1000*m+i), ""))
		}
		manifests.WriteString("</ds:Manifest></ds:Object>")
	}
	return unsound(references.String(), manifests.String()+"<ds:Object>"+elements.String()+"</ds:Object>")
}

// bombsOfCoverage are signatures that cover much. What it is, is found in as much time as it takes to read the document.
func bombsOfCoverage(part int) []bomb {
	thousand := strings.Repeat(referenceTo("x", ""), 1000)
	sum := sha256.Sum256([]byte(`<a Id="r"></a>`))
	beside := `<ds:Reference URI="#r"><ds:Transforms>` + filterTransform + canonicalTransform + `</ds:Transforms>` +
		`<ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><ds:DigestValue>` + base64.StdEncoding.EncodeToString(sum[:]) + `</ds:DigestValue></ds:Reference>`
	return []bomb{
		{name: "20 signatures with 1,000 references beside 3,000,000 comments", bytes: []byte("<internally-detached>" +
			strings.Repeat("<!---->", 3_000_000/part) + strings.Repeat(unsound(thousand, ""), 20) + "</internally-detached>")},
		{name: "64,000 references listed to elements of an Object", bytes: []byte("<r>" + listed(max(64/part, 1)) + "</r>"), allocated: 200},
		{name: "200 signatures and 2,000,000 instructions beside the root", bytes: []byte(strings.Repeat("<?a?>", 2_000_000/part) +
			`<a Id="r">` + strings.Repeat(unsound(beside, ""), 200) + "</a>")},
		{name: "490 signatures beside 3,000,000 comments in an Object", bytes: []byte(`<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:Object><x>` +
			strings.Repeat(unsound(referenceTo("x", ""), ""), 490) + "</x>" + strings.Repeat("<!---->", 3_000_000/part) + "</ds:Object></ds:Signature>")},
	}
}

func TestBombsOfCoverage(t *testing.T) {
	for _, b := range bombsOfCoverage(20) {
		b.mustBeCheap(t, "verified", func() {
			if report, err := xades.Verify(t.Context(), document(b.bytes), ades.VerifyOptions{}); err != nil || report.Passed() {
				t.Errorf("%s: %v, or it passes", b.name, err)
			}
		})
	}
}
