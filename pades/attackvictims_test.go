package pades_test

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// fixture is a test with a trusted authority, a signer with a certificate of it, and an attacker with a certificate of
// an authority that is not trusted.
type fixture struct {
	*testing.T
	ca               *sandboxca.Authority
	signer, attacker person
	permission       pades.Permission // of the certification of victims that have one
	documents        *sync.Map        // of victims, by their names
}

func newFixture(t *testing.T) *fixture {
	ca := catest.New(t)
	return &fixture{t, ca, newPerson(t, ca, p256(t)), newPerson(t, catest.New(t), p256(t)), 0, new(sync.Map)}
}

// in is the fixture for a subtest.
func (f *fixture) in(t *testing.T, permission pades.Permission) *fixture {
	one := *f
	one.T, one.permission = t, permission
	return &one
}

func (f *fixture) verify(b []byte) (*ades.Report, error) {
	return pades.Verify(f.Context(), document(b), ades.VerifyOptions{Roots: f.ca.Roots()})
}

// build is the document of a row.
func (f *fixture) build(a attack) []byte {
	f.Helper()
	b := f.document(a.victim)
	if a.edit == nil {
		return b
	}
	if report, err := f.verify(b); err != nil || !report.Passed() {
		f.Fatalf("the victim does not pass: %s", verdictOf(report, err))
	}
	return f.apply(a.edit, b)
}

// apply appends a revision to a document, or does what the edit does instead.
func (f *fixture) apply(e edit, b []byte) []byte {
	f.Helper()
	r := newRevision(f.T, b)
	r.fixture = f
	e(r)
	return r.written()
}

// victim is a signed document.
type victim struct {
	name             string // "": it is built for each row
	build            func(*fixture) []byte
	everyPermission  bool // its rows are tried without a certification and with each
	validationUpdate bool // the victim is of level LTA, and Innsigli's verdict is compared with what others say of updates
}

func (v victim) permissions() []pades.Permission {
	if v.everyPermission {
		return []pades.Permission{0, pades.NoChanges, pades.FormFilling, pades.Annotations}
	}
	return []pades.Permission{0}
}

func (f *fixture) document(v victim) []byte {
	f.Helper()
	if v.name == "" {
		return v.build(f)
	}
	key := fmt.Sprint(v.name, f.permission)
	b, ok := f.documents.Load(key)
	if !ok {
		b = v.build(f)
		f.documents.Store(key, b)
	}
	return bytes.Clone(b.([]byte))
}

// changed is a victim that was changed before, and need not pass.
func (v victim) changed(e edit) victim {
	return victim{build: func(f *fixture) []byte { return f.apply(e, f.document(v)) }}
}

// signedVictim is a document that the signer signs.
func signedVictim(name string, build func() []byte, o pades.Options) victim {
	return victim{name: name, build: func(f *fixture) []byte { return sign(f, build(), f.signer, o) }}
}

// levelVictim is a document that the signer signs at a level.
func levelVictim(name string, level ades.Level, o pdftest.Options) victim {
	return victim{name: name, build: func(f *fixture) []byte { return signLevel(f, pdftest.Build(o), f.signer, level) }}
}

var (
	signedContract   = signedVictim("contract", buildContract, pades.Options{Reason: "Read and agreed"})
	contractT        = levelVictim("contract of level T", ades.T, contractOptions())
	contractLTA      = levelVictim("contract of level LTA", ades.LTA, contractOptions())
	visibleSignature = signedVictim("contract with a visible signature", buildContract, pades.Options{Visible: at(1, 100, 200)})
	signedTwice      = victim{name: "contract with two signatures", build: func(f *fixture) []byte {
		return sign(f, f.document(signedContract), newPerson(f, f.ca, p256(f)), pades.Options{})
	}}
	objectStreams = signedVictim("document with object streams", func() []byte {
		return pdftest.Build(pdftest.Options{Kind: pdftest.Stream, Pages: 2})
	}, pades.Options{})
	lockedContract = signedVictim("contract with a locked field", func() []byte {
		o := contractOptions()
		o.Catalog = strings.Replace(o.Catalog, "[103 0 R]", "[103 0 R 111 0 R]", 1)
		o.Objects = append(o.Objects, "<< /FT /Sig /T (Agreed) /Lock << /Type /SigFieldLock /Action /Include /Fields [(Amount)] >> >>")
		return pdftest.Build(o)
	}, pades.Options{Field: "Agreed"})
	byAttacker = victim{name: "contract that the attacker signed", build: func(f *fixture) []byte {
		return sign(f, buildContract(), f.attacker, pades.Options{})
	}}
	formDocument = victim{name: "form", everyPermission: true, build: func(f *fixture) []byte {
		return sign(f, changeable(), f.signer, pades.Options{Certify: f.permission})
	}}
	plainLTA = lta(pdftest.Options{})
)

