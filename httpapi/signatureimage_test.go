package httpapi_test

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"strings"
	"testing"
)

// picture is an image of one colour, encoded by a package of the standard library.
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

// ofImage are the fields that go with an image.
func ofImage(encoded []byte, kind string) fields {
	return fields{"signatureImage.imageB64": encoded, "signatureImage.imageType": kind, "signatureImage.width": 80, "signatureImage.height": 40}
}

// inImage are fields of signatureImage.
func inImage(members fields) fields {
	f := fields{}
	for name, value := range members {
		f["signatureImage."+name] = value
	}
	return f
}

// spec 1.1, 1.3, 3.1 and 3.3: all the fields of
// signatureImage that are missing or invalid, in one answer.
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
		"no alignment":                 {inImage(fields{"alignment": absent{}}), "alignment"},
		"no alignment with Auto":       {auto.with(inImage(fields{"alignment": nil})), "alignment"},
		"an alignment that is none":    {inImage(fields{"alignment": "Middle"}), "alignment"},
		"alignment in another case":    {inImage(fields{"alignment": "topleft"}), "alignment"},
		"no origin":                    {inImage(fields{"originX": nil, "originY": absent{}}), "originX originY"},
		"no origin with Manual":        {inImage(fields{"positioning": "Manual", "originX": absent{}}), "originX"},
		"origin outwards":              {inImage(fields{"originX": -0.001, "originY": -5}), "originX originY"},
		"origin of text":               {inImage(fields{"originX": "36", "originY": true}), "originX originY"},
		"positioning that is none":     {auto.with(inImage(fields{"positioning": "Automatic"})), "positioning"},
		"positioning of another type":  {inImage(fields{"positioning": 1}), "positioning"},
		"page of text":                 {inImage(fields{"page": "1"}), "page"},
		"half a page":                  {inImage(fields{"page": 1.5}), "page"},
		"no Base64":                    {image.with(inImage(fields{"imageB64": "?"})), "imageB64"},
		"an empty image":               {image.with(inImage(fields{"imageB64": ""})), "imageB64"},
		"image of another type":        {image.with(inImage(fields{"imageB64": 5})), "imageB64"},
		"no image":                     {image.with(inImage(fields{"imageB64": []byte("This is no image.")})), "imageB64"},
		"half an image":                {image.with(inImage(fields{"imageB64": pngPicture(t)[:40]})), "imageB64"},
		"a JPEG that is said a PNG":    {ofImage(jpegPicture(t), "Png"), "imageB64"},
		"a PNG that is said a JPEG":    {ofImage(pngPicture(t), "Jpeg"), "imageB64"},
		"an image alone":               {image.with(inImage(fields{"imageType": absent{}, "width": absent{}, "height": nil})), "imageType width height"},
		"no Base64 alone":              {inImage(fields{"imageB64": "?"}), "imageB64 imageType width height"},
		"an imageType that is none":    {ofImage(pngPicture(t), "Gif"), "imageType"},
		"sides of nothing":             {image.with(inImage(fields{"width": 0, "height": -40})), "width height"},
		"sides that are too long":      {image.with(inImage(fields{"width": 14400.5, "height": 1e9})), "width height"},
		"zoom of nothing":              {image.with(inImage(fields{"zoom": 0})), "zoom"},
		"zoom too much":                {image.with(inImage(fields{"zoom": 1001})), "zoom"},
		"half a percent":               {image.with(inImage(fields{"zoom": 99.5})), "zoom"},
		"scaling that is none":         {image.with(inImage(fields{"scaling": "stretch"})), "scaling"},
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

// number is one as it is written.
type number string

func (n number) MarshalJSON() ([]byte, error) { return []byte(n), nil }

// spec 3.3: an XML document has no pages.
func TestSignatureImageOnXml(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.wantInvalid(c.start(startBody(idpApp).with(manual).with(fields{"file.type": "Xml"})), "signatureImage")
}

// What does not apply is not looked at (spec 3.3), and what is null is absent.
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
		"members nobody asks of":   inImage(fields{"opacity": 0.5}),
		"half a point off":         inImage(fields{"originX": 478.4}),
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			c.signature(c.sign(startBody(idpSim).with(manual).with(sent)))
		})
	}
}

// spec 3.1: the titled answers, in their order.
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
