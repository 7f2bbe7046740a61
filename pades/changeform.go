package pades

import (
	"strconv"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
)

// form compares the interactive form (ISO 32000-2 table 224). Its flags say that there are
// signatures, which their fields say too.
func (c *comparison) form(p *position, old, now pdf.Dict) error {
	keys, err := c.differing(old, now)
	for _, key := range keys {
		child := p.child(string(key), theForm.of(key))
		switch {
		case key == "SigFlags":
		case key == "NeedAppearances" && now[key] != true: // who fills in a form draws the fields for all to see
			c.add(child, judgement{ades.ChangeForm, FormFilling})
		case (key == "DA" || key == "Q") && old[key] == nil:
			c.add(child, judgement{ades.ChangeSignature, FormFilling})
		default:
			if err := c.compare(child, old[key], now[key]); err != nil {
				return err
			}
		}
	}
	return err
}

// resources compares those that fields are drawn with. New ones are for new appearances; and what
// they draw by name is in their own resources (ISO 32000-2 12.7.4.3), though PDFBox, which EU DSS
// signs with, puts each into those of the form again, under the same name.
func (c *comparison) resources(p *position, old, now pdf.Dict) error {
	keys, err := c.differing(old, now)
	for _, key := range keys {
		child := p.child(string(key), p.role.of(key))
		_, isRef := now[key].(pdf.Ref)
		if old[key] == nil || isRef && p.role == resourceKind && p.step == "XObject" {
			c.add(child, judgement{ades.ChangeSignature, FormFilling})
		} else if err := c.compare(child, old[key], now[key]); err != nil {
			return err
		}
	}
	return err
}

// fields compares those of the form, or below another one.
func (c *comparison) fields(p *position, old, now pdf.Array) error {
	for i, o := range old {
		if !has(now, o) {
			c.add(p.child(strconv.Itoa(i), aField), judged[formFields])
		}
	}
	for i, o := range now {
		if has(old, o) {
			continue
		}
		if err := c.newField(p.child(strconv.Itoa(i), aField), o, 0); err != nil {
			return err
		}
	}
	return nil
}

// newField judges a field that was added: it has to be for a signature, and new in all it has.
func (c *comparison) newField(p *position, o pdf.Object, depth int) error {
	ref, isRef := o.(pdf.Ref)
	if isRef {
		p.ref = ref
	}
	field, err := c.now.Dict(o)
	if err != nil || field == nil || !isRef || depth > maxFieldDepth || !c.isNew(ref) {
		c.add(p, judged[formFields])
		return notMalformed(err)
	}
	name, named := fieldName(c.now, field, p.from.field)
	p.field = name
	if _, taken := c.graph.names[name]; taken && named || !named && depth == 0 {
		c.add(p, judged[formFields]) // fields of one name are one field (ISO 32000-2 12.7.4.2)
		return nil
	}
	if !named { // the widget of the field above
		return c.newWidget(p, field)
	}
	found, err := c.newSignature(field)
	if err != nil {
		return err
	}
	kids, err := c.now.Array(field["Kids"])
	if err = notMalformed(err); err != nil {
		return err
	}
	if fieldType(c.now, field) != "" || len(kids) == 0 {
		c.noteNew(p, found)
	}
	for i, kid := range kids {
		if err := c.newField(p.child(strconv.Itoa(i), aField), kid, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// newWidget: what a field that is new shows is its own, and was judged with it.
func (c *comparison) newWidget(p *position, widget pdf.Dict) error {
	found, err := c.newSignature(widget)
	if err == nil {
		c.noteNew(p, found)
	}
	return err
}

// noteNew adds the change that a new field is. Its annotation on a page is the same one.
func (c *comparison) noteNew(p *position, found judgement) {
	at := len(c.changes)
	if c.add(p, found); at < len(c.changes) {
		c.added[p.ref] = at
	}
}

// newSignature judges a field that got its signature, or may get one and shows nothing: a document
// timestamp that is not seen is proof.
func (c *comparison) newSignature(field pdf.Dict) (judgement, error) {
	if fieldType(c.now, field) != "Sig" {
		return judged[formFields], nil
	}
	value := valueOf(c.now, field)
	signature, err := c.now.Dict(value)
	if err != nil {
		return judged[formFields], notMalformed(err)
	}
	if ref, isRef := value.(pdf.Ref); isRef && !c.isNew(ref) {
		return judged[formFields], nil // one that was made for something else
	}
	if isTimestamp(c.now, signature) {
		hidden, err := unseen(c.now, field)
		if err = notMalformed(err); err != nil || hidden {
			return judged[theStore], err
		}
	}
	if signature == nil { // what an empty field draws over a page nobody has signed
		if drawsNothing, err := noDrawing(c.now, field); err != nil || !drawsNothing {
			return judged[formFields], notMalformed(err)
		}
	}
	return judgement{ades.ChangeSignature, FormFilling}, nil
}

// isNew says whether an object was not in the document before, not even where nothing led to it.
func (c *comparison) isNew(ref pdf.Ref) bool {
	o, err := c.before.Object(ref)
	return o == nil && err == nil
}
