package pades_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

const (
	withAppearance = "a field with an appearance of nothing"
	withType       = "a store whose VRI says what it is"
)

// otherProof is what others may append.
var otherProof = []otherGrowth{
	{"an object that nothing leads to", pdftest.Options{}, func(r *revision) { r.add(square) }},
	{"words of a file's structure that are none", pdftest.Options{}, func(r *revision) {
		r.addStream("", "a trailer for 12 obj and 3 x obj, obj 0 1, endobj 1 0 endobj")
	}},
	{"when the document was written, in its information dictionary", pdftest.Options{Trailer: "/Info 100 0 R", Objects: []string{"<< /Title (This one) >>"}},
		func(r *revision) { r.set(first, "ModDate", "(D:20260701)"); r.set(first, "Producer", "(Another)") }},
	{"when the document was written, in its metadata", pdftest.Options{Catalog: "/Metadata 100 0 R", Objects: []string{xmp("This one", 1)}},
		func(r *revision) { r.replace(first, xmp("This one", 2)) }},
	{"a store of less", pdftest.Options{}, func(r *revision) { r.set(r.store(), "CRLs", "[]") }},
	{withType, pdftest.Options{}, func(r *revision) {
		r.set(r.store(), "VRI", "<< /Type /VRI /"+strings.Repeat("0A", 20)+" << /Type /VRI >> >>")
	}},
	{"extensions", pdftest.Options{Catalog: "/Extensions 100 0 R", Objects: []string{"<< >>"}},
		func(r *revision) { r.set(first, "ADBE", "<< /BaseVersion /1.7 /ExtensionLevel 3 >>") }},
	{withAppearance, pdftest.Options{}, func(r *revision) {
		r.set(r.stamp(), "AP", "<< /N "+r.addStream("/Type /XObject /Subtype /Form /BBox [0 0 0 0]", "").String()+" >>")
	}},
}

// growthTable are the rows of all tables.
var growthTable = map[string][]otherGrowth{"changed": changedDocuments, "not plain": notPlain, "form": changedForms, "ambiguous": ambiguous, "proof": otherProof}

// document is of level LTA, and the row's growth behind it.
func (row otherGrowth) document(t *testing.T, p person) []byte {
	t.Helper()
	b := signLevel(t, pdftest.Build(row.options), p, ades.LTA)
	if row.appends == nil {
		return b
	}
	if !grewByProof(t, b, p.ca) {
		t.Error("not even what proves the signature is proof of it")
	}
	r := newRevision(t, b)
	row.appends(r)
	return r.written()
}

// Whatever else follows a signature is no proof of it.
func TestOtherGrowth(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	for name, rows := range growthTable {
		for _, row := range rows {
			t.Run(name+"/"+row.name, func(t *testing.T) {
				if got := grewByProof(t, row.document(t, p), p.ca); got != (name == "proof") {
					t.Errorf("taken for proof: %t", got)
				}
			})
		}
	}
}

// ISO 32000-2 7.6.2: with other filters, the streams of an encrypted document are others.
func TestOtherEncryption(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	b := encrypt(t, formToEncrypt(pdftest.Table), "", encryptions["AES-128"]...)
	r := newRevision(t, b)
	dict, err := r.file.Dict(r.file.Trailer()["Encrypt"])
	if err != nil {
		t.Fatal(err)
	}
	hex := func(key pdf.Name) []byte { s, _ := dict[key].(pdf.String); return pdf.HexString([]byte(s)) }
	direct := fmt.Sprintf("/Encrypt << /Filter /Standard /V 4 /R 4 /Length 128 /P %d /O %s /U %s "+
		"/CF << /StdCF << /AuthEvent /DocOpen /CFM /AESV2 /Length 16 >> >> /StrF /StdCF /StmF /StdCF >>", dict["P"], hex("O"), hex("U"))
	b = regexp.MustCompile(`/Encrypt \d+ 0 R`).ReplaceAll(b, []byte(direct))
	b = signLevel(t, b, p, ades.LTA)
	r = newRevision(t, b)
	r.add(square)
	r.rewrite(`/StmF /StdCF`, "/StmF /Identity")
	if !grewByProof(t, b, p.ca) || grewByProof(t, r.written(), p.ca) {
		t.Error("it is no matter how the document is encrypted")
	}
}
