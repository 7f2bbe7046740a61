package pdflint

import (
	"bytes"
	"cmp"
	"math"
	"strings"

	"github.com/innsigli/innsigli/internal/pdf"
)

// checkField checks the field whose value is the new signature, and its widgets.
func (l *linter) checkField() {
	field, ok := l.signedField()
	if !ok {
		return // checkValue reports this
	}
	l.checkLocks(field)
	if l.newObject(field.ref) {
		l.checkName(field.dict)
		l.checkPlace(field)
		l.checkTagged(field)
	}
	for _, w := range l.widgets(field) {
		l.checkFlags(w)
		l.checkAppearance(w)
	}
}

// holders returns the objects of the increment whose value is the new signature.
func (l *linter) holders() (refs []pdf.Ref) {
	signature, _, _ := l.signature()
	for _, o := range l.objects {
		value, err := l.new.Object(o.ref)
		if dict, ok := value.(pdf.Dict); err == nil && ok && dict["V"] == signature.ref {
			refs = append(refs, o.ref)
		}
	}
	return refs
}

// signedField returns the one field whose value is the new signature.
func (l *linter) signedField() (formField, bool) {
	holders := l.holders()
	for _, f := range l.is {
		if len(holders) == 1 && f.ref == holders[0] {
			return f, true
		}
	}
	return formField{}, false
}

// checkValue checks that the signature is the value of one signature field of the form. A widget
// below the field has no name and no value: readers would not find the signature there.
func (l *linter) checkValue() {
	field, ok := l.signedField()
	switch {
	case !ok:
		l.fault(Value, "of no one field: objects %v have the signature", l.holders())
	case !field.named || field.kind != "Sig":
		l.fault(Value, "of %s, which is no signature field: %v", field.ref, field.dict)
	}
}

// widgets returns the widgets of a field: the field itself, or its children without a name
// (12.7.4.1).
func (l *linter) widgets(field formField) (found []formField) {
	for _, f := range l.is {
		if f.name == field.name && f.isWidget(l.new) {
			found = append(found, f)
		}
	}
	return found
}

// checkName checks that a new field is at the top of the form, with a unique name and an alternate
// name for screen readers.
func (l *linter) checkName(dict pdf.Dict) {
	b, err := l.new.Bytes(dict["T"])
	name := pdf.Text(pdf.String(b))
	if err != nil || name == "" || strings.Contains(name, ".") {
		l.fault(FieldName, "%q", name)
	}
	_, root, _ := l.new.Catalog()
	acroForm, _ := l.new.Dict(root["AcroForm"])
	if n := l.countNames(name, acroForm["Fields"], 0); n != 1 {
		l.fault(FieldName, "%d fields are called %q", n, name)
	}
	if b, err := l.new.Bytes(dict["TU"]); err != nil || pdf.Text(pdf.String(b)) == "" {
		l.fault(AltName, "%v, %v", dict["TU"], err)
	}
}

// countNames returns the number of siblings with a name. The children of a field without a name
// count as its siblings.
func (l *linter) countNames(name string, fields pdf.Object, depth int) (n int) {
	array, err := l.new.Array(fields)
	if err != nil || depth > 32 {
		return 0
	}
	for _, item := range array {
		dict, err := l.new.Dict(item)
		if err != nil {
			continue
		}
		switch b, _ := l.new.Bytes(dict["T"]); {
		case b == nil:
			n += l.countNames(name, dict["Kids"], depth+1)
		case pdf.Text(pdf.String(b)) == name:
			n++
		}
	}
	return n
}

// A formField is a dictionary in the tree of the form: a field, a widget of a field, or both
// (12.7.4.1).
type formField struct {
	ref   pdf.Ref // Num is 0 if the dictionary is direct
	dict  pdf.Dict
	name  string   // fully qualified
	named bool     // has a T, so that it is a field
	kind  pdf.Name // FT, which may be inherited
	depth int
}

// Limits on the form, which are above those of the signer.
const (
	maxFieldDepth = 64
	maxFields     = 200_000
)

// formFields returns the fields and widgets of a form. It leaves out what is damaged, and also
// returns the first error.
func formFields(file *pdf.File) (found []formField, damaged error) {
	_, catalog, err := file.Catalog()
	if err != nil {
		return nil, err
	}
	form, _ := file.Dict(catalog["AcroForm"])
	seen := make(map[pdf.Ref]bool)
	var visit func(kids pdf.Object, parent formField)
	visit = func(kids pdf.Object, parent formField) {
		array, err := file.Array(kids)
		damaged = cmp.Or(damaged, err)
		if err != nil || parent.depth > maxFieldDepth {
			return
		}
		for _, kid := range array {
			if ref, ok := kid.(pdf.Ref); ok && seen[ref] || len(found) > maxFields {
				continue
			} else if ok {
				seen[ref] = true
			}
			_, err := file.Dict(kid)
			damaged = cmp.Or(damaged, err)
			if f, ok := parent.child(file, kid); ok {
				found = append(found, f)
				visit(f.dict["Kids"], f)
			}
		}
	}
	visit(form["Fields"], formField{})
	return found, damaged
}

