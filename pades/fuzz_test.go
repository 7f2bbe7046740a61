package pades_test

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/pdflint"
	"github.com/innsigli/innsigli/pades"
)

// --- signing ---------------------------------------------------------------------------

// signFuzzed signs arbitrary bytes and returns the result, or nil if they are refused. It fails the test if the error
// is neither a refusal nor one of the further kinds, if the document was changed, or if the lint finds a fault.
func signFuzzed(t *testing.T, b []byte, p person, o pades.Options, further ...error) ([]byte, error) {
	t.Helper()
	before := bytes.Clone(b)
	r, err := pades.Sign(t.Context(), document(b), p.key, p.signer, o, ades.Sources{})
	if !bytes.Equal(b, before) {
		t.Error("the document was changed")
	}
	if err != nil {
		if !refused(err, further...) {
			t.Fatalf("unexpected kind of error: %v", err)
		}
		return nil, err
	}
	signed := append(before, r.Bytes...)
	for _, fault := range pdflint.CheckAt(placeOf(o), b, signed) {
		t.Errorf("%+v", fault)
	}
	return signed, nil
}

// FuzzSign signs arbitrary bytes with an invisible signature, which is intact and covers the whole document.
func FuzzSign(f *testing.F) {
	p := newPerson(f, catest.New(f), p256(f))
	for _, kind := range pdftest.Kinds {
		b := pdftest.Build(pdftest.Options{Kind: kind, Catalog: "/AcroForm << /Fields [] /DA (/F 9 Tf) >>", Page: "/Annots []"})
		f.Add(b)
		f.Add(bytes.Replace(b, []byte("startxref\n"), []byte("startxref\n1"), 1)) // broken
		f.Add(sign(f, b, p, pades.Options{}))
	}
	f.Add(pdftest.Build(pdftest.Options{
		Catalog: "/AcroForm 100 0 R /StructTreeRoot 103 0 R /Extensions << /ADBE << /BaseVersion /1.7 /ExtensionLevel 3 >> >> /Perms << /UR3 105 0 R >>",
		Page:    "/Annots 102 0 R /StructParents 0",
		Objects: []string{
			"<< /Fields [101 0 R] /SigFlags 1 >>", "<< /FT /Tx /T (a) /Kids [] >>", "[101 0 R]",
			"<< /K 104 0 R /ParentTree << /Nums [0 [104 0 R]] >> /ParentTreeNextKey 1 >>", "<< /S /Document /P 103 0 R >>", "<< /Reference [] >>",
		},
	}))
	f.Fuzz(func(t *testing.T, b []byte) {
		signed, err := signFuzzed(t, b, p, pades.Options{Reason: "Read and agreed"})
		if err != nil {
			return
		}
		s := verifyAny(t, signed, p.ca)
		if n := len(s); n == 0 || !s[n-1].Intact || s[n-1].Coverage != ades.WholeDocument {
			t.Errorf("%+v", s)
		}
	})
}

// FuzzSignField signs the field Buyer of arbitrary bytes, which has a valid signature then.
func FuzzSignField(f *testing.F) {
	p := newPerson(f, catest.New(f), p256(f))
	for _, shape := range fieldShapes {
		built := pdftest.Build(shape.options)
		f.Add(built)
		f.Add(bytes.Replace(built, []byte("102 0 obj"), []byte("102 0 Ubj"), 1)) // a widget that cannot be read
		withoutTable, _, _ := bytes.Cut(bytes.ReplaceAll(built, []byte("3 0 obj"), []byte("3 5 obj")), []byte("\nxref\n"))
		f.Add(bytes.Replace(withoutTable, []byte("endstream"), nil, 1)) // and with a stream that has no end
	}
	f.Add(seeded("<< /Ff 511 /Filter /Adobe.PPKLite /SubFilter [/ETSI.CAdES.detached] /Reasons [(.)] /MDP << /P 0 >> /Cert << /Ff 127 /SubjectDN [<< /cn (x) >>] /KeyUsage [(01)] >> >>"))
	f.Add(sign(f, pdftest.Build(lockedForm("<< /Action /Include /Fields [(Second)] /P 2 >>")), p, pades.Options{Field: "First"}))
	f.Add(sign(f, form(), p, pades.Options{Certify: pades.FormFilling}))
	f.Fuzz(func(t *testing.T, b []byte) {
		signed, err := signFuzzed(t, b, p, pades.Options{Field: "Buyer", Appearance: contract()}, pades.ErrField, pades.ErrAppearance)
		if err != nil {
			return
		}
		isBuyer := func(s ades.SignatureReport) bool { return s.Name == "Buyer" && s.Passed() }
		if !slices.ContainsFunc(verify(t, signed, p.ca), isBuyer) {
			t.Error("the field has no valid signature")
		}
	})
}

