package httpapi_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// newRenderer returns the renderer of the program, ready to draw. All tests share its compiled code.
func newRenderer(t *testing.T) *pdfium.Renderer {
	t.Helper()
	r := pdfium.New(pdfium.Options{Cache: testenv.RendererCache(), Limit: 5 * time.Minute})
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := r.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// rects returns the visible rectangles that were added to a document, in the user space of the page.
func rects(t *testing.T, before, after []byte) (list []string) {
	t.Helper()
	if !bytes.HasPrefix(after, before) {
		t.Fatal("the document that was sent is not the beginning of the signed one")
	}
	for _, found := range regexp.MustCompile(`/Rect \[([^\]]*)\]`).FindAllSubmatch(after[len(before):], -1) {
		if rect := strings.TrimSpace(string(found[1])); rect != "0 0 0 0" {
			list = append(list, rect)
		}
	}
	return list
}

// spec 3.3: the offsets are measured from the corner of the displayed page. Without signatureImage, nothing is drawn.
func TestPlacesOfStamps(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	turned := pdftest.Build(pdftest.Options{Page: "/Rotate 90"})
	for name, test := range map[string]struct {
		content []byte
		sent    fields
		want    []string
	}{
		"top left":     {page, manual, []string{"36 739 153 794"}},
		"top right":    {page, manual.with(inImage(fields{"alignment": "TopRight"})), []string{"442 739 559 794"}},
		"bottom left":  {page, manual.with(inImage(fields{"alignment": "BottomLeft"})), []string{"36 48 153 103"}},
		"bottom right": {page, manual.with(inImage(fields{"alignment": "BottomRight"})), []string{"442 48 559 103"}},
		"turned page":  {turned, manual, []string{"48 36 103 153"}},
		"an image":     {page, manual.with(ofImage(pngPicture(t), "Png")), []string{"36 754 116 794"}},
		"page 2 of 2":  {pdftest.Build(pdftest.Options{Pages: 2}), manual.with(inImage(fields{"page": 2})), []string{"36 739 153 794"}},
		"no stamp":     {page, fields{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			document := c.sign(startBody(idpSim).with(test.sent).with(fields{"file.contentB64": test.content}))
			c.signature(document)
			diff(t, "rectangles", test.want, rects(t, test.content, document))
		})
	}
}

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

// rectangle returns the rectangle in whole points around a PDF rectangle.
func rectangle(t *testing.T, text string) image.Rectangle {
	t.Helper()
	var llx, lly, urx, ury float64
	if _, err := fmt.Sscan(text, &llx, &lly, &urx, &ury); err != nil {
		t.Fatal(err)
	}
	return image.Rect(int(llx), int(lly), int(urx), int(ury))
}

// spec 3.1: a full page has no free slot.
func TestNoFreeSlot(t *testing.T) {
	c := start(t, wiring{renderer: newRenderer(t)}).signer(t)
	c.user(person)
	body := startBody(idpApp).with(inImage(fields{"alignment": "TopLeft", "positioning": "Auto"}))
	small := pdftest.Build(pdftest.Options{Page: "/MediaBox [0 0 100 100]"})
	c.wantProblem(c.start(body.with(fields{"file.contentB64": small})), http.StatusBadRequest, "No free signature slot")
	c.wantDocuments(0)
}

// The coordinates of a page may be larger than those that PDF/A permits for a stamp (ISO 19005-1 6.1.12).
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

// unchangeable returns a page whose author permits no changes.
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

// unreadyRenderer is a renderer that is not ready.
type unreadyRenderer struct{}

func (unreadyRenderer) Render(context.Context, io.ReaderAt, int64, int, int, int) (*image.RGBA, error) {
	return nil, stamp.ErrNotReady
}

// picture returns an image of one color, encoded by the standard library.
func picture(t *testing.T, encode func(io.Writer, image.Image) error) []byte {
	t.Helper()
	red := image.NewRGBA(image.Rect(0, 0, 40, 20))
	draw.Draw(red, red.Rect, image.NewUniform(color.RGBA{R: 200, A: 255}), image.Point{}, draw.Src)
	var encoded bytes.Buffer
	if err := encode(&encoded, red); err != nil {
		t.Fatal(err)
	}
	return encoded.Bytes()
}

func pngPicture(t *testing.T) []byte { t.Helper(); return picture(t, png.Encode) }

func jpegPicture(t *testing.T) []byte {
	t.Helper()
	return picture(t, func(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, nil) })
}

// manual is the standard stamp near the upper left corner.
var manual = fields{"signatureImage.alignment": "TopLeft", "signatureImage.originX": 36, "signatureImage.originY": 48}

// ofImage returns the fields for an image.
func ofImage(encoded []byte, kind string) fields {
	return fields{"signatureImage.imageB64": encoded, "signatureImage.imageType": kind, "signatureImage.width": 80, "signatureImage.height": 40}
}

// inImage returns fields of signatureImage.
func inImage(members fields) fields {
	f := fields{}
	for name, value := range members {
		f["signatureImage."+name] = value
	}
	return f
}

