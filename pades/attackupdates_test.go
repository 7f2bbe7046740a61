package pades_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// Verdicts on updates of documents of level LTA, whose own update has validation data and a document timestamp.
const (
	extendedLTA     = "passes: LTA TOTAL_PASSED, lists VALIDATION_DATA"
	hiddenInLTA     = "passes: LTA TOTAL_PASSED, lists HIDDEN, VALIDATION_DATA"
	producerInLTA   = "passes: LTA TOTAL_PASSED, lists PRODUCER, VALIDATION_DATA"
	fieldsInLTA     = "LTA TOTAL_PASSED, reports FORM_FIELDS, lists VALIDATION_DATA"
	appearanceInLTA = "LTA TOTAL_PASSED, reports APPEARANCE, lists VALIDATION_DATA"
	catalogInLTA    = "LTA TOTAL_PASSED, reports CATALOG, lists VALIDATION_DATA"
	contentInLTA    = "LTA TOTAL_PASSED, reports PAGE_CONTENT, lists VALIDATION_DATA"
	unknownInLTA    = "LTA TOTAL_PASSED, reports UNKNOWN, lists VALIDATION_DATA"
	looselyWritten  = "LTA TOTAL_PASSED, lists HIDDEN, VALIDATION_DATA" // does not pass as hiddenInLTA does
	ambiguousUpdate = "LTA TOTAL_PASSED, reports UNKNOWN, lists HIDDEN, VALIDATION_DATA"
)

var (
	withMetadata    = pdftest.Options{Catalog: "/Metadata 100 0 R", Objects: []string{xmp("This one", 1)}}
	withInformation = pdftest.Options{Trailer: "/Info 100 0 R", Objects: []string{"<< /Title (This one) >>"}}
)

const (
	emptyAppearance = "empty appearance of the document timestamp"
	typeOfVRI       = "Type in VRI"
)

