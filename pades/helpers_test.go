package pades_test

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/pdflint"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// --- signers ---------------------------------------------------------------------------

// person is a signer: a key, its certificate, and the test authority that issued it.
type person struct {
	signer ades.SignerIdentity
	key    crypto.Signer
	ca     *sandboxca.Authority
}

func newPerson(t testing.TB, ca *sandboxca.Authority, key crypto.Signer) person {
	t.Helper()
	return person{catest.IssueSigner(t, ca, key, time.Now()), key, ca}
}

// newPersonWith returns a signer with another algorithm than the default one of the key.
func newPersonWith(t testing.TB, ca *sandboxca.Authority, key crypto.Signer, a ades.Algorithm) person {
	t.Helper()
	p := newPerson(t, ca, key)
	p.signer.Algorithm = a
	return p
}

func p256(t testing.TB) crypto.Signer { return certtest.NewKey(t, elliptic.P256()) }

func pss(h crypto.Hash) ades.Algorithm { return ades.Algorithm{Hash: h, Scheme: ades.PSS} }

// --- signing and verifying -------------------------------------------------------------

func document(b []byte) pades.Document {
	return pades.Document{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}
}

// sign returns the signed document. It fails the test if Check refuses the document, or if the lint finds a fault in
// the incremental update.
func sign(t testing.TB, b []byte, p person, o pades.Options) []byte {
	t.Helper()
	if err := pades.Check(t.Context(), document(b), o); err != nil {
		t.Errorf("checked: %v", err)
	}
	r, err := pades.Sign(t.Context(), document(b), p.key, p.signer, o, ades.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Base != int64(len(b)) {
		t.Fatalf("revision at %d of a document of %d bytes", r.Base, len(b))
	}
	signed := append(bytes.Clone(b), r.Bytes...)
	for _, fault := range pdflint.CheckAt(placeOf(o), b, signed) {
		t.Error(fault)
	}
	return signed
}

// placeOf returns where the options put a new field.
func placeOf(o pades.Options) pdflint.Place {
	if o.Visible == nil {
		return pdflint.Place{Page: 1}
	}
	return pdflint.Place{Page: o.Visible.Page, Rect: pdf.Rect(o.Visible.Rect)}
}

// prepare calls Prepare and fails the test unless Check returns the same kind of error. Check does not know the
// signer: it may accept what Prepare refuses because of the certificate or the hash.
func prepare(t *testing.T, b []byte, signer ades.SignerIdentity, o pades.Options) (*pades.Pending, error) {
	t.Helper()
	pending, err := pades.Prepare(t.Context(), document(b), signer, o)
	checked := pades.Check(t.Context(), document(b), o)
	ofSigner := err != nil && (errors.Is(err, ades.ErrAlgorithm) || aboutSigner.MatchString(err.Error()))
	if kindOf(checked) != kindOf(err) && (checked != nil || !ofSigner) {
		t.Errorf("prepared: %v; checked: %v", err, checked)
	}
	return pending, err
}

// checkPrepare fails the test unless Prepare returns an error that wraps want and contains text, or none if want is nil.
func checkPrepare(t *testing.T, b []byte, signer ades.SignerIdentity, o pades.Options, want error, text string) {
	t.Helper()
	if _, err := prepare(t, b, signer, o); !errors.Is(err, want) || want != nil && !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, want %v with the text %q", err, want, text)
	}
}

// aboutSigner matches errors about entries of a seed value that constrain the certificate or the hash.
var aboutSigner = regexp.MustCompile("Cert/|DigestMethod")

// refusals are the errors that tell a caller that a document cannot be signed.
var refusals = []error{pades.ErrEncrypted, ades.ErrForbidden, ades.ErrBroken, ades.ErrUnreadable}

// refused reports whether an error is one of the refusals or of the further kinds.
func refused(err error, further ...error) bool {
	return slices.ContainsFunc(slices.Concat(refusals, further), func(e error) bool { return errors.Is(err, e) })
}

