package pdflint

import (
	"math"

	"github.com/innsigli/innsigli/internal/pdf"
)

// Place is where the widget of a new field is to be. Without an area it is invisible.
type Place struct {
	Page int // the first is 1
	Rect pdf.Rect
}

func (p Place) shown() bool { return p.Rect.LLX < p.Rect.URX && p.Rect.LLY < p.Rect.URY }

// checkPlace: a new field is its own widget. The page lists it last among what it had, and
// the widget names the page.
func (l *linter) checkPlace(field formField) {
	before, err1 := l.old.Page(l.asked.Page)
	after, err2 := l.new.Page(l.asked.Page)
	if err1 != nil || err2 != nil {
		l.fault(Annots, "no page %d: %v, %v", l.asked.Page, err1, err2)
		return
	}
	if field.dict["P"] != after.Ref {
		l.fault(Annots, "%s says that it is on %v, and page %d is %s", field.ref, field.dict["P"], l.asked.Page, after.Ref)
	}
	was, _ := l.old.Array(before.Dict["Annots"])
	is, err := l.new.Array(after.Dict["Annots"])
	if err != nil || len(is) != len(was)+1 || is[len(was)] != field.ref {
		l.fault(Annots, "%v on the page of %s, and were %v", is, field.ref, was)
	}
	l.checkRect(field)
}

// nearly is how far numbers in a file may be from what they are to be.
const nearly = 0.001

func (l *linter) checkRect(field formField) {
	corners, err := l.new.Array(field.dict["Rect"])
	rect := l.asked.Rect
	want := []float64{rect.LLX, rect.LLY, rect.URX, rect.URY}
	wrong := err != nil || len(corners) != len(want)
	for i := 0; !wrong && i < len(want); i++ {
		is, err := l.new.Number(corners[i])
		wrong = err != nil || math.Abs(is-want[i]) > nearly
	}
	if wrong {
		l.fault(Rect, "of %s is %v, and was to be %v", field.ref, field.dict["Rect"], want)
	}
}

// checkDrawn: what is shown is something, and its box is that of the widget as displayed
// (12.5.5).
func (l *linter) checkDrawn(appearance *pdf.Stream) {
	content, err := l.new.Stream(appearance, 1<<20)
	if err != nil || len(content) == 0 {
		l.fault(Appearance, "nothing is drawn: %v", err)
	}
	page, err := l.new.Page(l.asked.Page)
	if err != nil {
		return // judged by checkPlace
	}
	box, err := l.new.Rect(appearance.Dict["BBox"])
	width, height := l.asked.Rect.URX-l.asked.Rect.LLX, l.asked.Rect.URY-l.asked.Rect.LLY
	if page.Rotate%180 != 0 {
		width, height = height, width
	}
	if err != nil || math.Abs(box.URX-box.LLX-width) > nearly || math.Abs(box.URY-box.LLY-height) > nearly {
		l.fault(Appearance, "box %v on a page turned by %d, %v", box, page.Rotate, err)
	}
}
