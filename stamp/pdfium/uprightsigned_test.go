package pdfium_test

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"testing"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/stamp"
)

// signer is somebody with a key.
type signer struct {
	ades.Signer
	key crypto.Signer
}

// newSigner returns one whom nobody trusts.
func newSigner(t testing.TB) signer {
	t.Helper()
	key := certtest.NewKey(t, elliptic.P256())
	cert := certtest.Issue(t, x509.Certificate{Subject: pkix.Name{CommonName: "Dæmi um nafn"}}, key, nil, nil)
	return signer{ades.Signer{Certificate: cert}, key}
}

// sign signs a document and shows it on a page.
func (s signer) sign(t testing.TB, document []byte, page *stamp.Page, place stamp.Rect, options pades.Options) []byte {
	t.Helper()
	options.Visible.Page = page.Number
	r := &options.Visible.Rect
	r.LLX, r.LLY, r.URX, r.URY = page.UserSpace(place)
	revision, err := pades.Sign(t.Context(), pades.Document{ReaderAt: bytes.NewReader(document), Size: int64(len(document))}, s.key, s.Signer, options, ades.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	return append(bytes.Clone(document), revision.Bytes...)
}

func readPage(t testing.TB, document []byte) *stamp.Page {
	t.Helper()
	page, err := stamp.ReadPage(bytes.NewReader(document), int64(len(document)), 1)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// How far stamps are from the corners that they are placed from, in points.
const along, inwards = 12, 9

// inCorners signs a document once in each corner of its page, and returns the places.
func (s signer) inCorners(t testing.TB, document []byte, size stamp.Size, appearance []byte) ([]byte, []stamp.Rect) {
	t.Helper()
	var places []stamp.Rect
	for _, c := range corners {
		page := readPage(t, document)
		place, err := page.Place(c, along, inwards, size)
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, place)
		document = s.sign(t, document, page, place, pades.Options{Visible: &pades.Visible{Appearance: appearance}})
	}
	return document, places
}

// Objects of a document that pdftest makes.
const (
	pageTree = 2
	content  = 3 // of every page
)

// revised gives an object of a document of pdftest, one without further objects, another body
// in an incremental update (ISO 32000-2 7.5.6).
func revised(document []byte, object int, body string) []byte {
	previous := bytes.LastIndex(document, []byte("\nxref\n")) + 1
	out := bytes.NewBuffer(bytes.Clone(document))
	at := out.Len()
	fmt.Fprintf(out, "%d 0 obj\n%s\nendobj\n", object, body)
	table := out.Len()
	fmt.Fprintf(out, "xref\n%d 1\n%010d 00000 n \ntrailer\n<< /Size 11 /Root 1 0 R /Prev %d >>\nstartxref\n%d\n%%%%EOF\n", object, at, previous, table)
	return out.Bytes()
}