// FuzzSignVisible signs arbitrary bytes anywhere, with arbitrary bytes as appearance. Check returns an error if and
// only if Sign does, unless it is about the appearance. Rectangles that no document accepts are left out.
func FuzzSignVisible(f *testing.F) {
	p := newPerson(f, catest.New(f), p256(f))
	drawing := at(1, 0, 0).Appearance
	for _, kind := range pdftest.Kinds {
		f.Add(pdftest.Build(pdftest.Options{Kind: kind, Pages: 2, Page: "/Annots [] /Rotate 90 /UserUnit 2"}), drawing, 1, 100.0, 100.0, 217.0, 155.0)
	}
	f.Add(pdftest.Archival(pdftest.Archive{Profile: "ua2"}), drawing, 1, 0.0, 0.0, 1e9, 1e-9)
	f.Add(contract(), pdftest.Archival(pdftest.Archive{Profile: "1b"}), 2, -100.0, -100.0, 100.0, 100.0)
	f.Fuzz(func(t *testing.T, b, appearance []byte, page int, llx, lly, urx, ury float64) {
		o := pades.Options{Visible: &pades.Visible{Page: 1, Rect: pades.Rect{LLX: llx, LLY: lly, URX: urx, URY: ury}}}
		if pades.Check(t.Context(), document(contract()), o) != nil {
			return
		}
		o.Visible.Page = page
		checked := pades.Check(t.Context(), document(b), o)
		o.Visible.Appearance = append([]byte{}, appearance...)
		_, err := signFuzzed(t, b, p, o, pades.ErrPage, pades.ErrAppearance)
		if drawn := !errors.Is(err, pades.ErrAppearance); drawn && (checked == nil) != (err == nil) {
			t.Fatalf("checked: %v, signed: %v", checked, err)
		}
	})
}

// --- verifying -------------------------------------------------------------------------

// signedSeeds are signed documents.
type signedSeeds struct {
	Roots     [][]byte // DER, and so are the signers
	Signers   [][]byte
	Documents [][]byte
	Golden    time.Time // when the golden document was signed
}

// FuzzVerify verifies arbitrary bytes. Memory is bounded. A report is complete. A signature of a signer of the seeds
// that is intact and covers a revision covers what was signed in the seeds. A document passes only if nothing but
// permitted changes follow the signed bytes, and then shows what was signed, except for annotations and fields.
func FuzzVerify(f *testing.F) {
	seeds := testenv.FuzzShared(f, func() signedSeeds {
		p := newPerson(f, catest.New(f), p256(f))
		golden := goldenSigned(f)
		signers := [][]byte{p.signer.Certificate.Raw, verify(f, golden, p.ca)[0].Certificate.Raw}
		root, at := goldenRoot(f)
		return signedSeeds{[][]byte{p.ca.Root().Raw, root}, signers, append(verifySeeds(f, p), golden), at}
	})
	roots := x509.NewCertPool()
	for _, der := range seeds.Roots {
		root, err := x509.ParseCertificate(der)
		if err != nil {
			f.Fatal(err)
		}
		roots.AddCert(root)
	}
	for _, b := range seeds.Documents {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > mostOfABomb {
			t.Skip("the bounds are for shorter documents")
		}
		var report *ades.Report
		var err error
		allocated := testenv.Allocated(func() {
			report, err = pades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: roots})
		})
		if allocated > 1<<30 {
			t.Errorf("%d MB allocated", allocated>>20)
		}
		if err != nil {
			if !refused(err) {
				t.Errorf("unexpected kind of error: %v", err)
			}
			return
		}
		seeds.check(t, b, report)
		if slices.ContainsFunc(report.Signatures, func(s ades.SignatureReport) bool { return seeds.isBy(s, 1) }) {
			report, err := pades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: roots, Time: seeds.Golden})
			if err != nil {
				t.Error(err)
				return
			}
			seeds.check(t, b, report)
		}
	})
}

