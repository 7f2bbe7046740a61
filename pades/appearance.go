package pades

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/innsigli/innsigli/internal/pdf"
)

// ErrAppearance: the appearance is not a PDF of one page that can be drawn in a field.
var ErrAppearance = errors.New("pades: appearance cannot be used")

// maxAppearance bounds the bytes of an appearance, and of its page's decoded content.
const maxAppearance = 8 << 20

// addAppearance adds the form XObject (ISO 32000-2 8.10) that is drawn in a widget's
// rectangle of width by height points on a page that is displayed turned clockwise by
// rotate degrees. It shows the page of the PDF in appearance upright, as large as fits and
// centred; nil draws nothing. It has no transparency group, which PDF/A-1 forbids.
func addAppearance(update *pdf.Update, rotate int, width, height float64, appearance []byte) (pdf.Ref, error) {
	if !(width >= 0 && width <= maxReal && height >= 0 && height <= maxReal) {
		return pdf.Ref{}, fmt.Errorf("%w: field of %g by %g points", pdf.ErrLimit, width, height)
	}
	displayed := box{width, height}.turned(rotate)
	form := formXObject{box: pdf.Rect{URX: displayed.width, URY: displayed.height}, resources: []byte("<< >>")}
	form.matrix = displayed.turn(360 - rotate)
	if appearance != nil {
		page, err := addAppearancePage(update, displayed, appearance)
		if err != nil {
			return pdf.Ref{}, fmt.Errorf("%w: %v", ErrAppearance, err)
		}
		form.resources = fmt.Appendf(nil, "<< /XObject << /Page %s >> >>", page)
		form.content = []byte("q /Page Do Q")
	}
	return update.Add(form.body()), nil
}

// addAppearancePage adds the page of another PDF as a form that is as large as fits into
// a box, and centred there. Being a form of its own, it is clipped to what it is of the page.
func addAppearancePage(update *pdf.Update, into box, appearance []byte) (pdf.Ref, error) {
	file, page, err := openAppearance(appearance)
	if err != nil {
		return pdf.Ref{}, err
	}
	form := formXObject{box: page.Visible(), filter: "/FlateDecode"}
	if form.matrix, err = fit(form.box, page.Rotate, into); err != nil {
		return pdf.Ref{}, err
	}
	if form.content, err = pageContent(file, page); err != nil {
		return pdf.Ref{}, err
	}
	if form.resources, err = importResources(update, file, page); err != nil {
		return pdf.Ref{}, err
	}
	return update.Add(form.body()), nil
}

// formXObject is a form with the entries of ISO 32000-2 table 93 that it needs.
type formXObject struct {
	box       pdf.Rect
	matrix    matrix
	resources []byte // source text
	filter    string // source text; empty for none
	content   []byte // encoded by filter
}

func (f formXObject) body() []byte {
	var b bytes.Buffer
	box := numbers(f.box.LLX, f.box.LLY, f.box.URX, f.box.URY)
	fmt.Fprintf(&b, "<< /Type /XObject /Subtype /Form /BBox [%s] /Matrix [%s] /Resources %s", box, numbers(f.matrix[:]...), f.resources)
	if f.filter != "" {
		fmt.Fprintf(&b, " /Filter %s", f.filter)
	}
	fmt.Fprintf(&b, " /Length %d >>\nstream\n", len(f.content))
	return slices.Concat(b.Bytes(), f.content, []byte("\nendstream"))
}