// updatesOfLTA follow the update with validation data.
var updatesOfLTA = []attack{
	{validationUpdate, "new unreferenced object", plainLTA, addObject(square), hiddenInLTA},
	{validationUpdate, "words of the file structure in a text", plainLTA, addObject(stream("", "a trailer for 12 obj and 3 x obj, obj 0 1, endobj 1 0 endobj")), hiddenInLTA},
	{validationUpdate, "producer and date in the document information dictionary", lta(withInformation), edits(
		setKey(first, "ModDate", "(D:20260701)"), setKey(first, "Producer", "(Another)")), producerInLTA},
	{validationUpdate, "date in the metadata stream", lta(withMetadata), replaceObject(first, xmp("This one", 2)), producerInLTA},
	{validationUpdate, "CRLs removed from the store", plainLTA, setKey(storeObject, "CRLs", "[]"), extendedLTA},
	{validationUpdate, typeOfVRI, plainLTA, setKey(storeObject, "VRI", "<< /Type /VRI /"+strings.Repeat("0A", 20)+" << /Type /VRI >> >>"), extendedLTA},
	{validationUpdate, "one array for fields and annotations", lta(pdftest.Options{Catalog: "/AcroForm << /Fields 100 0 R >>", Page: "/Annots 100 0 R", Objects: []string{"[]"}}), nil, extendedLTA},
	{validationUpdate, "reference to the catalog in a page-piece dictionary", lta(pdftest.Options{Page: "/PieceInfo << /Root 1 0 R >>"}), nil, extendedLTA},
	{validationUpdate, "developer extension", lta(pdftest.Options{Catalog: "/Extensions 100 0 R", Objects: []string{"<< >>"}}),
		setKey(first, "ADBE", "<< /BaseVersion /1.7 /ExtensionLevel 3 >>"), extendedLTA},
	{validationUpdate, emptyAppearance, plainLTA, setKey(lastField, "AP", "<< /N %v >>", xobject("0 0 0 0", "")), extendedLTA},

	{incrementalSaving, "another document information dictionary", plainLTA, func(r *revision) {
		rewriteEnd(`/Root 1 0 R`, "/Root 1 0 R /Info "+r.add("<< /Title (Another) >>").String())(r)
	}, "LTA TOTAL_PASSED, lists HIDDEN, METADATA, VALIDATION_DATA"},
	{incrementalSaving, "direct document information dictionary", lta(pdftest.Options{Trailer: "/Info << /Title (This one) >>"}), loosely(`\(This one\)`, "(Another)"), "LTA TOTAL_PASSED, lists HIDDEN, METADATA, VALIDATION_DATA"},
	{incrementalSaving, "entry of the metadata stream's dictionary", lta(withMetadata),
		replaceObject(first, strings.Replace(xmp("This one", 2), "/XML", "/XML /Extra true", 1)), "LTA TOTAL_PASSED, lists METADATA, VALIDATION_DATA"},
	{incrementalSaving, "object freed", plainLTA, edits(replaceObject(content, otherContent), rewriteEnd(`\n3 1\n(\d{10}) 00000 n`, "\n3 1\n$1 00001 f")), "LTA TOTAL_PASSED, reports PAGE_CONTENT, UNKNOWN, lists VALIDATION_DATA"},
	{incrementalSaving, "missing object of another generation", lta(pdftest.Options{Page: "/Thumb 100 1 R", Objects: []string{"null"}}), edits(replaceObject(first, otherContent),
		rewriteEnd(`100 0 obj`, "100 1 obj"), rewriteEnd(`\n100 1\n(\d{10}) 00000 n`, "\n100 1\n$1 00001 n")), contentInLTA},
	{incrementalSaving, "object that a hybrid file's hidden object refers to", lta(pdftest.Options{Kind: pdftest.Hybrid, Page: "/Thumb 100 0 R", Objects: []string{"[3 0 R]"}}), replaceObject(content, otherContent), contentInLTA},
	{incrementalSaving, "missing object", lta(pdftest.Options{Page: "/Thumb 900 0 R"}), replaceObject(900, stream("/Type /XRef", drawing)), contentInLTA},
	{incrementalSaving, "missing object, also in the store", lta(pdftest.Options{Page: "/Thumb 900 0 R"}), edits(
		replaceObject(900, otherContent), appendItem(storeObject, "Certs", "900 0 R")), contentInLTA},
	{incrementalSaving, "content of a page, also in the store", lta(pdftest.Options{Catalog: "/DSS << /Certs [3 0 R] >>"}), replaceObject(content, otherContent), contentInLTA},
	{incrementalSaving, "metadata stream, also in the store", lta(pdftest.Options{Catalog: "/Metadata 100 0 R /DSS << /Certs [100 0 R] >>", Objects: withMetadata.Objects}), replaceObject(first, xmp("Another", 1)), "LTA TOTAL_PASSED, lists METADATA, VALIDATION_DATA"},
	{incrementalSaving, "metadata stream, also a thumbnail", lta(pdftest.Options{Catalog: "/Metadata 100 0 R", Page: "/Thumb 100 0 R", Objects: withMetadata.Objects}), replaceObject(first, xmp("This one", 2)), "LTA TOTAL_PASSED, reports PAGE_CONTENT, lists PRODUCER, VALIDATION_DATA"},
	{incrementalSaving, "developer extension, also a thumbnail", lta(pdftest.Options{Catalog: "/Extensions << /X 100 0 R >>", Page: "/Thumb 100 0 R", Objects: []string{otherContent}}), replaceObject(first, stream("", drawing+" ")), contentInLTA},

	{certification, "annotations removed", plainLTA, setKey(page, "Annots", "[]"), appearanceInLTA},
	{certification, "timestamp field moved to a dictionary that is no page", lta(pdftest.Options{Page: "/PieceInfo 100 0 R", Objects: []string{"<< >>"}}), func(r *revision) {
		edits(setKey(first, "Annots", fmt.Sprintf("[%d 0 R]", r.number(lastField))), setKey(lastField, "P", "100 0 R"), setKey(page, "Annots", fmt.Sprint(r.fields()[:1])))(r)
	}, "LTA TOTAL_PASSED, reports APPEARANCE, CATALOG, FORM_FIELDS, lists VALIDATION_DATA"},
	{certification, "action of the timestamp field", plainLTA, setKey(lastField, "A", "<< /S /URI /URI (http://a.example) >>"), fieldsInLTA},
	{certification, "timestamp field made a text field", plainLTA, setKey(lastField, "FT", "/Tx"), "LT TOTAL_PASSED, reports FORM_FIELDS, lists VALIDATION_DATA"},
	{certification, "timestamp removed from its field", plainLTA, setKey(lastField, "V", "null"), "LT TOTAL_PASSED, reports FORM_FIELDS, lists VALIDATION_DATA"},
	{certification, "timestamp field with a value from before", lta(pdftest.Options{Page: "/PieceInfo 100 0 R", Objects: []string{timestamp}}), setKey(lastField, "V", "100 0 R"), "LT TOTAL_PASSED, reports FORM_FIELDS, lists VALIDATION_DATA"},
	{certification, "timestamp field with the name of the signature field", plainLTA, setKey(lastField, "T", "(Signature1)"), fieldsInLTA},
	{certification, "timestamp field with a period in its name", plainLTA, setKey(lastField, "T", "(Signature1.New)"), fieldsInLTA},
	{certification, "timestamp field without a name", plainLTA, setKey(lastField, "T", "null"), fieldsInLTA},
	{certification, "timestamp field with an area", plainLTA, setKey(lastField, "Rect", "[0 0 100 100]"), appearanceInLTA},
	{certification, "timestamp field with a width", plainLTA, setKey(lastField, "Rect", "[0 0 100 0]"), appearanceInLTA},
	{certification, "timestamp field with a height", plainLTA, setKey(lastField, "Rect", "[0 0 0 100]"), appearanceInLTA},
	{certification, "timestamp field without a rectangle", plainLTA, setKey(lastField, "Rect", "null"), appearanceInLTA},
	{certification, "normal appearance of the timestamp field", plainLTA, setKey(lastField, "AP", "<< /N %v >>", xobject("0 0 90 90", drawing)), appearanceInLTA},
	{certification, "down appearance of the timestamp field", plainLTA, setKey(lastField, "AP", "<< /D %v >>", xobject("0 0 90 90", drawing)), appearanceInLTA},
	{certification, "dictionary as a CRL of the store", plainLTA, appendItem(storeObject, "CRLs", "<< >>"), catalogInLTA},
	{certification, "another entry in VRI", plainLTA, setKey(storeObject, "VRI", "<< /A << /Innocent 3 0 R >> >>"), catalogInLTA},
	{certification, "Type in VRI that is no name", plainLTA, setKey(storeObject, "VRI", "<< /Type << /Innocent 3 0 R >> >>"), catalogInLTA},
	{certification, "dictionary as a certificate in VRI", plainLTA, setKey(storeObject, "VRI", "<< /A << /Cert [10 0 R] >> >>"), catalogInLTA},
}

