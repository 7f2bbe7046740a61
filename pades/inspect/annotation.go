package inspect

import (
	"bytes"

	"github.com/innsigli/innsigli/internal/pdf"
)

// Flags of annotations (Table 167).
const (
	flagHidden       = 1 << 1
	flagPrint        = 1 << 2
	flagNoView       = 1 << 5
	flagToggleNoView = 1 << 8
)

func (w *walk) isAnnotation(d pdf.Dict) bool { return d["Rect"] != nil && d["Subtype"] != nil }

// annotation reports an annotation that prints otherwise than it shows. Links and pop-up windows have nothing to print,
// and an annotation without content shows nothing either.
func (w *walk) annotation(d pdf.Dict, c position) reasons {
	if !w.isAnnotation(d) {
		return 0
	}
	kind := w.name(d["Subtype"])
	if kind == "Movie" || kind == "Screen" || kind == "RichMedia" || kind == "3D" {
		return w.found(w.page, c.object, media)
	}
	flags, err := w.file.Int(d["F"])
	if !w.readable(err, c.object) || flags&flagHidden != 0 || kind == "Link" || kind == "Popup" || !w.hasArea(d, c) {
		return 0
	}
	if kind == "Watermark" && d["FixedPrint"] != nil {
		return w.found(w.page, c.object, fixedPrint)
	}
	appearances, err := w.file.Dict(d["AP"])
	if !w.readable(err, c.object) || !w.paints(kind, d, appearances, c) {
		return 0
	}
	printed, shown := flags&flagPrint != 0, flags&flagNoView == 0
	var all reasons
	switch {
	case flags&flagToggleNoView != 0 && (printed || !shown):
		all = w.found(w.page, c.object, underPointer)
	case printed && !shown:
		all = w.found(w.page, c.object, printedOnly)
	case shown && !printed:
		all = w.found(w.page, c.object, shownOnly)
	}
	normal, _ := appearances["N"].(pdf.Ref)
	if under, isRef := appearances["R"].(pdf.Ref); shown && appearances["R"] != nil && !(isRef && under == normal) {
		all |= w.found(w.page, c.object, rollover)
	}
	return all
}

func (w *walk) hasArea(d pdf.Dict, c position) bool {
	r, err := w.file.Rect(d["Rect"])
	return w.readable(err, c.object) && r.URX > r.LLX && r.URY > r.LLY
}

// paints reports whether an annotation has something to show. Without an appearance, viewers draw one for all kinds but
// form fields.
func (w *walk) paints(kind pdf.Name, d, appearances pdf.Dict, c position) bool {
	if appearances["N"] == nil {
		return kind != "Widget"
	}
	normal, err := w.file.Resolve(appearances["N"])
	if !w.readable(err, c.object) {
		return true
	}
	if states, ok := normal.(pdf.Dict); ok { // one appearance for each state, such as that of a check box
		normal, err = w.file.Resolve(states[w.name(d["AS"])])
		if !w.readable(err, c.object) {
			return true
		}
	}
	stream, ok := normal.(*pdf.Stream)
	return ok && w.streamPaints(stream)
}

// maxAppearance bounds the content that streamPaints decodes.
const maxAppearance = 64 << 10

// streamPaints reports whether a content stream has an operator that paints (Annex A). A stream that cannot be decoded
// counts as one.
func (w *walk) streamPaints(s *pdf.Stream) bool {
	content, err := w.file.Stream(s, maxAppearance)
	if err != nil {
		return true
	}
	isDelimiter := func(r rune) bool {
		return r <= ' ' || r == '(' || r == ')' || r == '<' || r == '>' || r == '[' || r == ']' || r == '/' || r == '%'
	}
	for _, word := range bytes.FieldsFunc(content, isDelimiter) {
		if painting[string(word)] {
			return true
		}
	}
	return false
}

// painting are the operators that paint.
var painting = map[string]bool{
	"Tj": true, "TJ": true, "'": true, "\"": true, "f": true, "F": true, "f*": true, "B": true, "B*": true,
	"b": true, "b*": true, "S": true, "s": true, "Do": true, "sh": true, "BI": true,
}