// kindOf returns the text of the sentinel error that err wraps, or else its own text.
func kindOf(err error) string {
	for _, kind := range slices.Concat(refusals, []error{pades.ErrPage, pades.ErrRect, pades.ErrField, pades.ErrAppearance}) {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	return fmt.Sprint(err)
}

// restored encodes a pending signature and decodes it again.
func restored(t testing.TB, p *pades.Pending) *pades.Pending {
	t.Helper()
	encoded, err := p.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	again := new(pades.Pending)
	if err := again.UnmarshalBinary(encoded); err != nil {
		t.Fatal(err)
	}
	return again
}

// verify returns the reports on the signatures of a document, and fails the test if they do not permit a change that
// was made after them.
func verify(t testing.TB, b []byte, ca *sandboxca.Authority) []ades.SignatureReport {
	t.Helper()
	signatures := verifyAny(t, b, ca)
	for _, s := range signatures {
		if forbidden := s.Forbidden(); len(forbidden) > 0 {
			t.Errorf("%s does not permit %+v", s.Name, forbidden)
		}
	}
	return signatures
}

// verifyAny returns the reports on the signatures of a document.
func verifyAny(t testing.TB, b []byte, ca *sandboxca.Authority) []ades.SignatureReport {
	t.Helper()
	report, err := pades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: ca.Roots()})
	if err != nil {
		t.Fatal(err)
	}
	return report.Signatures
}

// verifyPassed fails the test unless exactly these fields are signed, in this order, and all signatures pass.
func verifyPassed(t testing.TB, b []byte, ca *sandboxca.Authority, fields ...string) []ades.SignatureReport {
	t.Helper()
	signatures := verify(t, b, ca)
	var names []string
	for _, s := range signatures {
		names = append(names, s.Name)
		if !s.Passed() || !s.Intact {
			t.Errorf("%s: %s %s: %v", s.Name, s.Indication, s.SubIndication, s.Problems)
		}
	}
	if !slices.Equal(names, fields) {
		t.Fatalf("signed fields: got %q, want %q", names, fields)
	}
	return signatures
}

// numbered returns the names of the first n fields that Sign adds.
func numbered(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprint("Signature", i+1))
	}
	return names
}

// --- documents -------------------------------------------------------------------------