// looseUpdatesOfLTA add an unreferenced object, which is permitted, but written so that some readers rebuild the
// cross-reference, or would then find another document.
var looseUpdatesOfLTA = []attack{
	{fileStructure, "Prev with a fraction", plainLTA, loosely(`/Prev (\d+)`, "/Prev ${1}.0"), looselyWritten},
	{fileStructure, "Prev with a sign", plainLTA, loosely(`/Prev (\d+)`, "/Prev +$1"), looselyWritten},
	{fileStructure, "Prev with a fraction in a cross-reference stream", streamLTA, loosely(`/Prev (\d+)`, "/Prev ${1}.0"), looselyWritten},
	{fileStructure, "Prev twice", plainLTA, loosely(`/Prev (\d+)`, "/Prev 1 /Prev $1"), ambiguousUpdate},
	{fileStructure, "Size too small", plainLTA, loosely(`/Size \d+`, "/Size 2"), looselyWritten},
	{fileStructure, "Size with a sign", plainLTA, loosely(`/Size (\d+)`, "/Size +$1"), looselyWritten},
	{fileStructure, "startxref with a comment", plainLTA, loosely(`startxref\n`, "startxref %5\n"), looselyWritten},
	{fileStructure, "startxref with leading zeros", plainLTA, loosely(`startxref\n`, "startxref\n000"), looselyWritten},
	{fileStructure, "startxref with white space", plainLTA, loosely(`startxref\n`, "startxref\n "), looselyWritten},
	{fileStructure, "comment after xref", plainLTA, loosely(`\nxref\n`, "\nxref %x\n"), looselyWritten},
	{fileStructure, "white space before xref", plainLTA, loosely(`\nxref\n`, "\n\nxref\n"), looselyWritten},
	{fileStructure, "comment after trailer", plainLTA, loosely(`\ntrailer\n`, "\ntrailer%x\n"), looselyWritten},
	{fileStructure, "entry of 19 bytes", plainLTA, loosely(` 00000 n \n`, " 00000 n\n"), looselyWritten},
	{fileStructure, "entry of fewer digits", plainLTA, loosely(`\n0*(\d+) 00000 n \n`, "\n$1 0 n\n"), looselyWritten},
	{fileStructure, "entry twice", plainLTA, loosely(`\n(\d+ 1\n\d{10} 00000 n \n)`, "\n$1$1"), looselyWritten},
	{fileStructure, "entry with an offset beyond the end", plainLTA, loosely(`\nxref\n`, "\nxref\n900 1\n9999999999 00000 n \n"), looselyWritten},
	{fileStructure, "entry with the offset of another object", plainLTA, loosely(`\n\d+ 1\n(\d{10} 00000 n \n)`, "\n900 1\n$1"), looselyWritten},
	{fileStructure, "entry with the offset of white space", plainLTA, loosely(`(\d+ 0 obj)\n<< /Type /Annot`, "\n$1<< /Type /Annot"), looselyWritten},
	{fileStructure, "carriage return after stream", streamLTA, loosely(`>>\nstream\n`, ">>\nstream\r"), looselyWritten},
	{fileStructure, "Index of an odd length", streamLTA, loosely(`(/Index \[.*?)\]`, "$1 7]"), looselyWritten},
	{fileStructure, "object without an entry", plainLTA, edits(replaceObject(content, otherContent), rewriteEnd(`\n3 1\n\d{10} 00000 n \n`, "\n0 0\n")), unknownInLTA},
	{fileStructure, "object in a stream", plainLTA, addObject(stream("", hidden)), ambiguousUpdate},
	{fileStructure, "object in a comment", plainLTA, addObject("<< >> % 3 0 obj"), ambiguousUpdate},
	{fileStructure, "object with comments in its head", plainLTA, addHidden("3 0 obj", "3%%x\r\n0 %obj\n obj"), ambiguousUpdate},
	{fileStructure, "object without white space in its head", plainLTA, addHidden("0 obj", "0obj"), ambiguousUpdate},
	{fileStructure, "object with other white space in its head", plainLTA, addHidden("3 0 ", "3\v0\xa0"), ambiguousUpdate},
	{fileStructure, "unreferenced object stream", plainLTA, addObject(stream("/Type /ObjStm /N 1 /First 4", "3 0 null")), "LTA TOTAL_PASSED, lists VALIDATION_DATA"},
	{fileStructure, "unreferenced cross-reference stream", plainLTA, addObject(stream("/Type /XRef /Size 4 /W [1 2 1] /Root 1 0 R", strings.Repeat("\x00", 16))), "LTA TOTAL_PASSED, lists VALIDATION_DATA"},
	{fileStructure, "stream with its Type in another object", plainLTA, addObject(stream("/Type 900 0 R", "")), looselyWritten},
	{fileStructure, "key twice", plainLTA, addObject("<< /A << /B 1 /B 2 >> >>"), ambiguousUpdate},
	{fileStructure, "key twice in a stream's dictionary", plainLTA, addObject(stream("/A 1 /A 2", "")), ambiguousUpdate},
	{fileStructure, "key twice in an object stream", streamLTA, addObject("<< /A 1 /A null >>"), ambiguousUpdate},
	{fileStructure, "trailer in a stream", plainLTA, addObject(stream("", "trailer\n<< /Root 10 0 R >>\n")), looselyWritten},
	{fileStructure, "cross-reference table in a stream", plainLTA, addObject(stream("", "xref\n0 0\n")), looselyWritten},
}