func certifiedContract(p pades.Permission) victim {
	return signedVictim(fmt.Sprintf("contract certified with P %d", p), buildContract, pades.Options{Certify: p})
}

// lta is a document of level LTA.
func lta(o pdftest.Options) victim {
	name := fmt.Sprintf("document of level LTA %+v", o)
	v := levelVictim(name, ades.LTA, o)
	v.validationUpdate = true
	return v
}

// Objects of every document of pdftest, and the first further object.
const catalog, content, page, first = 1, 3, 10, 100

// Objects of the contract.
const (
	contractOverlay = 101 // a form XObject that the page draws
	contractAmount  = 103 // a text field
)

// contractOptions are a document of two pages with a form, a drawing, a note and unreferenced objects.
func contractOptions() pdftest.Options {
	return pdftest.Options{
		Pages:   2,
		Trailer: "/Info 100 0 R",
		Catalog: "/AcroForm << /Fields [103 0 R] /DA (/F 0 Tf) /DR << /Font << /F 102 0 R >> >> >> /Metadata 106 0 R",
		Page:    "/Resources << /XObject << /Total 101 0 R >> /Font << /F 102 0 R >> >> /Annots [103 0 R 105 0 R]",
		Objects: []string{
			"<< /Title (Contract) >>",
			xobject("0 0 100 20", "0 0 100 20 re f"),
			"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
			"<< /Type /Annot /Subtype /Widget /FT /Tx /T (Amount) /V (250000) /DA (/F 12 Tf) /Rect [100 100 200 120] /F 4 /P 10 0 R /AP << /N 104 0 R >> >>",
			stream("/Type /XObject /Subtype /Form /BBox [0 0 100 20] /Resources << /Font << /F 102 0 R >> >>", "BT /F 12 Tf (250000) Tj ET"),
			"<< /Type /Annot /Subtype /Text /Rect [300 300 320 320] /Contents (As agreed) /F 4 /P 10 0 R >>",
			xmp("Contract", 1),
			stream("", "\n"+hidden),               // unreferenced
			"<< /Type /Catalog /Pages 109 0 R >>", // unreferenced, with pages of its own
			"<< /Type /Pages /Kids [110 0 R] /Count 1 /MediaBox [0 0 595 842] >>",
			"<< /Type /Page /Parent 109 0 R /Contents 101 0 R >>",
		},
	}
}

func buildContract() []byte { return pdftest.Build(contractOptions()) }

// Objects of the form.
const (
	textField = first + iota
	textAppearance
	checkBox
	_          // its appearance
	emptyField // a signature field without a signature
	annotation
	information
	metadataStream
	unreferenced
	font
	theForm
	names
	structureTree
	optionalContent
)

// changeable is a document with something of each kind to change.
func changeable() []byte {
	widget := func(entries string) string {
		return "<< /Type /Annot /Subtype /Widget /P 10 0 R /F 4 /Rect [10 10 90 30] " + entries + " >>"
	}
	return pdftest.Build(pdftest.Options{
		Catalog: "/AcroForm 110 0 R /Metadata 107 0 R /Names 111 0 R /StructTreeRoot 112 0 R /OCProperties 113 0 R /OpenAction [10 0 R /Fit]",
		Page:    "/Annots [100 0 R 102 0 R 104 0 R 105 0 R] /Resources << /Font << /F 109 0 R >> >>",
		Objects: []string{
			widget("/FT /Tx /T (Text) /V (old) /AP << /N 101 0 R >>"), xobject("0 0 90 90", "0 0 m"),
			widget("/FT /Btn /T (Check) /V /Off /AS /Off /AP << /N << /Yes 103 0 R >> >>"), xobject("0 0 90 90", "1 1 m"),
			widget("/FT /Sig /T (Empty)"), square, "<< /Title (This one) >>", xmp("This one", 1), xobject("0 0 90 90", "2 2 m"),
			"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
			"<< /Fields [100 0 R 102 0 R 104 0 R] /DR << /Font << /F 109 0 R >> >> >>",
			"<< /Dests << /Names [(Here) [10 0 R /Fit]] >> >>",
			"<< /Type /StructTreeRoot /K << /S /Document /P 112 0 R /K << /Type /OBJR /Pg 10 0 R /Obj 105 0 R >> >> >>",
			"<< /OCGs [] /D << >> >>",
		},
		Trailer: "/Info 106 0 R",
	})
}

