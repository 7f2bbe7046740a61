package pdflint_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/md5"
	"crypto/rc4"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/pdflint"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// signer signs the files of a test.
type signer struct {
	key    *ecdsa.PrivateKey
	signer ades.SignerIdentity
}

func newSigner(t *testing.T) signer {
	t.Helper()
	ca, err := sandboxca.New(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	key := certtest.NewKey(t, elliptic.P256())
	cert, err := ca.Issue("Dæmi um nafn", "1203894569", key.Public(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return signer{key, ades.SignerIdentity{Certificate: cert, Chain: ca.Chain()}}
}

func (s signer) sign(t *testing.T, base []byte, o pades.Options) []byte {
	t.Helper()
	doc := pades.Document{ReaderAt: bytes.NewReader(base), Size: int64(len(base))}
	r, err := pades.Sign(t.Context(), doc, s.key, s.signer, o, ades.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(base, r.Bytes)
}

// fixture is a file and the options with which it is signed.
type fixture struct {
	name    string
	base    func(t *testing.T, s signer) []byte
	options pades.Options
}

// place returns the place of the new field.
func (f fixture) place() pdflint.Place {
	if v := f.options.Visible; v != nil {
		return pdflint.Place{Page: v.Page, Rect: pdf.Rect(v.Rect)}
	}
	return pdflint.Place{Page: 1}
}

func made(name string, content []byte, options pades.Options) fixture {
	return fixture{name, func(*testing.T, signer) []byte { return bytes.Clone(content) }, options}
}

func built(name string, o pdftest.Options, options pades.Options) fixture {
	return made(name, pdftest.Build(o), options)
}

func archival(profile string, options pades.Options) fixture {
	return made(profile, pdftest.Archival(pdftest.Archive{Profile: profile}), options)
}

// signed returns a fixture whose file is that of f after signing.
func (f fixture) signed(name string, options pades.Options) fixture {
	return fixture{name, func(t *testing.T, s signer) []byte { return s.sign(t, f.base(t, s), f.options) }, options}
}

// encrypted returns a fixture whose file is that of f, encrypted by qpdf with an empty user password.
func (f fixture) encrypted(name, length string, options pades.Options) fixture {
	return fixture{name, func(t *testing.T, s signer) []byte {
		path := filepath.Join(t.TempDir(), "plain.pdf")
		if err := os.WriteFile(path, f.base(t, s), 0o600); err != nil {
			t.Fatal(err)
		}
		command := exec.Command(testenv.Program(t, "qpdf"), "--allow-weak-crypto", path, "--encrypt", "", "owner", length, "--", "-")
		encrypted, err := command.Output()
		if err != nil {
			t.Fatalf("qpdf: %v", err)
		}
		return encrypted
	}, options}
}

// visible returns options for a visible signature in a new field.
func visible(page int) pades.Options {
	return pades.Options{Visible: &pades.Visible{
		Page: page, Rect: pades.Rect{LLX: 100, LLY: 700, URX: 217, URY: 755}, Appearance: pdftest.Build(pdftest.Options{}),
	}}
}

// space is white space in the source text of a dictionary. An increment has it too, so that a test can replace it
// without moving anything.
var space = strings.Repeat(" ", 60)

// formFile returns a file with a form, a field and annotations: as indirect objects or, if direct is true, within the
// catalog and the page.
func formFile(kind pdftest.Kind, direct bool) []byte {
	acroForm := "<< /Fields [101 0 R] /DA (/Helv 0 Tf) /DR << >> /NeedAppearances false " + space + ">>"
	o := pdftest.Options{
		Kind:    kind,
		Catalog: "/AcroForm 100 0 R /Extensions << /ESIC << /BaseVersion /1.7 /ExtensionLevel 2 >> >>",
		Page:    "/Annots 102 0 R",
		Objects: []string{
			acroForm,
			"<< /FT /Tx /T (Name) /V (kept) /Type /Annot /Subtype /Widget /Rect [10 10 20 20] /P 10 0 R >>",
			"[101 0 R]",
		},
		Trailer: "/ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>] /Info 101 0 R",
	}
	if direct {
		o.Catalog = "/Lang (en) " + space + "/AcroForm " + acroForm
		o.Page = "/Rotate 90 " + space + "/Annots [101 0 R]"
	}
	return pdftest.Build(o)
}

var (
	reason = pades.Options{Reason: "Undirritun"}

	objects = made("table", formFile(pdftest.Table, false), reason)
	inline  = made("direct objects", formFile(pdftest.Table, true), reason)
	stream  = made("stream", formFile(pdftest.Stream, false), reason)
	noEnd   = made("no end of line", bytes.TrimRight(formFile(pdftest.Table, false), "\n"), pades.Options{})

	// aField has the empty field Buyer, whose widget has appearances with states.
	aField = built("field", pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R] >>", Page: "/Annots [101 0 R]",
		Objects: []string{
			"<< /FT /Sig /T (Buyer) /Kids [101 0 R] >>",
			"<< /Parent 100 0 R /Subtype /Widget /Rect [0 0 50 50] " + space + "/AP << /N << /On 102 0 R >> /D 102 0 R >> >>",
			"<< /Subtype /Form /BBox [0 0 1 1] /Length 0 >>\nstream\n\nendstream",
		},
	}, pades.Options{Field: "Buyer"})

	// pageAndForm has a page that is the form too.
	pageAndForm = built("page and form", pdftest.Options{Catalog: "/AcroForm 10 0 R", Page: "/Rotate 90"}, pades.Options{})

	certified      = fixture{"certified", objects.base, pades.Options{Certify: pades.FormFilling}}
	afterCertified = certified.signed("after a certification", pades.Options{})
	// afterApproval has a Reason as long as the entries of a certification.
	afterApproval = inline.signed("after an approval", pades.Options{Reason: strings.Repeat("r", 120)})

	// afterLock has a signature that locks one field, which is not in the form.
	afterLock = built("lock", pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R] >>",
		Objects: []string{"<< /FT /Sig /T (First) /Lock << /Action /Include /Fields [(Signatures)] /P 2 >> >>"},
	}, pades.Options{Field: "First"}).signed("after a lock", pades.Options{})

	tagged          = archival("ua1", pades.Options{})
	artifact        = archival("ua2", pades.Options{})
	visibleArtifact = archival("ua2", visible(1))
	afterTagged     = tagged.signed("after tagged", pades.Options{}) // its structure must not change

	onSecond = built("visible on page 2", pdftest.Options{Pages: 2}, visible(2))
	onTurned = built("visible on a rotated page", pdftest.Options{Page: "/Rotate 90"}, visible(1))
	// onShared has two pages with one array of annotations, and without contents.
	onShared = made("visible on a page with shared annotations", bytes.ReplaceAll(pdftest.Build(pdftest.Options{Pages: 2, Objects: []string{
		"[101 0 R]", "<< /Type /Annot /Subtype /Text /Rect [10 10 20 20] /Contents (Note) >>",
	}}), []byte("/Contents 3 0 R"), []byte("/Annots 100 0 R")), visible(2))

	aes     = objects.encrypted("AES-256", "256", reason)
	rc4File = aField.encrypted("RC4", "40", pades.Options{Field: "Buyer", Appearance: pdftest.Build(pdftest.Options{})})
	noID    = made("no ID", fileWithoutID(), pades.Options{})
)

