package httpapi_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"image"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/stamp"
)

// spec 3.3: each of several signers gets the next free place.
func TestSeveralSignersWithAuto(t *testing.T) {
	c := start(t, wiring{renderer: newRenderer(t)}).signer(t)
	c.user(person)
	for _, corner := range []string{"TopLeft", "BottomRight"} {
		t.Run(corner, func(t *testing.T) {
			c := c.in(t)
			document, taken := page, []image.Rectangle(nil)
			for range 3 {
				before := document
				document = c.sign(startBody(idpSim).with(inImage(fields{"alignment": corner, "positioning": "Auto"})).with(fields{"file.contentB64": before}))
				for _, text := range rects(t, before, document) {
					taken = append(taken, rectangle(t, text))
				}
			}
			if len(taken) != 3 || len(c.signatures(document)) != 3 {
				t.Fatalf("the stamps are at %v", taken)
			}
			for i, r := range taken {
				if !r.In(image.Rect(0, 0, 595, 842)) || slices.ContainsFunc(taken[:i], r.Overlaps) {
					t.Errorf("the stamps are at %v", taken)
				}
			}
		})
	}
}

// rectangle is one of whole points around what is written.
func rectangle(t *testing.T, text string) image.Rectangle {
	t.Helper()
	var llx, lly, urx, ury float64
	if _, err := fmt.Sscan(text, &llx, &lly, &urx, &ury); err != nil {
		t.Fatal(err)
	}
	return image.Rect(int(llx), int(lly), int(urx), int(ury))
}

// spec 3.1: a page that is full has no free slot.
func TestNoFreeSlot(t *testing.T) {
	c := start(t, wiring{renderer: newRenderer(t)}).signer(t)
	c.user(person)
	body := startBody(idpApp).with(inImage(fields{"alignment": "TopLeft", "positioning": "Auto"}))
	small := pdftest.Build(pdftest.Options{Page: "/MediaBox [0 0 100 100]"})
	c.wantProblem(c.start(body.with(fields{"file.contentB64": small})), http.StatusBadRequest, "No free signature slot")
	c.wantDocuments(0)
}

// A page may be displayed whose places no PDF can say: with coordinates beyond 32767
// (ISO 19005-1 6.1.12).
func TestStampFarOut(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	far := pdftest.Build(pdftest.Options{Page: "/MediaBox [40000 0 40595 842]"})
	c.wantInvalid(c.start(startBody(idpApp).with(manual).with(fields{"file.contentB64": far})), "signatureImage.originX", "signatureImage.originY")
	c.wantDocuments(0)
}

// spec 3.10: a document whose author allows no further signature.
func TestStampOnADocumentThatAllowsNoSignatures(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	body := startBody(idpApp).with(fields{"file.contentB64": unchangeable(t)})
	c.wantProblem(c.start(body.with(manual).with(inImage(fields{"page": 9}))), http.StatusBadRequest, "Document does not allow signatures")
	c.wantDocuments(0)
	id := c.begin(body) // without signatureImage it is found out later
	c.wantFailure(c.poll(id), pending)
	c.wantFailure(c.poll(id), unreadable)
}

// unchangeable is a page whose author allows no changes.
func unchangeable(t *testing.T) []byte {
	t.Helper()
	ca, err := sandboxca.New(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	author, err := ca.Issue("The author", kennitala, key.Public(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	doc := pades.Document{ReaderAt: bytes.NewReader(page), Size: int64(len(page))}
	revision, err := pades.Sign(t.Context(), doc, key, ades.SignerIdentity{Certificate: author}, pades.Options{Certify: pades.NoChanges}, ades.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	return append(slices.Clone(page), revision.Bytes...)
}

// unready is a renderer that cannot draw yet.
type unready struct{}

func (unready) Render(context.Context, io.ReaderAt, int64, int, int, int) (*image.RGBA, error) {
	return nil, stamp.ErrNotReady
}

// Who comes while the renderer is being made ready is to come again.
func TestStampWhileTheRendererIsNotReady(t *testing.T) {
	t.Parallel()
	bubble(t, wiring{breaks: true, renderer: unready{}}, func(t *testing.T, s *server) {
		c := s.signer(t)
		c.user(person)
		a := c.start(startBody(idpApp).with(inImage(fields{"alignment": "TopLeft", "positioning": "Auto"})))
		c.wantProblem(a, http.StatusServiceUnavailable, "Service unavailable")
		diff(t, "Retry-After", "1", a.header.Get("Retry-After"))
		c.wantDocuments(0)
	})
}

// spec 1.8 and 3.1.
func TestRepeatedStartWithAStamp(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	body := startBody(idpSim).with(manual).with(ofImage(jpegPicture(t), "Jpeg"))
	first := c.startWithKey("the contract", body)
	c.wantSame(first, c.startWithKey("the contract", body))
	c.wantDocuments(2) // that which is signed, and the image
	c.signature(c.signed(c.poll(c.member(first, "pollingId"))))
	c.wantSame(first, c.startWithKey("the contract", body))
	c.wantDocuments(0)
}
