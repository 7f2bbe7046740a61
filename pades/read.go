package pades

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"github.com/innsigli/innsigli/internal/pdf"
)

// signatureField is a form field with a signature in it.
type signatureField struct {
	name      string // fully qualified
	signature pdf.Dict
}

const (
	maxFieldDepth = 32
	maxFields     = 100_000
)

// signatureFields walks the form for signed signature fields. Document timestamps
// are no signatures of a person and are left out.
func signatureFields(file *pdf.File) ([]signatureField, error) {
	_, catalog, err := file.Catalog()
	if err != nil {
		return nil, err
	}
	form, err := file.Dict(catalog["AcroForm"])
	if err != nil {
		return nil, err
	}
	w := fieldWalk{file: file, seen: make(map[pdf.Ref]bool)}
	if err := w.children(form["Fields"], "", "", 0); err != nil {
		return nil, err
	}
	return w.found, nil
}

// fieldWalk goes down the field tree. Names and the field type are inherited
// (ISO 32000-2 12.7.4.1).
type fieldWalk struct {
	file  *pdf.File
	seen  map[pdf.Ref]bool
	found []signatureField
}

func (w *fieldWalk) children(kids pdf.Object, parent string, kind pdf.Name, depth int) error {
	array, err := w.file.Array(kids)
	if err != nil {
		return err
	}
	for _, kid := range array {
		if ref, ok := kid.(pdf.Ref); ok {
			if w.seen[ref] {
				continue
			}
			w.seen[ref] = true
		}
		if depth > maxFieldDepth || len(w.seen) > maxFields {
			return fmt.Errorf("%w: form fields", pdf.ErrLimit)
		}
		// What is no dictionary is no field; the others are still looked at.
		if field, err := w.file.Dict(kid); err == nil && field != nil {
			if err := w.visit(field, parent, kind, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *fieldWalk) visit(field pdf.Dict, parent string, kind pdf.Name, depth int) error {
	if t, err := w.file.Name(field["FT"]); err == nil && t != "" {
		kind = t
	}
	name := parent
	if t, err := w.file.Bytes(field["T"]); err == nil && t != nil {
		name = pdf.Text(pdf.String(t))
		if parent != "" {
			name = parent + "." + name
		}
	}
	if kind == "Sig" {
		if signature, err := w.file.Dict(field["V"]); err == nil && signature != nil && !isTimestamp(w.file, signature) {
			w.found = append(w.found, signatureField{name, signature})
		}
	}
	return w.children(field["Kids"], name, kind, depth+1)
}

func isTimestamp(file *pdf.File, signature pdf.Dict) bool {
	filter, err := file.Name(signature["SubFilter"])
	return err == nil && filter == "ETSI.RFC3161"
}

// byteRange is everything but the gap from gap to gapEnd, up to size.
type byteRange struct{ gap, gapEnd, size int64 }

func (r byteRange) end() int64 { return r.size }

// parts are offsets and lengths.
func (r byteRange) parts() [2][2]int64 { return [2][2]int64{{0, r.gap}, {r.gapEnd, r.size - r.gapEnd}} }

// readRange reads ByteRange and the bytes of its gap, which have to be the
// hexadecimal string of Contents and nothing else: whatever else hid there would be
// shown and not be signed (ISO 32000-2 12.8.1). The problem is empty when all is
// well.
func (v *verification) readRange() (problem string) {
	array, err := v.file.Array(v.field.signature["ByteRange"])
	if err != nil || len(array) != 4 {
		return "ByteRange is not an array of four integers."
	}
	var n [4]int64
	for i, o := range array {
		if n[i], err = v.file.Int(o); err != nil {
			return "ByteRange is not an array of four integers."
		}
	}
	r := byteRange{gap: n[1], gapEnd: n[2], size: n[2] + n[3]}
	if n[0] != 0 || r.gap <= 0 || r.gapEnd <= r.gap+1 || n[3] < 0 || r.size < r.gapEnd || r.size > v.doc.Size {
		return "ByteRange does not lie within the document."
	}
	if r.gapEnd-r.gap > maxContents {
		return "The signature is too long."
	}
	gap := make([]byte, r.gapEnd-r.gap)
	if n, err := v.doc.ReadAt(gap, r.gap); n < len(gap) {
		return fmt.Sprintf("The signature cannot be read: %v.", err)
	}
	v.ranges = r
	contents, err := v.file.Bytes(v.field.signature["Contents"])
	if err != nil {
		return "Contents is not a string."
	}
	last := len(gap) - 1
	if gap[0] != '<' || gap[last] != '>' {
		return "What ByteRange leaves out is not the signature."
	}
	v.contents = make([]byte, hex.DecodedLen(last-1))
	if _, err := hex.Decode(v.contents, gap[1:last]); err != nil || !bytes.Equal(v.contents, contents) {
		return "What ByteRange leaves out is not the signature."
	}
	return ""
}