// child returns a kid of a node of the form, with the attributes that it inherits.
func (parent formField) child(file *pdf.File, kid pdf.Object) (formField, bool) {
	dict, err := file.Dict(kid)
	if err != nil || dict == nil {
		return formField{}, false
	}
	f := formField{dict: dict, name: parent.name, kind: parent.kind, depth: parent.depth + 1}
	f.ref, _ = target(file, kid)
	if kind, err := file.Name(dict["FT"]); err == nil && kind != "" {
		f.kind = kind
	}
	if b, err := file.Bytes(dict["T"]); err == nil && b != nil {
		f.named, f.name = true, pdf.Text(pdf.String(b))
		if parent.name != "" {
			f.name = parent.name + "." + f.name
		}
	}
	return f, true
}

// target follows references to references, and returns the last one.
func target(file *pdf.File, value pdf.Object) (pdf.Ref, bool) {
	for range 16 {
		ref, ok := value.(pdf.Ref)
		if !ok {
			return pdf.Ref{}, false
		}
		next, err := file.Object(ref)
		if err != nil {
			return pdf.Ref{}, false
		}
		if _, further := next.(pdf.Ref); !further {
			return ref, true
		}
		value = next
	}
	return pdf.Ref{}, false
}

// isWidget reports whether f is a widget: by its Subtype, or because it has a Rect.
func (f formField) isWidget(file *pdf.File) bool {
	subtype, err := file.Name(f.dict["Subtype"])
	return err == nil && subtype == "Widget" || f.dict["Rect"] != nil
}

// signatures returns the signed fields of the original file with their signature dictionaries,
// those of document timestamps too.
func (l *linter) signatures() (found []signedField) {
	for _, f := range l.was {
		if signature, err := l.old.Dict(f.dict["V"]); f.kind == "Sig" && err == nil && signature != nil {
			found = append(found, signedField{f, signature})
		}
	}
	return found
}

type signedField struct {
	formField
	signature pdf.Dict
}

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

// checkAppearance checks that the widget has a normal appearance and no other, or the author's
// appearances. A document timestamp needs none (12.8.5).
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
	if l.wanted.visible() && l.newObject(w.ref) {
		l.checkDrawn(s)
	}
}

// keptAppearance reports whether the source text of AP is that of the original file, with a normal
// appearance.
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

// appearanceSource returns the source text of AP of a widget, or nil.
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

// A Place is the place of the widget of a new field. A widget without area is invisible.
type Place struct {
	Page int // the first is 1
	Rect pdf.Rect
}

func (p Place) visible() bool { return p.Rect.LLX < p.Rect.URX && p.Rect.LLY < p.Rect.URY }

// checkPlace checks that a new field is its own widget, that its page lists it after all other
// annotations, and that it names the page.
func (l *linter) checkPlace(field formField) {
	before, err1 := l.old.Page(l.wanted.Page)
	after, err2 := l.new.Page(l.wanted.Page)
	if err1 != nil || err2 != nil {
		l.fault(Annots, "no page %d: %v, %v", l.wanted.Page, err1, err2)
		return
	}
	if field.dict["P"] != after.Ref {
		l.fault(Annots, "%s names the page %v, and page %d is %s", field.ref, field.dict["P"], l.wanted.Page, after.Ref)
	}
	was, _ := l.old.Array(before.Dict["Annots"])
	is, err := l.new.Array(after.Dict["Annots"])
	if err != nil || len(is) != len(was)+1 || is[len(was)] != field.ref {
		l.fault(Annots, "%v on the page of %s, and before %v", is, field.ref, was)
	}
	l.checkRect(field)
}

// nearly is the permitted difference of two numbers.
const nearly = 0.001

func (l *linter) checkRect(field formField) {
	corners, err := l.new.Array(field.dict["Rect"])
	rect := l.wanted.Rect
	want := []float64{rect.LLX, rect.LLY, rect.URX, rect.URY}
	wrong := err != nil || len(corners) != len(want)
	for i := 0; !wrong && i < len(want); i++ {
		is, err := l.new.Number(corners[i])
		wrong = err != nil || math.Abs(is-want[i]) > nearly
	}
	if wrong {
		l.fault(Rect, "of %s is %v instead of %v", field.ref, field.dict["Rect"], want)
	}
}

// checkDrawn checks that a visible appearance has contents, and that its BBox has the size of the
// widget on display (12.5.5).
func (l *linter) checkDrawn(appearance *pdf.Stream) {
	content, err := l.new.Stream(appearance, 1<<20)
	if err != nil || len(content) == 0 {
		l.fault(Appearance, "nothing is drawn: %v", err)
	}
	page, err := l.new.Page(l.wanted.Page)
	if err != nil {
		return // checkPlace reports this
	}
	box, err := l.new.Rect(appearance.Dict["BBox"])
	width, height := l.wanted.Rect.URX-l.wanted.Rect.LLX, l.wanted.Rect.URY-l.wanted.Rect.LLY
	if page.Rotate%180 != 0 {
		width, height = height, width
	}
	if err != nil || math.Abs(box.URX-box.LLX-width) > nearly || math.Abs(box.URY-box.LLY-height) > nearly {
		l.fault(Appearance, "box %v on a page turned by %d, %v", box, page.Rotate, err)
	}
}
