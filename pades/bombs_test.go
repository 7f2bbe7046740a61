package pades_test

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/cms"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// bomb is a document that is made to take long, or much room.
type bomb struct {
	name  string
	bytes []byte
}

// mostOfABomb is how long one is.
const mostOfABomb = 1 << 20

const rangeToCome = "/ByteRange [0 0000000000 0000000000 0000000000]"

// manySigned is a document with certificates in its store, and a field for each message, whose range ends with
// the document.
func manySigned(store []*x509.Certificate, messages ...[]byte) []byte {
	var fields, certificates strings.Builder
	objects := []string{"", ""} // the form and the store
	add := func(object string) (reference string) {
		objects = append(objects, object)
		return fmt.Sprintf("%d 0 R ", 99+len(objects))
	}
	for _, cert := range store {
		certificates.WriteString(add(fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(cert.Raw), cert.Raw)))
	}
	for i, message := range messages {
		value := add(fmt.Sprintf("<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/M(D:20260101000000Z)%s/Contents<%x>>>", rangeToCome, message))
		fields.WriteString(add(fmt.Sprintf("<</FT/Sig/T(%d)/V %s>>", i, value)))
	}
	objects[0], objects[1] = "<< /Fields ["+fields.String()+"] >>", "<< /Certs ["+certificates.String()+"] >>"
	b := pdftest.Build(pdftest.Options{Catalog: "/AcroForm 100 0 R /DSS 101 0 R", Objects: objects})
	return withRanges(b)
}

// withRanges fills in the ranges, which all end with the document.
func withRanges(b []byte) []byte {
	for at := bytes.Index(b, []byte(rangeToCome)); at >= 0; at = bytes.Index(b, []byte(rangeToCome)) {
		start := at + bytes.Index(b[at:], []byte("/Contents<")) + len("/Contents")
		end := start + bytes.IndexByte(b[start:], '>') + 1
		copy(b[at:], fmt.Sprintf("/ByteRange [0 %010d %010d %010d]", start, end, len(b)-end))
	}
	return b
}

