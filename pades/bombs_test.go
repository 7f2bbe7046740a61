package pades_test

import (
	"bytes"
	"compress/zlib"
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

// bomb is a document that is made to take much time or memory to verify.
type bomb struct {
	name  string
	bytes []byte
}

// mostOfABomb is the most bytes that a bomb has.
const mostOfABomb = 1 << 20

// bombs are whole for part 1; else most numbers are divided by part.
func bombs(t testing.TB, p person, part int) []bomb {
	signed := sign(t, pdftest.Build(pdftest.Options{Many: 200}), p, pades.Options{})
	messages := make([][]byte, 250/part)
	for i := range messages {
		messages[i] = forgedMessage(t, p.signer.Certificate)
	}
	form := func(fields string) []byte {
		return pdftest.Build(pdftest.Options{Catalog: "/AcroForm << /Fields [" + fields + "] >>"})
	}
	const square = "<</Subtype/Square>>"
	annotations := references(100_000, 100_000/part)
	squares := strings.Repeat(square, 40_000/part)
	return []bomb{
		{"100,000 annotations, and one is added", replacedInObjectStream("", "/Annots 400 0 R", "["+annotations+"]", "[1 0 R "+annotations+"]")},
		{"100,000 annotations, and all are replaced", replacedInObjectStream("", "/Annots 400 0 R", "["+annotations+"]", "["+squares+"]")},
		{"40,000 direct annotations, and one is added", replacedInObjectStream("", "/Annots 400 0 R", "["+squares+"]", "[<<>>"+squares+"]")},
		{"250,000 references in four roles", replacedInObjectStream("/X 400 0 R /StructTreeRoot 400 0 R /Extensions 400 0 R /Perms 400 0 R", "",
			"["+references(100_000, 250_000/part)+"]", "[]")},
		{"two metadata streams in 40 revisions", manyMetadataStreams(2, 40/part)},
		{"20 metadata streams in 40 revisions", manyMetadataStreams(20, 40/part)},
		{"250 signatures", manySignatures(nil, messages...)},
		{"250 signatures below authorities that certified each other", crossCertified(t, 250/part)},
		{"20,000 fields below a long name", form("<</T(" + strings.Repeat("a", (700<<10)/part) + ")/Kids[" + strings.Repeat("<</T(a)>>", 20_000/part) + "]>>")},
		{"30,000 fields below nested long names", form(strings.Repeat("<</T("+strings.Repeat("a", (20<<10)/part)+")/Kids[", 30) +
			strings.Repeat("<</T(a)>>", 30_000/part) + strings.Repeat("]>>", 30))},
		{"90,000 fields", form(strings.Repeat("<</T(a)>>", 90_000/part))},
		{"250 signatures and 14,000 changed objects", changeObjects(manySignatures(nil, make([][]byte, 250/part)...), 7000/part, "7")},
		{"250 signatures that lock 20,000 fields, of which 4,000 changed", manyLocks(250/part, 20_000/part, 4000/part)},
		{"4,000 revisions", appendRevisions(signed, 4000/part)},
		{"250 signatures and 1,500 revisions", appendRevisions(manySignatures(nil, messages[:150/part]...), 1500/part)},
	}
}

const (
	unfilledRange = "/ByteRange [0 0000000000 0000000000 0000000000]"
	emptyContents = "<<" + unfilledRange + "/Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/Contents<00>>>"
)

// fillRanges fills in the ranges, which all end with the document.
func fillRanges(b []byte) []byte {
	for at := bytes.Index(b, []byte(unfilledRange)); at >= 0; at = bytes.Index(b, []byte(unfilledRange)) {
		start := at + bytes.Index(b[at:], []byte("/Contents<")) + len("/Contents")
		end := start + bytes.IndexByte(b[start:], '>') + 1
		copy(b[at:], fmt.Sprintf("/ByteRange [0 %010d %010d %010d]", start, end, len(b)-end))
	}
	return b
}

// manySignatures is a document with certificates in its store, and a signature field for each message.
func manySignatures(store []*x509.Certificate, messages ...[]byte) []byte {
	var fields, certificates strings.Builder
	objects := []string{"", ""} // the form and the store
	add := func(object string) (reference string) {
		objects = append(objects, object)
		return fmt.Sprintf("%d 0 R ", 99+len(objects))
	}
	for _, cert := range store {
		certificates.WriteString(add(stream("", string(cert.Raw))))
	}
	for i, message := range messages {
		value := add(fmt.Sprintf("<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/M(D:20260101000000Z)%s/Contents<%x>>>", unfilledRange, message))
		fields.WriteString(add(fmt.Sprintf("<</FT/Sig/T(%d)/V %s>>", i, value)))
	}
	objects[0], objects[1] = "<< /Fields ["+fields.String()+"] >>", "<< /Certs ["+certificates.String()+"] >>"
	return fillRanges(pdftest.Build(pdftest.Options{Catalog: "/AcroForm 100 0 R /DSS 101 0 R", Objects: objects}))
}

// forgedMessage is a CMS whose value is no signature.
func forgedMessage(t testing.TB, cert *x509.Certificate) []byte {
	t.Helper()
	algorithm := ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}
	attributes, err := cms.SignedAttributes(cert, algorithm, make([]byte, sha256.Size))
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
	serial := int64(0)
	issue := func(template x509.Certificate, key crypto.Signer, by int) *x509.Certificate {
		serial++
		template.SerialNumber = big.NewInt(serial)
		return certtest.Issue(t, template, key, &x509.Certificate{Subject: name(by)}, keys[by])
	}
	var store []*x509.Certificate
	for subject := range keys {
		for issuer := range keys {
			template := x509.Certificate{Subject: name(subject), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
			store = append(store, issue(template, keys[subject], issuer))
		}
	}
	var messages [][]byte
	key := p256(t)
	for range signers {
		messages = append(messages, forgedMessage(t, issue(x509.Certificate{Subject: pkix.Name{CommonName: "Signer"}}, key, 0)))
	}
	return manySignatures(store, messages...)
}

// appendRevisions appends revisions that each replace the content of the page.
func appendRevisions(b []byte, revisions int) []byte {
	b = bytes.Clone(b)
	prev := string(lastOffset(b))
	for i := range revisions {
		at := len(b)
		b = fmt.Appendf(b, "3 0 obj\n<</Length 1>>stream\n%d\nendstream\nendobj\n", i%10)
		section := len(b)
		b = fmt.Appendf(b, "xref\n3 1\n%010d 00000 n \ntrailer\n<</Size 2000/Root 1 0 R/Prev %s>>\nstartxref\n%d\n%%%%EOF\n", at, prev, section)
		prev = fmt.Sprint(section)
	}
	return b
}

// changeObjects appends two revisions, each of which writes the same objects.
func changeObjects(b []byte, objects int, body string) []byte {
	for range 2 {
		prev := lastOffset(b)
		var table bytes.Buffer
		for i := range objects {
			fmt.Fprintf(&table, "%010d 00000 n \n", len(b))
			b = fmt.Appendf(b, "%d 0 obj\n%s endobj\n", 2000+i, body)
		}
		b = fmt.Appendf(b, "xref\n2000 %d\n%strailer\n<</Size %d/Root 1 0 R/Prev %s>>\nstartxref\n%d\n%%%%EOF\n", objects, table.Bytes(), 2000+objects, prev, len(b))
	}
	return b
}

// manyLocks is a document whose signatures each lock some of many fields. Some fields changed since.
func manyLocks(signatures, names, changed int) []byte {
	var fields strings.Builder
	objects := []string{""}
	for i := range signatures {
		var lock strings.Builder
		for n := i * names / signatures; n < (i+1)*names/signatures; n++ {
			fmt.Fprintf(&lock, "(n%d)", n)
		}
		objects = append(objects, fmt.Sprintf("<</FT/Sig/T(%d)/Lock<</Action/Exclude/Fields[%s]>>/V<</Type/Sig%s/Contents<00>>>>>", i, &lock, unfilledRange))
	}
	fields.WriteString(references(101, signatures) + references(2000, changed))
	objects[0] = "<< /Fields [" + fields.String() + "] >>"
	b := fillRanges(pdftest.Build(pdftest.Options{Catalog: "/AcroForm 100 0 R", Objects: objects}))
	return changeObjects(b, changed, "<</FT/Tx/T(n1.a)/V(b)>>")
}

// appendXRefStream appends a cross-reference stream of width [1 4 2] with entries for the objects of the index.
func appendXRefStream(b []byte, index, entries string) []byte {
	at := len(b)
	b = fmt.Appendf(bytes.Clone(b), "990 0 obj\n%s\nendobj\n", stream(fmt.Sprintf(
		"/Type /XRef /Size 1000 /Root 1 0 R /Prev %s /W [1 4 2] /Index [%s]", lastOffset(b), index), entries))
	return fmt.Appendf(b, "startxref\n%d\n%%%%EOF\n", at)
}

func xrefEntry(kind byte, where uint32, index uint16) string {
	return string([]byte{kind, byte(where >> 24), byte(where >> 16), byte(where >> 8), byte(where), byte(index >> 8), byte(index)})
}

// replacedInObjectStream is a document with the object 400 in an object stream when it was signed, and another after.
func replacedInObjectStream(catalog, page string, signed, later string) []byte {
	inStream := func(object string) string { return deflated("/Type /ObjStm /N 1 /First 6", "400 0 "+object) }
	b := pdftest.Build(pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R] >> " + catalog, Page: page,
		Objects: []string{"<</FT/Sig/T(a)/V 101 0 R>>", emptyContents, inStream(signed)},
	})
	b = fillRanges(appendXRefStream(b, "400 1", xrefEntry(2, 102, 0)))
	at := len(b)
	b = fmt.Appendf(b, "402 0 obj\n%s\nendobj\n", inStream(later))
	return appendXRefStream(b, "400 1 402 1", xrefEntry(2, 402, 0)+xrefEntry(1, uint32(at), 0))
}

