package pdflint

import (
	"strings"

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

// checkField checks the field whose value is the new signature, and its widgets.
func (l *linter) checkField() {
	ref, dict, ok := l.signedField()
	if !ok {
		l.fault(Rewritten, "no field of the increment has the signature as its value")
		return
	}
	if l.newObject(ref) {
		l.checkName(dict)
	}
	for _, w := range l.widgets(dict) {
		l.checkWidget(ref, w)
	}
}

// widgets are the field itself or its kids (12.7.4.1).
func (l *linter) widgets(dict pdf.Dict) (found []pdf.Dict) {
	kids, _ := l.new.Array(dict["Kids"])
	for _, kid := range append(kids, dict) {
		w, err := l.new.Dict(kid)
		if subtype, _ := l.new.Name(w["Subtype"]); err == nil && subtype == "Widget" {
			found = append(found, w)
		}
	}
	return found
}

func (l *linter) checkWidget(ref pdf.Ref, w pdf.Dict) {
	flags, err := l.new.Int(w["F"])
	if err != nil || flags&printed == 0 || flags&(invisible|hidden|noView|noRotate) != 0 {
		l.fault(WidgetFlags, "%d for the field %s", flags, ref)
	}
	appearances, err := l.new.Dict(w["AP"])
	if err != nil {
		l.fault(Appearance, "of the field %s: %v", ref, err)
	}
	for key, value := range appearances {
		if s, err := l.new.StreamObject(value); key != "N" || s == nil || err != nil {
			l.fault(Appearance, "/%s of the field %s is %v", key, ref, value)
		}
	}
}

// checkName: a new field stands at the top of the form.
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
}

// countNames counts the fields of a name among siblings. A field without a name passes
// its children on.
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