// forgedMessage is a signature of something else.
func forgedMessage(t testing.TB, cert *x509.Certificate) []byte {
	t.Helper()
	var b [sha256.Size]byte
	algorithm := ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}
	attributes, err := cms.SignedAttributes(cert, algorithm, b[:])
	if err != nil {
		t.Fatal(err)
	}
	der, err := cms.Marshal(cms.Parts{Certificate: cert, Algorithm: algorithm, SignedAttributes: attributes, Value: []byte{0x30, 6, 2, 1, 1, 2, 1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// crossCertified are signers below authorities that have all certified each other, by keys that are slow to verify.
func crossCertified(t testing.TB, signers int) []byte {
	const authorities = 4
	name := func(i int) pkix.Name { return pkix.Name{CommonName: fmt.Sprint("Authority ", i)} }
	var keys [authorities]crypto.Signer
	for i := range keys {
		keys[i] = certtest.NewKey(t, elliptic.P521())
	}
	var store []*x509.Certificate
	own, serial := p256(t), int64(0)
	issue := func(template x509.Certificate, key crypto.Signer, by int) *x509.Certificate {
		serial++
		template.SerialNumber = big.NewInt(serial)
		return certtest.Issue(t, template, key, &x509.Certificate{Subject: name(by)}, keys[by])
	}
	for subject := range keys {
		for issuer := range keys {
			store = append(store, issue(x509.Certificate{
				Subject: name(subject), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
			}, keys[subject], issuer))
		}
	}
	var messages [][]byte
	for range signers {
		messages = append(messages, forgedMessage(t, issue(x509.Certificate{Subject: pkix.Name{CommonName: "Signer"}}, own, 0)))
	}
	return manySigned(store, messages...)
}

// outgrown is a document with so many further revisions.
func outgrown(b []byte, revisions int, body func(i int) string) []byte {
	b = bytes.Clone(b)
	last := bytes.LastIndex(b, []byte("startxref\n"))
	var prev int
	fmt.Sscanf(string(b[last+len("startxref\n"):]), "%d", &prev)
	for i := range revisions {
		at := len(b)
		b = append(b, body(i)...)
		section := len(b)
		b = fmt.Appendf(b, "xref\n3 1\n%010d 00000 n \ntrailer\n<</Size 2000/Root 1 0 R/Prev %d>>\nstartxref\n%d\n%%%%EOF\n", at, prev, section)
		prev = section
	}
	return b
}

// changedMuch is a document with two more revisions, each of which has so many objects in it.
func changedMuch(b []byte, objects int, body string) []byte {
	for range 2 {
		last := bytes.LastIndex(b, []byte("startxref\n"))
		var prev int
		fmt.Sscanf(string(b[last+len("startxref\n"):]), "%d", &prev)
		var table bytes.Buffer
		b = bytes.Clone(b)
		for i := range objects {
			fmt.Fprintf(&table, "%010d 00000 n \n", len(b))
			b = fmt.Appendf(b, "%d 0 obj\n%s endobj\n", 2000+i, body)
		}
		b = fmt.Appendf(b, "xref\n2000 %d\n%strailer\n<</Size %d/Root 1 0 R/Prev %d>>\nstartxref\n%d\n%%%%EOF\n", objects, table.Bytes(), 2000+objects, prev, len(b))
	}
	return b
}

// locked is a document whose signatures each lock some of many fields, and were followed by changes to some.
func locked(signatures, names, changed int) []byte {
	var fields strings.Builder
	objects := []string{""}
	for i := range signatures {
		var lock strings.Builder
		for n := i * names / signatures; n < (i+1)*names/signatures; n++ {
			fmt.Fprintf(&lock, "(n%d)", n)
		}
		fmt.Fprintf(&fields, "%d 0 R ", 101+i)
		objects = append(objects, fmt.Sprintf("<</FT/Sig/T(%d)/Lock<</Action/Exclude/Fields[%s]>>/V<</Type/Sig%s/Contents<00>>>>>", i, &lock, rangeToCome))
	}
	for i := range changed {
		fmt.Fprintf(&fields, "%d 0 R ", 2000+i)
	}
	objects[0] = "<< /Fields [" + fields.String() + "] >>"
	b := withRanges(pdftest.Build(pdftest.Options{Catalog: "/AcroForm 100 0 R", Objects: objects}))
	return changedMuch(b, changed, "<</FT/Tx/T(n1.a)/V(b)>>")
}

func otherContent(i int) string {
	return fmt.Sprintf("3 0 obj\n<</Length 1>>stream\n%d\nendstream\nendobj\n", i%10)
}

// bombs are whole, or that part of each of them.
func bombs(t testing.TB, p person, part int) []bomb {
	signed := sign(t, pdftest.Build(pdftest.Options{Many: 200}), p, pades.Options{})
	messages := make([][]byte, 250/part)
	for i := range messages {
		messages[i] = forgedMessage(t, p.signer.Certificate)
	}
	return append(bombsOfChanges(part), []bomb{
		{"250 signatures", manySigned(nil, messages...)},
		{"250 signatures below authorities that certified each other", crossCertified(t, 250/part)},
		{"a long name of 20,000 fields", pdftest.Build(pdftest.Options{
			Catalog: "/AcroForm << /Fields [<</T(" + strings.Repeat("a", (700<<10)/part) + ")/Kids[" + strings.Repeat("<</T(a)>>", 20_000/part) + "]>>] >>",
		})},
		{"long names in one another", pdftest.Build(pdftest.Options{
			Catalog: "/AcroForm << /Fields [" + strings.Repeat("<</T("+strings.Repeat("a", (20<<10)/part)+")/Kids[", 30) +
				strings.Repeat("<</T(a)>>", 30_000/part) + strings.Repeat("]>>", 30) + "] >>",
		})},
		{"90,000 fields", pdftest.Build(pdftest.Options{Catalog: "/AcroForm << /Fields [" + strings.Repeat("<</T(a)>>", 90_000/part) + "] >>"})},
		{"250 signatures and 14,000 objects that changed", changedMuch(manySigned(nil, make([][]byte, 250/part)...), 7000/part, "7")},
		{"250 signatures that lock 20,000 fields, of which 4,000 changed", locked(250/part, 20_000/part, 4000/part)},
		{"4,000 revisions", outgrown(signed, 4000/part, otherContent)},
		{"250 signatures and 1,500 revisions", outgrown(manySigned(nil, messages[:150/part]...), 1500/part, otherContent)},
	}...)
}