const (
	drawing     = "0 0 m 90 10 l S"
	square      = "<< /Type /Annot /Subtype /Square /Rect [10 10 90 90] >>"
	anotherPage = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 3 0 R >>"
	timestamp   = "<< /Type /DocTimeStamp /SubFilter /ETSI.RFC3161 >>"
	stampField  = "<< /Type /Annot /Subtype /Widget /FT /Sig /T (Old) /V " + timestamp + " /P 10 0 R /Rect [0 0 0 0] /F 132 >>"
)

var (
	otherContent = stream("", drawing)
	wholePage    = xobject("0 0 595 842", drawing)
	hidden       = "3 0 obj\n" + otherContent + "\nendobj\n" // the content of a page, for readers that search for objects
)

func stream(entries, payload string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", entries, len(payload), payload)
}

func xobject(box, payload string) string {
	return stream("/Type /XObject /Subtype /Form /BBox ["+box+"]", payload)
}

// xmp is a metadata stream with a title and a modification date in July 2026.
func xmp(title string, day int) string {
	return stream("/Type /Metadata /Subtype /XML", fmt.Sprintf(`<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"><xmp:ModifyDate>2026-07-%02d</xmp:ModifyDate>
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">%s</rdf:li></rdf:Alt></dc:title></rdf:Description></rdf:RDF></x:xmpmeta>`, day, title))
}

// revision is an incremental update of a document.
type revision struct {
	*fixture
	base     []byte
	file     *pdf.File
	update   *pdf.Update
	rewrites []func([]byte) []byte // of the update's bytes
	result   []byte                // the whole document, where the edit made one itself
}

func newRevision(t *testing.T, b []byte) *revision {
	t.Helper()
	file, err := pdf.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return &revision{fixture: &fixture{T: t}, base: b, file: file, update: file.NewUpdate()}
}

// written is the document with the revision.
func (r *revision) written() []byte {
	r.Helper()
	if r.result != nil {
		return r.result
	}
	appended, _, err := r.update.Bytes()
	r.check(err)
	for _, rewrite := range r.rewrites {
		appended = rewrite(appended)
	}
	return append(bytes.Clone(r.base), appended...)
}