func deflated(entries, payload string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(payload)) // a bytes.Buffer takes everything
	_ = w.Close()
	return stream(entries+" /Filter /FlateDecode", b.String())
}

// manyMetadataStreams is a document with large metadata streams, which are the metadata of the document by turns.
func manyMetadataStreams(different, revisions int) []byte {
	const elements, metadata = 200_000, 102
	objects := []string{"<</FT/Sig/T(a)/V 101 0 R>>", emptyContents}
	for i := range different {
		objects = append(objects, deflated(fmt.Sprintf("/Type /Metadata /X %d", i), "<a>"+strings.Repeat("<b/>", elements)+"</a>"))
	}
	b := pdftest.Build(pdftest.Options{Catalog: "/AcroForm << /Fields [100 0 R] >> /Metadata 102 0 R", Objects: objects})
	var offsets []int
	for i := range different {
		at := bytes.Index(b, fmt.Appendf(nil, "\n%d 0 obj", metadata+i)) + 1
		copy(b[at:], fmt.Sprint(metadata))
		offsets = append(offsets, at)
	}
	b = fillRanges(b)
	for i := range revisions {
		b = appendXRefStream(b, fmt.Sprint(metadata, " 1"), xrefEntry(1, uint32(offsets[i%different]), 0))
	}
	return b
}