// fileWithoutID returns a file without an ID that is encrypted with RC4 of 40 bits for an empty user password
// (7.6.4.3.2, 7.6.4.4.3). Its strings are not encrypted, so that they cannot be read.
func fileWithoutID() []byte {
	const padding = "\x28\xbf\x4e\x5e\x4e\x75\x8a\x41\x64\x00\x4e\x56\xff\xfa\x01\x08" +
		"\x2e\x2e\x00\xb6\xd0\x68\x3e\x80\x2f\x0c\xa9\xfe\x64\x53\x69\x7a"
	owner, permissions := strings.Repeat("o", 32), int32(-4)
	sum := md5.Sum(binary.LittleEndian.AppendUint32([]byte(padding+owner), uint32(permissions)))
	user := []byte(padding)
	c, err := rc4.NewCipher(sum[:5])
	if err != nil {
		panic(err)
	}
	c.XORKeyStream(user, user)
	return pdftest.Build(pdftest.Options{
		Objects: []string{fmt.Sprintf("<< /Filter /Standard /V 1 /R 2 /P %d /O (%s) /U <%x> >>", permissions, owner, user)},
		Trailer: "/Encrypt 100 0 R",
	})
}

// increment is a correct increment that a test spoils.
type increment struct {
	t           *testing.T
	base, whole []byte
}