func open(t testing.TB, b []byte) *pdf.File {
	t.Helper()
	file, err := pdf.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// dictAt returns the dictionary at a path of keys from the catalog, empty if there is none.
func dictAt(t testing.TB, file *pdf.File, keys ...pdf.Name) pdf.Dict {
	t.Helper()
	_, dict, err := file.Catalog()
	for _, key := range keys {
		if err == nil {
			dict, err = file.Dict(dict[key])
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return dict
}

// pageAnnotations returns a page with its annotations.
func pageAnnotations(t testing.TB, file *pdf.File, number int) (*pdf.Page, pdf.Array) {
	t.Helper()
	page, err := file.Page(number)
	if err != nil {
		t.Fatal(err)
	}
	array, err := file.Array(page.Dict["Annots"])
	if err != nil {
		t.Fatal(err)
	}
	return page, array
}

// updated appends an incremental update to a document.
func updated(t testing.TB, b []byte, change func(*pdf.Update)) []byte {
	t.Helper()
	update := open(t, b).NewUpdate()
	change(update)
	appended, _, err := update.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(b, appended)
}

// sourceOf returns the text of an object.
func sourceOf(t testing.TB, update *pdf.Update, ref pdf.Ref) []byte {
	t.Helper()
	source, err := update.Source(ref)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// filled appends an update that sets the value of a field.
func filled(t testing.TB, b []byte, num uint32, value string) []byte {
	t.Helper()
	return updated(t, b, func(update *pdf.Update) {
		source, err := pdf.SetKey(sourceOf(t, update, pdf.Ref{Num: num}), "V", []byte(value))
		if err != nil {
			t.Fatal(err)
		}
		update.Set(pdf.Ref{Num: num}, source)
	})
}

// appendObjects appends a revision with these objects to a file with a cross-reference table.
func appendObjects(t *testing.T, b []byte, objects map[int]string) []byte {
	t.Helper()
	start := bytes.LastIndex(b, []byte("startxref"))
	previous, err := strconv.Atoi(string(bytes.Fields(b[start:])[1]))
	if err != nil {
		t.Fatal(err)
	}
	out := bytes.NewBuffer(bytes.Clone(b))
	var sections bytes.Buffer
	for n, body := range objects {
		fmt.Fprintf(&sections, "%d 1\n%010d 00000 n \n", n, out.Len())
		fmt.Fprintf(out, "%d 0 obj\n%s\nendobj\n", n, body)
	}
	at := out.Len()
	fmt.Fprintf(out, "xref\n%strailer\n<< /Size 1000 /Root 1 0 R /Prev %d >>\nstartxref\n%d\n%%%%EOF\n", sections.Bytes(), previous, at)
	return out.Bytes()
}

// signatureObject returns the object of the only signature dictionary.
func signatureObject(t *testing.T, b []byte) (number int, body string) {
	t.Helper()
	m := regexp.MustCompile(`(?s)(\d+) 0 obj\n(<< /Type /Sig .*?>>)\nendobj`).FindSubmatch(b)
	if m == nil {
		t.Fatal("no signature dictionary")
	}
	number, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	return number, string(m[2])
}

var (
	contentsOf  = regexp.MustCompile(`/Contents <([0-9a-f]+)>`)
	byteRangeOf = regexp.MustCompile(`/ByteRange ?\[ ?0 +(\d+) +(\d+) +(\d+) *\] *`)
)

// byteRanges returns the three numbers after the first 0 of each ByteRange.
func byteRanges(b []byte) (ranges [][3]int) {
	for _, found := range byteRangeOf.FindAllSubmatch(b, -1) {
		var r [3]int
		for i := range r {
			r[i], _ = strconv.Atoi(string(found[i+1])) // digits that are too many are a number that fits nothing
		}
		ranges = append(ranges, r)
	}
	return ranges
}

// counted counts what is read.
type counted struct {
	io.ReaderAt
	bytes, reads atomic.Int64
}

func (c *counted) ReadAt(b []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(b, at)
	c.bytes.Add(int64(n))
	c.reads.Add(1)
	return n, err
}

func writeFile(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// tempFile writes a file into a folder of its own and returns its path.
func tempFile(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	writeFile(t, path, content)
	return path
}

// --- foreign programs ------------------------------------------------------------------

func writePEM(t testing.TB, kind string, der []byte) string {
	t.Helper()
	return tempFile(t, "file.pem", pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// writeKey writes the key and the certificate of a person for foreign programs.
func writeKey(t testing.TB, p person) (key, cert string) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(p.key)
	if err != nil {
		t.Fatal(err)
	}
	return writePEM(t, "PRIVATE KEY", der), writePEM(t, "CERTIFICATE", p.signer.Certificate.Raw)
}

// python runs a script by the Python that has pyHanko, and returns its output.
func python(t testing.TB, stdin []byte, arguments ...string) []byte {
	t.Helper()
	command := exec.CommandContext(t.Context(), testenv.Tool(t, "pyhanko/bin/python"), arguments...)
	var messages bytes.Buffer
	command.Stdin, command.Stderr = bytes.NewReader(stdin), &messages
	out, err := command.Output()
	if err != nil {
		t.Fatalf("pyHanko: %v\n%s", err, messages.Bytes())
	}
	return out
}

// qpdf runs qpdf and returns its output.
func qpdf(t testing.TB, arguments ...string) []byte {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), testenv.Program(t, "qpdf"), arguments...).Output()
	if err != nil {
		t.Fatalf("qpdf: %v", err)
	}
	return out
}

// encrypt encrypts a document for a user password with the arguments of qpdf that follow the passwords.
func encrypt(t testing.TB, content []byte, user string, arguments ...string) []byte {
	t.Helper()
	all := append([]string{"--allow-weak-crypto", "--object-streams=preserve", "--encrypt", user, "owner"}, arguments...)
	return qpdf(t, append(all, "--", tempFile(t, "plain.pdf", content), "-")...)
}

// signedCase is a document with the fields that are signed, in the order of signing.
type signedCase struct {
	name   string
	b      []byte
	fields []string
	path   string
	// parents is for widgets that are kids of their fields. pdfsig of poppler 22.12 takes
	// a widget with a Parent for a field of its own, without a signature.
	parents bool
	format  string // as EU DSS calls it; "": PAdES-BASELINE-B
}

// checkForeign fails the test unless foreign validators accept all signatures of the documents, and all changes after
// them.
func checkForeign(t *testing.T, ca *sandboxca.Authority, cases []signedCase) {
	t.Helper()
	var paths []string
	for i := range cases {
		c := &cases[i]
		c.path = tempFile(t, strings.NewReplacer("/", "-", " ", "-").Replace(c.name)+".pdf", c.b)
		paths = append(paths, c.path)
	}
	roots := []*x509.Certificate{ca.Root()}
	t.Run("pyHanko", func(t *testing.T) {
		for i, report := range validators.PyHanko(t, roots, paths...) {
			cases[i].checkPyHanko(t, report)
		}
	})
	t.Run("EU DSS", func(t *testing.T) {
		for i, report := range validators.DSS(t, validators.DSSOptions{Roots: roots, RevocationOptional: true}, paths...) {
			cases[i].checkDSS(t, report)
		}
	})
	t.Run("pdfsig", func(t *testing.T) {
		for _, c := range cases {
			if !c.parents {
				c.checkPDFSig(t, roots)
			}
		}
	})
	t.Run("qpdf", func(t *testing.T) {
		for _, c := range cases {
			if warnings, err := validators.QPDFCheck(t, c.path); err != nil || len(warnings) > 0 {
				t.Errorf("%s: %v, %v", c.name, warnings, err)
			}
		}
	})
}

func (c signedCase) checkPyHanko(t *testing.T, report validators.PyHankoReport) {
	var signed []string
	for i, s := range report.Signatures {
		level := "FORM_FILLING"
		if i == len(report.Signatures)-1 {
			level = "NONE"
		}
		if !s.BottomLine || !s.DocMDPOK || s.ModificationLevel != level {
			t.Errorf("%s: %+v", c.name, s)
		}
		signed = append(signed, s.Field)
	}
	if report.Error != "" || !slices.Equal(signed, c.fields) {
		t.Errorf("%s: signed fields: got %v, want %v; %s", c.name, signed, c.fields, report.Error)
	}
}

func (c signedCase) checkDSS(t *testing.T, report validators.DSSReport) {
	if report.Error != "" || len(report.Signatures) != len(c.fields) {
		t.Errorf("%s: got %d signatures, want %d; %s", c.name, len(report.Signatures), len(c.fields), report.Error)
	}
	for _, s := range report.Signatures {
		if s.Indication != "TOTAL_PASSED" || s.Format != cmp.Or(c.format, "PAdES-BASELINE-B") || s.Modified || s.UndefinedChange > 0 || len(s.Errors) > 0 {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
}

func (c signedCase) checkPDFSig(t *testing.T, roots []*x509.Certificate) {
	signatures, err := validators.PDFSig(t, validators.PDFSigOptions{Roots: roots}, c.path)
	signatures = slices.DeleteFunc(signatures, func(s validators.PDFSigSignature) bool { return s.Signature == "" }) // empty fields
	if err != nil || len(signatures) != len(c.fields) {
		t.Errorf("%s: got %d signatures, want %d; %v", c.name, len(signatures), len(c.fields), err)
	}
	for _, s := range signatures {
		if last := c.fields[len(c.fields)-1]; !s.Valid() || s.Total != (s.Field == last) {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
}
