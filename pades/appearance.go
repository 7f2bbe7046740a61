package pades

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/innsigli/innsigli/internal/pdf"
)

// ErrAppearance: the appearance is not a PDF of one page that can be drawn in a field.
var ErrAppearance = errors.New("pades: appearance cannot be used")

// maxAppearance bounds the bytes of an appearance, and of the decoded content of its page.
const maxAppearance = 8 << 20

// formXObject is a form XObject (ISO 32000-2 8.10) with the entries of table 93 that it needs.
type formXObject struct {
	box       pdf.Rect
	matrix    matrix
	resources []byte // source text
	filter    string // source text; empty for none
	content   []byte // encoded by filter
}

// addAppearance adds the form XObject (ISO 32000-2 8.10) that a widget of width by height points
// shows on a page that is displayed rotated clockwise by rotate degrees. The form shows the page of
// the PDF in appearance upright, as large as fits and centred; nil draws nothing. The form has no
// transparency group, which PDF/A-1 forbids.
func addAppearance(update *pdf.Update, rotate int, width, height float64, appearance []byte) (pdf.Ref, error) {
	if !(width >= 0 && width <= maxReal && height >= 0 && height <= maxReal) {
		return pdf.Ref{}, fmt.Errorf("%w: field of %g by %g points", pdf.ErrLimit, width, height)
	}
	displayed := box{width, height}.rotated(rotate)
	form := formXObject{box: pdf.Rect{URX: displayed.width, URY: displayed.height}, resources: []byte("<< >>")}
	form.matrix = displayed.rotationMatrix(360 - rotate)
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

// addAppearancePage adds the page of another PDF as a form XObject that is as large as fits into a
// box, and centred there. The BBox of that form clips it to the visible part of the page.
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

// openAppearance opens a PDF of one page and returns its page.
func openAppearance(appearance []byte) (*pdf.File, *pdf.Page, error) {
	if len(appearance) > maxAppearance {
		return nil, nil, fmt.Errorf("it has %d bytes, more than %d", len(appearance), maxAppearance)
	}
	file, err := pdf.Open(bytes.NewReader(appearance), int64(len(appearance)))
	if err != nil {
		return nil, nil, err
	}
	pages, err := file.PageCount()
	if err != nil {
		return nil, nil, err
	}
	if pages != 1 {
		return nil, nil, fmt.Errorf("it has %d pages", pages)
	}
	if err := checkDrawable(file); err != nil {
		return nil, nil, err
	}
	page, err := file.Page(1)
	return file, page, err
}

// checkDrawable refuses a PDF whose page would look different without the trailer and the catalog
// of its file: one with encrypted streams, or one with optional content that is off (ISO 32000-2
// 8.11.4.3), which would become visible.
func checkDrawable(file *pdf.File) error {
	if file.Trailer()["Encrypt"] != nil {
		return errors.New("it is encrypted")
	}
	_, catalog, err := file.Catalog()
	if err != nil {
		return err
	}
	optional, err := file.Dict(catalog["OCProperties"])
	if err != nil {
		return err
	}
	configuration, err := file.Dict(optional["D"])
	if err != nil {
		return err
	}
	off, err := file.Array(configuration["OFF"])
	if base := configuration["BaseState"]; err == nil && (len(off) > 0 || base != nil && base != pdf.Name("ON")) {
		err = errors.New("it has optional content that is off")
	}
	return err
}

// pageContent returns the compressed content of a page, with a line break after each content
// stream: streams are divided between lexical tokens (ISO 32000-2 table 31).
func pageContent(file *pdf.File, page *pdf.Page) ([]byte, error) {
	streams, err := contentStreams(file, page.Dict["Contents"])
	if err != nil {
		return nil, err
	}
	var compressed bytes.Buffer
	w := zlib.NewWriter(&compressed)
	for left := int64(maxAppearance); len(streams) > 0; streams = streams[1:] {
		stream, err := file.StreamObject(streams[0])
		if err != nil {
			return nil, err
		}
		if stream == nil {
			continue
		}
		content, err := file.Stream(stream, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(content))
		w.Write(append(content, '\n')) // a bytes.Buffer returns no error
	}
	err = w.Close()
	return compressed.Bytes(), err
}

// contentStreams returns the content streams of a page: Contents is one stream or an array of them.
func contentStreams(file *pdf.File, contents pdf.Object) (pdf.Array, error) {
	o, err := file.Resolve(contents)
	if err != nil {
		return nil, err
	}
	if array, ok := o.(pdf.Array); ok {
		return array, nil
	}
	return pdf.Array{contents}, nil
}

// importResources copies the resources of a page into the update and returns their source.
func importResources(update *pdf.Update, file *pdf.File, page *pdf.Page) ([]byte, error) {
	switch resources := page.Resources.(type) {
	case nil:
		return []byte("<< >>"), nil
	case pdf.Ref:
		return update.Import(file, []byte(resources.String()))
	}
	source, err := inheritedSource(file, page.Ref, "Resources")
	if err != nil {
		return nil, err
	}
	return update.Import(file, source)
}

// inheritedSource returns the source of an attribute that a page has or inherits (ISO 32000-2
// 7.7.3.4).
func inheritedSource(file *pdf.File, node pdf.Ref, key pdf.Name) ([]byte, error) {
	for range 64 {
		source, err := file.Source(node)
		if err != nil {
			return nil, err
		}
		if value, ok, err := pdf.Key(source, key); ok || err != nil {
			return value, err
		}
		dict, err := file.Dict(node)
		if err != nil {
			return nil, err
		}
		parent, ok := dict["Parent"].(pdf.Ref)
		if !ok {
			break
		}
		node = parent
	}
	return nil, fmt.Errorf("%w: page tree whose Parent entries do not lead to the inherited %s", pdf.ErrDamaged, key)
}

// matrix is the transformation matrix [a b c d e f] of ISO 32000-2 8.3.3: x' = ax + cy + e, y' = bx
// + dy + f.
type matrix [6]float64

// then returns the transformation by m, followed by that by n.
func (m matrix) then(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

func translation(x, y float64) matrix { return matrix{1, 0, 0, 1, x, y} }

func scaling(s float64) matrix { return matrix{s, 0, 0, s, 0, 0} }

// box is a rectangle whose lower left corner is the origin.
type box struct{ width, height float64 }

// rotated returns the size of the box after a rotation by a multiple of 90 degrees.
func (b box) rotated(degrees int) box {
	if degrees%180 != 0 {
		return box{b.height, b.width}
	}
	return b
}

// rotationMatrix returns the matrix that rotates the box clockwise by a multiple of 90 degrees and
// moves its lower left corner back to the origin.
func (b box) rotationMatrix(degrees int) matrix {
	switch degrees % 360 {
	case 90:
		return matrix{0, -1, 1, 0, 0, b.width}
	case 180:
		return matrix{-1, 0, 0, -1, b.width, b.height}
	case 270:
		return matrix{0, 1, -1, 0, b.height, 0}
	}
	return matrix{1, 0, 0, 1, 0, 0}
}

// fit returns the matrix that maps the visible part r of a page, rotated as it is displayed, into
// the middle of a box. It keeps the proportions.
func fit(r pdf.Rect, rotate int, into box) (matrix, error) {
	page := box{r.URX - r.LLX, r.URY - r.LLY}
	if !(page.width >= 1 && page.height >= 1) || min(r.LLX, r.LLY) < -maxReal || max(r.URX, r.URY) > maxReal {
		return matrix{}, fmt.Errorf("its page has an unusable size of %g by %g points", page.width, page.height)
	}
	shown := page.rotated(rotate)
	scale := min(into.width/shown.width, into.height/shown.height)
	margin := box{into.width - scale*shown.width, into.height - scale*shown.height}
	return translation(-r.LLX, -r.LLY).then(page.rotationMatrix(rotate)).then(scaling(scale)).
		then(translation(margin.width/2, margin.height/2)), nil
}

// numbers writes real numbers with up to 6 decimals. PDF has no exponents (ISO 32000-2 7.3.3).
func numbers(values ...float64) []byte {
	var out []byte
	for i, v := range values {
		if i > 0 {
			out = append(out, ' ')
		}
		rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', 6, 64), 64)
		out = strconv.AppendFloat(out, rounded+0, 'f', -1, 64) // +0 avoids a negative zero
	}
	return out
}