var streamLTA = lta(pdftest.Options{Kind: pdftest.Stream})

func addHidden(old, replacement string) edit {
	return addObject(stream("", strings.Replace(hidden, old, replacement, 1)))
}

// ambiguousLTA have an object with two roles, which changed in one with the other when validation data was added.
var ambiguousLTA = []attack{
	{validationUpdate, "page with Contents twice", lta(pdftest.Options{Page: "/Contents 900 0 R"}), nil, unknownInLTA},
	{validationUpdate, "catalog as a resource", lta(pdftest.Options{Page: "/Resources << /XObject 1 0 R >>"}), nil, contentInLTA},
	{validationUpdate, "page as the form", lta(pdftest.Options{Catalog: "/AcroForm 10 0 R", Page: "/Fields []"}), nil, "LTA TOTAL_PASSED, reports FORM_FIELDS, PAGE_CONTENT, lists VALIDATION_DATA"},
	{validationUpdate, "form as a resource", lta(pdftest.Options{Catalog: "/AcroForm 100 0 R", Page: "/Resources << /XObject 100 0 R >>", Objects: []string{"<< /Fields [] >>"}}), nil, contentInLTA},
	{validationUpdate, "annotations as resources", lta(pdftest.Options{Page: "/Annots 100 0 R /Resources 100 0 R", Objects: []string{"[]"}}), nil, contentInLTA},
	{validationUpdate, "store as a resource", lta(pdftest.Options{Catalog: "/DSS 100 0 R", Page: "/Resources << /XObject 100 0 R >>", Objects: []string{"<< >>"}}), nil, contentInLTA},
	{validationUpdate, "certificates of the store in a page-piece dictionary", lta(pdftest.Options{Catalog: "/DSS << /Certs 100 0 R >>", Page: "/PieceInfo 100 0 R", Objects: []string{"[]"}}), nil, extendedLTA},
	{validationUpdate, "page in the store", lta(pdftest.Options{Catalog: "/DSS << /Certs [] /Innocent 10 0 R >>"}), nil, catalogInLTA},
	{validationUpdate, "stream with a Length beyond the end", lta(pdftest.Options{Page: "/Thumb 100 0 R", Objects: []string{"<< /Length 1000000 >>\nstream\nx\nendstream"}}), nil, unknownInLTA},
	{validationUpdate, "unreadable object", lta(pdftest.Options{Page: "/Thumb 100 0 R", Objects: []string{"<< /Broken"}}), nil, unknownInLTA},
}

