package pdfium_test

import (
	"bytes"
	"crypto/elliptic"
	"crypto/x509"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/stamp"
)

// signatories sign one page after another.
var signatories = []string{"Þórður Ægir Öðinsson", "Łukasz Żółć", "Ελένη Παπαδοπούλου", "Юрий Гагарин", "Anna Björg Guðmundsdóttir-Þorláksdóttir", "Jón"}

// Six who sign a page of text, each in the next free place from a corner: where it was planned
// before the first of them signed, on blank paper, and nobody's signature suffers.
func TestSixSigners(t *testing.T) {
	ca, err := sandboxca.New(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	renderer := shared(t)
	var paths []string
	for _, c := range corners {
		path := filepath.Join(t.TempDir(), cornerName(c)+".pdf")
		if err := os.WriteFile(path, signedBySix(t, renderer, ca, c), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	t.Run("EU DSS", func(t *testing.T) {
		options := validators.DSSOptions{Roots: []*x509.Certificate{ca.Root()}, RevocationOptional: true}
		for i, r := range validators.DSS(t, options, paths...) {
			wantSix(t, corners[i], r.Error, r.Signatures, func(s validators.DSSSignature) bool {
				return s.Indication == "TOTAL_PASSED" && s.Format == "PAdES-BASELINE-B" && !s.Modified && s.UndefinedChange == 0
			})
		}
	})
	t.Run("pyHanko", func(t *testing.T) {
		for i, r := range validators.PyHanko(t, []*x509.Certificate{ca.Root()}, paths...) {
			wantSix(t, corners[i], r.Error+r.Lenient, r.Signatures, func(s validators.PyHankoSignature) bool {
				return s.BottomLine && s.DocMDPOK && s.ModificationLevel != "OTHER" && s.Error == ""
			})
		}
	})
	t.Run("pdfsig", func(t *testing.T) {
		for i, path := range paths {
			signatures, err := validators.PDFSig(t, validators.PDFSigOptions{}, path)
			if err != nil {
				t.Error(err)
			}
			wantSix(t, corners[i], "", signatures, validators.PDFSigSignature.Valid)
		}
	})
}

// wantSix wants six sound signatures of a judge who read the file.
func wantSix[S any](t *testing.T, c stamp.Corner, fault string, signatures []S, sound func(S) bool) {
	t.Helper()
	if fault != "" || len(signatures) != len(signatories) {
		t.Errorf("%s: %s %d signatures", cornerName(c), fault, len(signatures))
	}
	for _, s := range signatures {
		if !sound(s) {
			t.Errorf("%s: %+v", cornerName(c), s)
		}
	}
}

// signedBySix signs a page of text from a corner.
func signedBySix(t *testing.T, renderer stamp.Renderer, ca *sandboxca.Authority, c stamp.Corner) []byte {
	t.Helper()
	document := pageOfText()
	page := readPage(t, document)
	plan, err := page.Capacity(t.Context(), renderer, c, stamp.StandardSize, len(signatories))
	if err != nil || len(plan) != len(signatories) {
		t.Fatalf("%s: room for %d: %v", cornerName(c), len(plan), err)
	}
	view := mutool(t)
	was := view(t, document, page.Size)
	for i, name := range signatories {
		page := readPage(t, document)
		place, err := page.Find(t.Context(), renderer, c, stamp.StandardSize)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(plan[i], place, cmpopts.EquateApprox(0, 0.01)); diff != "" {
			t.Errorf("%s, signer %d is not where it was planned: %s", cornerName(c), i+1, diff)
		}
		document = signatory(t, ca, name).sign(t, document, page, place, signature(t, name))
		is := view(t, document, page.Size)
		onBlankPaper(t, was, is, pixels(place))
		was = is
	}
	return document
}

func signatory(t *testing.T, ca *sandboxca.Authority, name string) signer {
	t.Helper()
	key := certtest.NewKey(t, elliptic.P256())
	cert, err := ca.Issue(name, "1203894569", key.Public(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return signer{ades.Signer{Certificate: cert, Chain: ca.Chain()}, key}
}

func signature(t *testing.T, name string) pades.Options {
	t.Helper()
	o := pades.Options{Name: name, Reason: "Samþykkt á aðalfundi", Time: time.Now()}
	appearance, err := stamp.Standard(stamp.Text{Name: name, Kennitala: "1203894569", Time: o.Time, Reason: o.Reason})
	if err != nil {
		t.Fatal(err)
	}
	o.Visible = &pades.Visible{Appearance: appearance}
	return o
}

// onBlankPaper compares a page before and after somebody signs it: what is another colour then
// is in the place, and was white. So is what is around it.
func onBlankPaper(t *testing.T, was, is *picture, place image.Rectangle) {
	t.Helper()
	if ink := was.ink(place.Inset(-margin * perPoint)); !ink.Empty() {
		t.Errorf("there was ink at %v, in %v", ink, place)
	}
	if changed := was.changes(is); changed.Empty() || !changed.In(place) {
		t.Errorf("pixels change at %v, and the stamp is at %v", changed, place)
	}
}

// changes is the smallest rectangle outside of which two pictures are the same.
func (p *picture) changes(other *picture) (box image.Rectangle) {
	for y := range p.height {
		was, is := p.row(y, 0, p.width), other.row(y, 0, p.width)
		if bytes.Equal(was, is) {
			continue
		}
		for x := range p.width {
			if colour(was[3*x:]) != colour(is[3*x:]) {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box
}

// pageOfText is a page of A4 with margins that stamps find room in, above, below and beside.
func pageOfText() []byte {
	const left, top, leading, lines = 62, 755, 15, 34
	var text strings.Builder
	fmt.Fprintf(&text, "BT /F 11 Tf %d TL %d %d Td\n", leading, left, top)
	for n := range lines {
		fmt.Fprintf(&text, "(%2d. The parties agree on what is written here, and on what they sign below it and above it.) Tj T*\n", n+1)
	}
	text.WriteString("ET")
	document := pdftest.Build(pdftest.Options{Page: "/Resources << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"})
	return revised(document, content, stream("", text.String()))
}
