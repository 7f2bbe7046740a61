package pdflint

import (
	"bytes"

	"github.com/innsigli/innsigli/internal/pdf"
)

// Flags of an annotation (table 167).
const (
	invisible = 1 << 0
	hidden    = 1 << 1
	printed   = 1 << 2
	noRotate  = 1 << 4
	noView    = 1 << 5
)

func (l *linter) checkFlags(w formField) {
	flags, err := l.new.Int(w.dict["F"])
	if err != nil || flags&printed == 0 || flags&(invisible|hidden|noView|noRotate) != 0 {
		l.fault(WidgetFlags, "%d for %s", flags, w.ref)
	}
}

// checkPlace: a new field is its own widget, on the first page: that lists it last among
// what it had, and the widget names the page.
func (l *linter) checkPlace(field formField) {
	before, err1 := l.old.Page(1)
	after, err2 := l.new.Page(1)
	if err1 != nil || err2 != nil {
		l.fault(Annots, "no first page: %v, %v", err1, err2)
		return
	}
	if field.dict["P"] != after.Ref {
		l.fault(Annots, "%s says that it is on %v, and the first page is %s", field.ref, field.dict["P"], after.Ref)
	}
	was, _ := l.old.Array(before.Dict["Annots"])
	is, err := l.new.Array(after.Dict["Annots"])
	if err != nil || len(is) != len(was)+1 || is[len(was)] != field.ref {
		l.fault(Annots, "%v on the page of %s, and were %v", is, field.ref, was)
	}
}

// checkAppearance: there is a normal one, and no other, unless it is the author's. A
// document timestamp needs none (12.8.5).
func (l *linter) checkAppearance(w formField) {
	value, err := l.new.Dict(w.dict["V"])
	if l.keptAppearance(w) || w.dict["AP"] == nil && err == nil && isTimestamp(value) {
		return
	}
	appearances, err := l.new.Dict(w.dict["AP"])
	if err != nil || len(appearances) != 1 {
		l.fault(Appearance, "of %s: %v, %v", w.ref, w.dict["AP"], err)
		return
	}
	if s, err := l.new.StreamObject(appearances["N"]); s == nil || err != nil {
		l.fault(Appearance, "of %s is %v", w.ref, appearances["N"])
	}
}

// keptAppearance says whether the widget is drawn as it was: its entry is what it was,
// byte for byte, and has a normal appearance.
func (l *linter) keptAppearance(w formField) bool {
	before, err1 := appearanceSource(l.old, w.ref)
	after, err2 := appearanceSource(l.new, w.ref)
	if err1 != nil || err2 != nil || before == nil || !bytes.Equal(before, after) {
		return false
	}
	appearances, err1 := l.new.Dict(w.dict["AP"])
	normal, err2 := l.new.Resolve(appearances["N"])
	return err1 == nil && err2 == nil && normal != nil
}

// appearanceSource is the source text of a widget's AP, or nil.
func appearanceSource(file *pdf.File, widget pdf.Ref) ([]byte, error) {
	source, err := file.Source(widget)
	if err != nil {
		return nil, err
	}
	value, ok, err := pdf.Key(source, "AP")
	if !ok {
		return nil, err
	}
	return value, err
}