// isExtended reports whether validation data alone follows the last signature (ISO 32000-2 12.8.2.2.2).
func isExtended(t *testing.T, b []byte, ca *sandboxca.Authority) bool {
	t.Helper()
	report, err := pades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: ca.Roots()})
	if err != nil {
		t.Fatal(err)
	}
	last := report.Signatures[len(report.Signatures)-1]
	if last.Coverage != ades.WholeRevision || last.Extended != report.Passed() {
		t.Fatalf("%s, extended %t, passed %t: %v", last.Coverage, last.Extended, report.Passed(), last.Problems)
	}
	return last.Extended
}

// Two signers sign documents of each kind, encrypted ones too; validation data and document timestamps are added,
// with VRI and without, and renewed.
func TestExtended(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	s := p.ca.Sources(nil)
	check := func(t *testing.T, b []byte) {
		for _, level := range []ades.Level{ades.LT, ades.LTA} {
			signed := signFor(t, signLevel(t, b, newPerson(t, p.ca, p.key), level), p, level)
			raised := extend(t, signed, level, s)
			revisions, err := pades.Extender{Sources: s, VRI: true}.Extend(t.Context(), document(signed), level)
			if err != nil {
				t.Fatal(err)
			}
			for name, b := range map[string][]byte{
				level.String(): raised, "VRI": appendAll(t, signed, revisions), "renewed": renew(t, renew(t, raised, s), s),
			} {
				if !isExtended(t, b, p.ca) {
					t.Errorf("%v, %s: not extended", level, name)
				}
			}
		}
	}
	for _, kind := range []pdftest.Kind{pdftest.Table, pdftest.Stream, pdftest.Hybrid} {
		t.Run(string(kind), func(t *testing.T) { check(t, pdftest.Build(pdftest.Options{Kind: kind})) })
	}
	for name, arguments := range encryptions {
		if testenv.Full() || name == "AES-128" {
			t.Run(name, func(t *testing.T) { check(t, encrypt(t, formToEncrypt(pdftest.Stream), "", arguments...)) })
		}
	}
}