// isBy reports whether an intact signature is by a signer of the seeds.
func (s signedSeeds) isBy(r ades.SignatureReport, signer int) bool {
	return r.Intact && r.Certificate != nil && bytes.Equal(s.Signers[signer], r.Certificate.Raw)
}

// check compares a report with what was signed in the seeds.
func (s signedSeeds) check(t *testing.T, b []byte, report *ades.Report) {
	t.Helper()
	whole := !report.Passed()
	for _, r := range report.Signatures {
		if r.Indication == "" || r.Format == "" || r.Coverage == "" || r.Intact && r.Certificate == nil {
			t.Errorf("%+v", r)
		}
		if r.Coverage == ades.Partial || !s.isBy(r, 0) && !s.isBy(r, 1) {
			continue
		}
		if !signedIn(s.Documents, b[:r.CoveredBytes]) {
			t.Errorf("these bytes were not signed:\n%q", b)
		}
		nothing := len(bytes.TrimSpace(b[r.CoveredBytes:])) == 0
		whole = whole || r.Passed() && (nothing || r.Extended)
		if r.Passed() {
			sameShown(t, b, r.CoveredBytes)
		}
	}
	if !whole {
		t.Errorf("a document that was not signed passes:\n%q", b)
	}
}

// verifySeeds returns signed documents of each kind.
func verifySeeds(f *testing.F, p person) (seeds [][]byte) {
	plain := map[pdftest.Kind][]byte{}
	for _, kind := range []pdftest.Kind{pdftest.Table, pdftest.Stream, pdftest.Hybrid} {
		plain[kind] = pdftest.Build(pdftest.Options{
			Kind: kind, Catalog: "/AcroForm << /Fields [100 0 R] >>", Page: "/Annots [100 0 R 101 0 R]",
			Objects: []string{
				"<< /FT /Tx /T (a) /V (b) /Type /Annot /Subtype /Widget /Rect [9 9 90 20] /P 10 0 R >>",
				"<< /Type /Annot /Subtype /Text /Rect [20 20 30 30] /Contents (c) >>",
			},
		})
		for _, level := range []ades.Level{ades.B, ades.T, ades.LT, ades.LTA} {
			seeds = append(seeds, signLevel(f, plain[kind], p, level))
		}
		once := signFor(f, plain[kind], p, ades.B)
		seeds = append(seeds, signFor(f, filled(f, once, 100, "(d)"), p, ades.B), filled(f, once, 101, "(e)"))
	}
	table := plain[pdftest.Table]
	for _, permission := range []pades.Permission{0, pades.NoChanges, pades.FormFilling, pades.Annotations} {
		certified := sign(f, table, p, pades.Options{Certify: permission})
		seeds = append(seeds, filled(f, certified, 100, "(d)"), filled(f, certified, 101, "(e)"))
		seeds = append(seeds, tamperedSeeds(f, certified)...)
	}
	for _, archival := range slices.Concat(conforming()[:1], conforming()[len(conforming())-2:]) {
		seeds = append(seeds, sign(f, pdftest.Archival(archival), p, pades.Options{}))
	}
	return append(seeds, sign(f, encrypt(f, table, "", "256"), p, pades.Options{}))
}

