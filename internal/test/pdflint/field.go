package pdflint

import (
	"strings"

	"github.com/innsigli/innsigli/internal/pdf"
)

// checkField checks the field whose value is the new signature, and its widgets.
func (l *linter) checkField() {
	field, ok := l.signedField()
	if !ok {
		return // judged by checkValue
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

// holders are the objects of the increment whose value is its signature.
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

// signedField is the one field that has the increment's signature as its value.
func (l *linter) signedField() (formField, bool) {
	holders := l.holders()
	for _, f := range l.is {
		if len(holders) == 1 && f.ref == holders[0] {
			return f, true
		}
	}
	return formField{}, false
}

// checkValue: the signature is the value of one signature field that the form leads to. A
// widget below the field has no name of its own and takes no value: the field would stay
// empty for whoever looks there.
func (l *linter) checkValue() {
	field, ok := l.signedField()
	switch {
	case !ok:
		l.fault(Value, "of no one field: objects %v have the signature", l.holders())
	case !field.named || field.kind != "Sig":
		l.fault(Value, "of %s, which is no signature field: %v", field.ref, field.dict)
	}
}

// widgets are the field itself or what is below it and has its name (12.7.4.1).
func (l *linter) widgets(field formField) (found []formField) {
	for _, f := range l.is {
		if f.name == field.name && f.isWidget(l.new) {
			found = append(found, f)
		}
	}
	return found
}

// checkName: a new field stands at the top of the form, and says what it is to those who
// have it read out.
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