// A field lock (FieldMDP) and usage rights (UR3) refer to the catalog, to which validation data is added.
func TestExtendedBesideReferencesToTheCatalog(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	rights := pdftest.Build(pdftest.Options{Catalog: "/Perms << /UR3 << /Type /Sig /Filter /Adobe.PPKLite /Reference [<< /TransformMethod /UR3 /Data 1 0 R >>] >> >>"})
	for name, signed := range map[string][]byte{
		"lock of all fields": sign(t, pdftest.Build(lockedForm("<< /Type /SigFieldLock /Action /All >>")), p, pades.Options{Field: "First"}),
		"lock of one field":  sign(t, pdftest.Build(lockedForm("<< /Action /Include /Fields [(Second)] >>")), p, pades.Options{Field: "First"}),
		"usage rights":       sign(t, rights, p, pades.Options{}),
	} {
		for _, level := range []ades.Level{ades.LT, ades.LTA} {
			if b := extend(t, signed, level, p.ca.Sources(nil)); !isExtended(t, b, p.ca) {
				t.Errorf("%s: not extended at %v", name, level)
			}
		}
	}
}

// EU DSS and pyHanko add validation data, and their producer to the metadata.
func TestExtendedByOthers(t *testing.T) {
	ca := catest.New(t)
	options := foreignOptions(t, ca, p256(t))
	check := func(name string, all []validators.SignedFile) {
		for _, f := range all {
			b := readFile(t, f.Path)
			if !isExtended(t, b, ca) || !isExtended(t, renew(t, b, ca.Sources(nil)), ca) {
				t.Errorf("%s, %s: not extended", name, f.File)
			}
		}
	}
	for name, sign := range foreignSigners {
		for _, level := range []ades.Level{ades.LT, ades.LTA} {
			options.Level = level.String()
			check(fmt.Sprintf("%s, %v", name, level), sign(t, options, blankFiles(t, ades.LT)...))
		}
	}
	ours := blankFiles(t, ades.LT)
	for _, path := range ours {
		writeFile(t, path, signLevel(t, readFile(t, path), newPerson(t, ca, p256(t)), ades.LT))
	}
	check("signed by Innsigli, extended by EU DSS", validators.DSSExtend(t, options, ours...))
}

// A document with more references than are followed is not extended.
func TestExtendedTooLarge(t *testing.T) {
	t.Parallel()
	const arrays, length = 5, 250_000
	o := pdftest.Options{Page: "/PieceInfo [" + references(100, arrays) + "]"}
	for i := range arrays {
		o.Objects = append(o.Objects, "["+references(1000+length*i, length)+"]")
	}
	p := newPerson(t, catest.New(t), p256(t))
	if isExtended(t, signLevel(t, pdftest.Build(o), p, ades.LT), p.ca) {
		t.Error("extended")
	}
}

// An update with other crypt filters decrypts the signed streams differently (ISO 32000-2 7.6.2).
func TestUpdateWithOtherCryptFilters(t *testing.T) {
	f := newFixture(t)
	b := encrypt(t, formToEncrypt(pdftest.Table), "", encryptions["AES-128"]...)
	r := newRevision(t, b)
	dict, err := r.file.Dict(r.file.Trailer()["Encrypt"])
	r.check(err)
	hex := func(key pdf.Name) []byte { s, _ := dict[key].(pdf.String); return pdf.HexString([]byte(s)) }
	direct := fmt.Sprintf("/Encrypt << /Filter /Standard /V 4 /R 4 /Length 128 /P %d /O %s /U %s "+
		"/CF << /StdCF << /AuthEvent /DocOpen /CFM /AESV2 /Length 16 >> >> /StrF /StdCF /StmF /StdCF >>", dict["P"], hex("O"), hex("U"))
	b = regexp.MustCompile(`/Encrypt \d+ 0 R`).ReplaceAll(b, []byte(direct))
	b = signLevel(t, b, f.signer, ades.LTA)
	if changed := f.apply(loosely(`/StmF /StdCF`, "/StmF /Identity"), b); !isExtended(t, b, f.ca) || isExtended(t, changed, f.ca) {
		t.Error("the change of the crypt filter does not matter")
	}
}