// The functions swap, replace, both and payload return functions that call the methods of the same names.
func swap(pattern, text string) func(*increment) { return func(i *increment) { i.swap(pattern, text) } }
func replace(pattern, text string) func(*increment) {
	return func(i *increment) { i.replace(pattern, text) }
}
func both(old, text string) func(*increment) { return func(i *increment) { i.both(old, text) } }
func payload(text string) func(*increment)   { return func(i *increment) { i.payload(text) } }

// find returns the place of the only match of a pattern in the increment.
func (i *increment) find(pattern string) (start, end int) {
	i.t.Helper()
	found := regexp.MustCompile(pattern).FindAllIndex(i.whole[len(i.base):], -1)
	if len(found) != 1 {
		i.t.Fatalf("%d matches of %s in\n%q", len(found), pattern, i.whole[len(i.base):])
	}
	return len(i.base) + found[0][0], len(i.base) + found[0][1]
}

// swap replaces the only match of a pattern by text and spaces, so that nothing moves.
func (i *increment) swap(pattern, text string) {
	i.t.Helper()
	start, end := i.find(pattern)
	if len(text) > end-start {
		i.t.Fatalf("%q is longer than the match of %s", text, pattern)
	}
	copy(i.whole[start:], fmt.Sprintf("%-*s", end-start, text))
}

// replace replaces the only match of a pattern by text and moves the bytes after it, which have to be the end of the
// increment.
func (i *increment) replace(pattern, text string) {
	i.t.Helper()
	start, end := i.find(pattern)
	i.whole = slices.Concat(i.whole[:start], []byte(text), i.whole[end:])
}

// both replaces all places of a text by one of the same length, in the original file too.
func (i *increment) both(old, text string) {
	i.t.Helper()
	if len(old) != len(text) || !bytes.Contains(i.base, []byte(old)) {
		i.t.Fatalf("cannot replace %q by %q", old, text)
	}
	i.base = bytes.ReplaceAll(i.base, []byte(old), []byte(text))
	i.whole = bytes.ReplaceAll(i.whole, []byte(old), []byte(text))
}

// payload replaces the payload of the only stream with the length of text.
func (i *increment) payload(text string) {
	i.t.Helper()
	_, start := i.find(fmt.Sprintf("/Length %d >>\nstream\n", len(text)))
	copy(i.whole[start:], text)
}

// row returns an entry of the cross-reference stream at the end of the increment: the first one, or the last one,
// which is that of the stream itself.
func (i *increment) row(last bool) []byte {
	i.t.Helper()
	size := 3 + i.number(`/W \[1 (\d) 2\]`)
	start := bytes.LastIndex(i.whole, []byte("\nstream\n")) + len("\nstream\n")
	if last {
		start = bytes.LastIndex(i.whole, []byte("\nendstream")) - size
	}
	return i.whole[start : start+size]
}

// number returns the number that the group of a pattern matches in the increment.
func (i *increment) number(pattern string) int {
	i.t.Helper()
	m := regexp.MustCompile(pattern).FindSubmatch(i.whole[len(i.base):])
	if m == nil {
		i.t.Fatalf("no match of %s", pattern)
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil {
		i.t.Fatal(err)
	}
	return n
}

// moveAfterStream appends the increment to a file whose last section is a stream, and adjusts its offsets.
func (i *increment) moveAfterStream() {
	other := formFile(pdftest.Stream, false)
	by := len(other) - len(i.base)
	offsets := regexp.MustCompile(`\d{10} 00000 n|startxref\n\d+`)
	part := offsets.ReplaceAllStringFunc(string(i.whole[len(i.base):]), func(m string) string {
		if before, ok := strings.CutSuffix(m, " 00000 n"); ok {
			n, _ := strconv.Atoi(before)
			return fmt.Sprintf("%010d 00000 n", n+by)
		}
		n, _ := strconv.Atoi(strings.TrimPrefix(m, "startxref\n"))
		return fmt.Sprintf("startxref\n%d", n+by)
	})
	i.base, i.whole = other, slices.Concat(other, []byte(part))
}
