package httpapi_test

import (
	"bytes"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// newRenderer is the renderer that the program uses, ready, with its code compiled once for all tests.
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

// rects are the rectangles of what was added to a document and can be seen, in the page's user space.
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

// spec 3.3: the offsets are measured from the corner, on the page as displayed; without
// signatureImage nothing is drawn.
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

// spec 3.3: the certificate's name, which is the one that the sandbox user was
// created with (spec 6.3), the kennitala, the signing time and the reason.
func TestTextOfTheStandardStamp(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	id := c.user(person.with(fields{"fullName": "Þórður Ægir Öðinsson"}))
	c.update(id, fields{"fullName": "Somebody Else"})
	for _, method := range methods {
		document := c.sign(startBody(method).with(manual).with(fields{"signer.reason": "Samþykkt"}))
		signed := c.signature(document).ClaimedTime.UTC()
		text := shownText(t, document)
		for shown, want := range map[string]bool{
			"Þórður Ægir Öðinsson": true, "010130-2989": true, "Samþykkt": true, "Somebody": false,
			signed.Format("15:04"): true, signed.Format("2006"): true,
		} {
			if strings.Contains(text, shown) != want {
				t.Errorf("%s: %q is shown: %t, of\n%s", method, shown, !want, text)
			}
		}
	}
}

// shownText is the text that a document shows, its lines put together.
func shownText(t *testing.T, document []byte) string {
	t.Helper()
	command := exec.Command(testenv.Program(t, "pdftotext"), "-", "-")
	command.Stdin = bytes.NewReader(document)
	text, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

// A custom image is seen where it was asked for, and has no text.
func TestStampWithAnImage(t *testing.T) {
	c := start(t, wiring{}).signer(t)
	c.user(person)
	renderer := newRenderer(t)
	for name, image := range map[string]fields{"Png": ofImage(pngPicture(t), "Png"), "Jpeg": ofImage(jpegPicture(t), "Jpeg")} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			document := c.sign(startBody(idpSim).with(manual).with(image))
			c.signature(document)
			if text := shownText(t, document); text != "" {
				t.Errorf("shown is %q", text)
			}
			drawn, err := renderer.Render(t.Context(), bytes.NewReader(document), int64(len(document)), 1, 595, 842)
			if err != nil {
				t.Fatal(err)
			}
			in, out := drawn.RGBAAt(36+40, 48+20), drawn.RGBAAt(36+85, 48+20)
			if in.R < 150 || in.G > 50 || out.G < 250 {
				t.Errorf("in the place is %v, beside it %v", in, out)
			}
			c.wantDocuments(0)
		})
	}
}