// signedIn reports whether the beginning of a document is what a signature in the seeds covers.
func signedIn(seeds [][]byte, b []byte) bool {
	for _, seed := range seeds {
		for _, r := range byteRanges(seed) {
			gap, gapEnd, end := r[0], r[1], r[1]+r[2]
			if end == len(b) && bytes.Equal(b[:gap], seed[:gap]) && bytes.Equal(b[gapEnd:], seed[gapEnd:end]) {
				return true
			}
		}
	}
	return false
}

// tamperedSeeds returns a signed document after attacks.
func tamperedSeeds(f *testing.F, b []byte) [][]byte {
	set := func(num uint32, body func(source string, update *pdf.Update) string) []byte {
		return updated(f, b, func(update *pdf.Update) {
			ref := pdf.Ref{Num: num}
			update.Set(ref, []byte(body(string(sourceOf(f, update, ref)), update)))
		})
	}
	other := []byte(stream("", drawing))
	return [][]byte{
		updated(f, b, func(update *pdf.Update) { update.Set(pdf.Ref{Num: content}, other) }),
		set(page, func(source string, update *pdf.Update) string { // two values for a key
			return strings.Replace(source, "<<", "<< /Contents "+update.Add(other).String(), 1)
		}),
		set(page, func(source string, update *pdf.Update) string { // an annotation that may be a field
			return strings.Replace(source, "/Annots [", "/Annots ["+update.Add([]byte(stampField)).String()+" ", 1)
		}),
		set(page, func(source string, update *pdf.Update) string { // a missing object of another generation
			return strings.Replace(source, "/Contents 3 0 R", "/Contents [3 1 R 3 0 R]", 1)
		}),
	}
}

// sameShown fails the test unless the pages of a document show what those of its first bytes do, except for
// annotations.
func sameShown(t *testing.T, b []byte, signed int64) {
	t.Helper()
	now := open(t, b)
	before, err := now.EarlierRevision(signed)
	if err != nil {
		return // it could not be read when it was signed
	}
	if was, is := shownOf(before), shownOf(now); !slices.Equal(was, is) {
		t.Errorf("the pages differ from those that were signed:\n%q", b)
	}
}

// shownOf returns a digest of what each page shows.
func shownOf(file *pdf.File) (all []string) {
	err := file.EachPage(func(page *pdf.Page, err error) error {
		if err != nil {
			all = append(all, "damaged")
			return nil
		}
		d := showing{file, sha256.New(), make(map[pdf.Ref]bool)}
		fmt.Fprintf(d.sum, "%v %v %v %v", page.MediaBox, page.CropBox, page.Rotate, page.UserUnit)
		d.note(page.Dict["Contents"])
		d.note(page.Resources)
		all = append(all, fmt.Sprintf("%x", d.sum.Sum(nil)))
		return nil
	})
	if err != nil {
		all = append(all, "damaged")
	}
	return all
}

// showing hashes an object with all objects that it refers to.
type showing struct {
	file *pdf.File
	sum  hash.Hash
	seen map[pdf.Ref]bool
}

func (d showing) note(o pdf.Object) {
	switch o := o.(type) {
	case pdf.Ref:
		fmt.Fprintf(d.sum, "%v ", o)
		if next, err := d.file.Object(o); err != nil {
			fmt.Fprint(d.sum, "damaged ")
		} else if !d.seen[o] {
			d.seen[o] = true
			d.note(next)
		}
	case pdf.Array:
		for _, item := range o {
			d.note(item)
		}
	case pdf.Dict:
		for _, key := range slices.Sorted(maps.Keys(o)) {
			fmt.Fprintf(d.sum, "/%s ", key)
			d.note(o[key])
		}
	case *pdf.Stream:
		d.note(o.Dict)
		content, err := d.file.Stream(o, mostOfABomb)
		fmt.Fprintf(d.sum, "%d %x %t ", len(content), sha256.Sum256(content), err == nil)
	case pdf.Integer, pdf.Real: // 1.0 is 1
		fmt.Fprintf(d.sum, "%v ", o)
	default:
		fmt.Fprintf(d.sum, "%T %v ", o, o)
	}
}