// spec 1.1, 1.3, 3.1 and 3.3: one answer names all faulty fields of signatureImage. TestEveryField has each field by
// itself.
func TestFaultySignatureImage(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	image := ofImage(pngPicture(t), "Png")
	auto := inImage(fields{"positioning": "Auto", "originX": absent{}, "originY": absent{}})
	for name, test := range map[string]struct {
		sent  fields
		paths string // within signatureImage
	}{
		"nothing in it":                {inImage(fields{"alignment": absent{}, "originX": absent{}, "originY": absent{}, "page": nil}), "alignment originX originY"},
		"no alignment with Auto":       {auto.with(inImage(fields{"alignment": nil})), "alignment"},
		"no origin":                    {inImage(fields{"originX": nil, "originY": absent{}}), "originX originY"},
		"half an image":                {image.with(inImage(fields{"imageB64": pngPicture(t)[:40]})), "imageB64"},
		"a JPEG that is said a PNG":    {ofImage(jpegPicture(t), "Png"), "imageB64"},
		"a PNG that is said a JPEG":    {ofImage(pngPicture(t), "Jpeg"), "imageB64"},
		"an image alone":               {image.with(inImage(fields{"imageType": absent{}, "width": absent{}, "height": nil})), "imageType width height"},
		"no Base64 alone":              {inImage(fields{"imageB64": "?"}), "imageB64 imageType width height"},
		"some of everything":           {image.with(inImage(fields{"alignment": "Left", "originX": nil, "page": "first", "imageType": "Webp", "zoom": 0, "scaling": 3})), "alignment originX page imageType zoom scaling"},
		"a place off the page":         {inImage(fields{"originX": 480}), "originX originY"},
		"a place far off the page":     {inImage(fields{"originY": 1e300}), "originX originY"},
		"an image off the page":        {image.with(inImage(fields{"originX": 516})), "originX originY width height"},
		"an image larger than a page":  {image.with(inImage(fields{"width": 700})), "originX originY width height"},
		"an image off the page, below": {image.with(inImage(fields{"alignment": "BottomRight", "originY": 810})), "originX originY width height"},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			var paths []string
			for _, member := range strings.Fields(test.paths) {
				paths = append(paths, "signatureImage."+member)
			}
			c.wantInvalid(c.start(startBody(idpApp).with(manual).with(test.sent)), paths...)
			c.wantDocuments(0)
		})
	}
}

// number is a number with its exact notation.
type number string

func (n number) MarshalJSON() ([]byte, error) { return []byte(n), nil }

// spec 3.3: an XML document has no pages.
func TestSignatureImageOnXml(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.wantInvalid(c.start(startBody(idpApp).with(manual).with(fields{"file.type": "Xml"})), "signatureImage")
}

// Fields that do not apply are ignored (spec 3.3), and null counts as absent.
func TestSignatureImageWithMoreThanItNeeds(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	for name, sent := range map[string]fields{
		"sides without an image":   inImage(fields{"width": -5, "height": 1e9}),
		"drawing without an image": inImage(fields{"imageType": "Gif", "zoom": 0, "scaling": "none"}),
		"nulls":                    inImage(fields{"positioning": nil, "page": nil, "imageB64": nil, "imageType": nil, "width": nil, "height": nil, "zoom": nil, "scaling": nil}),
		"defaults":                 inImage(fields{"positioning": "Manual", "page": 1}),
		"a page with a fraction":   inImage(fields{"page": number("1.0")}),
		"unused members":           inImage(fields{"opacity": 0.5}),
		"half a point off":         inImage(fields{"originX": 478.4}),
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			c.signature(c.sign(startBody(idpSim).with(manual).with(sent)))
		})
	}
}

// spec 3.1: the refusals of stamps, in their order.
func TestRefusedStamps(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	signed := c.sign(startBody(idpSim).with(manual))
	for name, test := range map[string]struct {
		content []byte
		sent    fields
		title   string
	}{
		"not a PDF":              {[]byte("This is no PDF."), inImage(fields{"page": 0}), "Document could not be read"},
		"cut off":                {page[:len(page)/2], fields{}, "Document could not be read"},
		"needs a password":       {lockedPage, fields{}, "Document could not be read"},
		"broken signature":       {bytes.Replace(signed, []byte("/ByteRange [0"), []byte("/ByteRange [1"), 1), inImage(fields{"originX": 300}), "Document could not be read"},
		"page 0":                 {page, inImage(fields{"page": 0}), "Signature page does not exist"},
		"page -1":                {page, inImage(fields{"page": -1}), "Signature page does not exist"},
		"page 2 of 1":            {signed, inImage(fields{"page": 2}), "Signature page does not exist"},
		"page 2^32 + 1":          {page, inImage(fields{"page": 1<<32 + 1}), "Signature page does not exist"},
		"page 1e30":              {page, inImage(fields{"page": number("1e30")}), "Signature page does not exist"},
		"page -1e400":            {page, inImage(fields{"page": number("-1e400")}), "Signature page does not exist"},
		"over another":           {signed, inImage(fields{"originX": 150}), "Stamp overlaps another signature"},
		"over another, an image": {signed, ofImage(jpegPicture(t), "Jpeg"), "Stamp overlaps another signature"},
		"no renderer":            {page, inImage(fields{"positioning": "Auto"}), "No free signature slot"},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			body := startBody(idpApp).with(manual).with(test.sent).with(fields{"file.contentB64": test.content, "busySignal.id": "6e1f5c9e-6c2f-4a0e-9a65-0f6d2a3c8b11"})
			c.wantProblem(c.start(body), http.StatusBadRequest, test.title)
			c.wantDocuments(0)
		})
	}
	c.wantProblem(c.start(startBody(idpApp).with(manual).with(fields{"busySignal.id": "6e1f5c9e-6c2f-4a0e-9a65-0f6d2a3c8b11"})), http.StatusNotFound, "Not found")
	c.wantDocuments(0)
}
