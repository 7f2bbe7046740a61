package pdflint_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// slack is white space in the source of a dictionary. Sources are patched, so it is in the
// increment too, and a fault can be put in its place without moving anything.
var slack = strings.Repeat(" ", 60)

// shape is how the form and the page's annotations stand in a file: as objects of their
// own, or within the catalog and the page, which have to be rewritten then.
type shape struct {
	kind   pdftest.Kind
	direct bool
}

// build makes a file with a form and another field.
func (s shape) build() []byte {
	const acroForm = "<< /Fields [101 0 R] /DA (/Helv 0 Tf) /DR << >> /NeedAppearances false "
	o := pdftest.Options{
		Kind:    s.kind,
		Catalog: "/AcroForm 100 0 R /Extensions << /ESIC << /BaseVersion /1.7 /ExtensionLevel 2 >> >>",
		Page:    "/Annots 102 0 R",
		Objects: []string{
			acroForm + slack + ">>",
			"<< /FT /Tx /T (Name) /V (kept) /Type /Annot /Subtype /Widget /Rect [10 10 20 20] /P 10 0 R >>",
			"[101 0 R]",
		},
		Trailer: "/ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>] /Info 101 0 R",
	}
	if s.direct {
		o.Catalog = "/Lang (en) " + slack + "/AcroForm " + acroForm + ">>"
		o.Page = "/Rotate 90 " + slack + "/Annots [101 0 R]"
	}
	return pdftest.Build(o)
}

// signer signs files of a test.
type signer struct {
	key    *ecdsa.PrivateKey
	signer ades.Signer
}

func newSigner(t *testing.T) signer {
	t.Helper()
	ca, err := sandboxca.New(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := ca.Issue("Dæmi um nafn", "1203894569", key.Public(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return signer{key, ades.Signer{Certificate: cert, Chain: ca.Chain()}}
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

// increment is a good one, to be spoilt.
type increment struct {
	t           *testing.T
	base, whole []byte
}

// swap puts text in the place of the only match of a pattern in the increment, filled up
// with spaces so that nothing moves.
func (i *increment) swap(pattern, text string) {
	i.t.Helper()
	part := i.whole[len(i.base):]
	found := regexp.MustCompile(pattern).FindAllIndex(part, -1)
	if len(found) != 1 {
		i.t.Fatalf("%d matches of %s in\n%q", len(found), pattern, part)
	}
	at, n := found[0][0], found[0][1]-found[0][0]
	if len(text) > n {
		i.t.Fatalf("%q is longer than the match of %s", text, pattern)
	}
	copy(part[at:], text+strings.Repeat(" ", n-len(text)))
}

// both puts text of the same length in the place of another one everywhere, in the file as
// it was too.
func (i *increment) both(old, text string) {
	i.t.Helper()
	if len(old) != len(text) || !bytes.Contains(i.base, []byte(old)) {
		i.t.Fatalf("%q for %q", text, old)
	}
	i.base = bytes.ReplaceAll(i.base, []byte(old), []byte(text))
	i.whole = bytes.ReplaceAll(i.whole, []byte(old), []byte(text))
}

// row returns a row of the cross-reference stream that the increment ends with: the first,
// or the last, which is of the stream itself.
func (i *increment) row(last bool) []byte {
	i.t.Helper()
	size := 3 + i.number(`/W \[1 (\d) 2\]`)
	start := bytes.LastIndex(i.whole, []byte("\nstream\n")) + len("\nstream\n")
	if last {
		start = bytes.LastIndex(i.whole, []byte("\nendstream")) - size
	}
	return i.whole[start : start+size]
}

// replace puts text in the place of the only match and moves what is behind it: only for
// the increment's end.
func (i *increment) replace(pattern, text string) {
	i.t.Helper()
	part := i.whole[len(i.base):]
	found := regexp.MustCompile(pattern).FindAllIndex(part, -1)
	if len(found) != 1 {
		i.t.Fatalf("%d matches of %s in\n%q", len(found), pattern, part)
	}
	i.whole = slices.Concat(i.base, part[:found[0][0]], []byte(text), part[found[0][1]:])
}

// number returns the number that the pattern's group matches in the increment.
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

// behindStream puts an increment, as it is, behind a file whose last section is a stream: an
// increment of that file too, by everything but its section's kind. What it says of places
// is moved along.
func behindStream(base, whole []byte) (movedBase, moved []byte) {
	part := string(whole[len(base):])
	other := shape{kind: pdftest.Stream}.build()
	by := len(other) - len(base)
	move := func(m string) string {
		n, _ := strconv.Atoi(m)
		return fmt.Sprintf("%0*d", len(m), n+by)
	}
	part = regexp.MustCompile(`\d{10} 00000 n`).ReplaceAllStringFunc(part, func(m string) string { return move(m[:10]) + m[10:] })
	part = regexp.MustCompile(`startxref\n\d+`).ReplaceAllStringFunc(part, func(m string) string { return "startxref\n" + move(m[len("startxref\n"):]) })
	return other, slices.Concat(other, []byte(part))
}
