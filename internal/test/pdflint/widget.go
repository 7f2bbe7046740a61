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
	s, err := l.new.StreamObject(appearances["N"])
	if s == nil || err != nil {
		l.fault(Appearance, "of %s is %v", w.ref, appearances["N"])
		return
	}
	if l.asked.shown() && l.newObject(w.ref) {
		l.checkDrawn(s)
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