func (r *revision) check(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// Numbers that stand for an object of the document that is changed.
const (
	formObject  uint32 = math.MaxUint32 - iota
	storeObject        // the document security store
	lastField          // of the form: in a document of level LTA, that of the document timestamp
)

func (r *revision) number(num uint32) uint32 {
	r.Helper()
	var o pdf.Object
	switch num {
	case formObject:
		o = r.catalog()["AcroForm"]
	case storeObject:
		o = r.catalog()["DSS"]
	case lastField:
		fields := r.fields()
		o = fields[len(fields)-1]
	default:
		return num
	}
	ref, ok := o.(pdf.Ref)
	if !ok {
		r.Fatalf("%v is not a reference", o)
	}
	return ref.Num
}

func (r *revision) catalog() pdf.Dict {
	r.Helper()
	_, dict, err := r.file.Catalog()
	r.check(err)
	return dict
}

// fields are the fields of the form before the revision.
func (r *revision) fields() pdf.Array {
	r.Helper()
	form, err := r.file.Dict(r.catalog()["AcroForm"])
	r.check(err)
	fields, err := r.file.Array(form["Fields"])
	r.check(err)
	return fields
}

// fieldValue is the value of the last field.
func (r *revision) fieldValue() pdf.Object {
	r.Helper()
	field, err := r.file.Dict(pdf.Ref{Num: r.number(lastField)})
	r.check(err)
	return field["V"]
}

func (r *revision) source(num uint32) string {
	r.Helper()
	source, err := r.update.Source(pdf.Ref{Num: r.number(num)})
	r.check(err)
	return string(source)
}

func (r *revision) add(body string) pdf.Ref { return r.update.Add([]byte(body)) }

func (r *revision) replace(num uint32, body string) {
	r.update.Set(pdf.Ref{Num: r.number(num)}, []byte(body))
}

// set sets an entry of a dictionary.
func (r *revision) set(num uint32, key pdf.Name, value string) {
	r.Helper()
	source, err := pdf.SetKey([]byte(r.source(num)), key, []byte(value))
	r.check(err)
	r.replace(num, string(source))
}

// format is a value in which each verb is the reference to a new object. An object that is a reference stands for
// itself.
func (r *revision) format(value string, objects []string) string {
	if len(objects) == 0 {
		return value
	}
	refs := make([]any, len(objects))
	for i, object := range objects {
		if refs[i] = object; !reference.MatchString(object) {
			refs[i] = r.add(object)
		}
	}
	return fmt.Sprintf(value, refs...)
}

var reference = regexp.MustCompile(`^\d+ \d+ R$`)

// edit is what an attacker does to a document: changes in one revision, or another document as its result.
type edit func(*revision)

func edits(all ...edit) edit {
	return func(r *revision) {
		for _, e := range all {
			e(r)
		}
	}
}

// setKey sets an entry of a dictionary; value and objects are those of revision.format.
func setKey(num uint32, key pdf.Name, value string, objects ...string) edit {
	return func(r *revision) { r.set(num, key, r.format(value, objects)) }
}

func replaceObject(num uint32, body string) edit {
	return func(r *revision) { r.replace(num, body) }
}

// addObject adds an object to which nothing refers.
func addObject(body string) edit { return func(r *revision) { r.add(body) } }

// duplicateKey puts an entry before those of a dictionary.
func duplicateKey(num uint32, entry string, objects ...string) edit {
	return func(r *revision) {
		r.replace(num, strings.Replace(r.source(num), "<<", "<< "+r.format(entry, objects), 1))
	}
}

// appendItem appends an object to the array under a key.
func appendItem(num uint32, key pdf.Name, object string) edit {
	return func(r *revision) {
		r.Helper()
		value, _, err := pdf.Key([]byte(r.source(num)), key)
		r.check(err)
		value, err = pdf.AppendItem(value, []byte(r.format("%v", []string{object})))
		r.check(err)
		r.set(num, key, string(value))
	}
}

// addField adds a field to the form and to the annotations of the first page.
func addField(object string, objects ...string) edit {
	return func(r *revision) {
		r.Helper()
		field := r.format("%v", []string{r.format(object, objects)})
		fields, _, err := pdf.Key(r.form(), "Fields")
		r.check(err)
		fields, err = pdf.AppendItem(fields, []byte(field))
		r.check(err)
		setFormKey("Fields", string(fields))(r)
		appendItem(page, "Annots", field)(r)
	}
}

// setFormKey sets an entry of the form.
func setFormKey(key pdf.Name, value string, objects ...string) edit {
	return func(r *revision) {
		r.Helper()
		value := r.format(value, objects)
		if _, isRef := r.catalog()["AcroForm"].(pdf.Ref); isRef {
			r.set(formObject, key, value)
			return
		}
		form, err := pdf.SetKey(r.form(), key, []byte(value))
		r.check(err)
		r.set(catalog, "AcroForm", string(form))
	}
}

// form is the source of the form, which is in the catalog or an object of its own.
func (r *revision) form() []byte {
	r.Helper()
	if _, isRef := r.catalog()["AcroForm"].(pdf.Ref); isRef {
		return []byte(r.source(formObject))
	}
	form, _, err := pdf.Key([]byte(r.source(catalog)), "AcroForm")
	r.check(err)
	return form
}

// rewriteEnd replaces what the update writes, such as its cross-reference.
func rewriteEnd(pattern, with string) edit {
	return func(r *revision) {
		r.rewrites = append(r.rewrites, func(b []byte) []byte {
			expression := regexp.MustCompile(pattern)
			if !expression.Match(b) {
				r.Fatalf("the update has no %v", pattern)
			}
			return expression.ReplaceAll(b, []byte(with))
		})
	}
}

// loosely adds an object and writes the end of the file in another way.
func loosely(pattern, with string) edit { return edits(addObject(square), rewriteEnd(pattern, with)) }

// asBytes is an edit of the document's bytes.
func asBytes(change func(b []byte) []byte) edit {
	return func(r *revision) { r.result = change(bytes.Clone(r.base)) }
}

func appendBytes(text string) edit {
	return asBytes(func(b []byte) []byte { return append(b, text...) })
}
