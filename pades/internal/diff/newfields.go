package diff

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// newField reports a field that was added. Only a signature field is permitted, and all its objects
// have to be new.
func (c *comparison) newField(p *position, o pdf.Object, depth int) error {
	ref, isRef := o.(pdf.Ref)
	if isRef {
		p.ref = ref
	}
	dict, err := c.now.Dict(o)
	if err != nil || dict == nil || !isRef || depth > form.MaxDepth || !c.isNew(ref) {
		c.add(p, effectOf[formFields])
		return pdf.IgnoreMalformed(err)
	}
	name, own := form.QualifiedName(c.now, dict, p.from.field)
	p.field = name
	if _, taken := c.graph.fieldNames[name]; taken && own || !own && depth == 0 {
		// Two fields of the same name are one field (ISO 32000-2 12.7.4.2).
		c.add(p, effectOf[formFields])
		return nil
	}
	if own {
		c.graph.fieldNames[name] = ref
	}
	kids, err := c.now.Array(dict["Kids"])
	if err = pdf.IgnoreMalformed(err); err != nil {
		return err
	}
	found, err := c.newFieldEffect(p, dict)
	if err != nil {
		return err
	}
	if !own && len(kids) > 0 { // a widget has no kids
		found = effectOf[formFields]
	}
	if isParent := own && len(kids) > 0 && fieldType(c.now, dict) == ""; !isParent || !c.hasOnlyAllowed(p, dict, newFieldKeys) {
		c.addNewField(p, found)
	}
	for i, kid := range kids {
		if !own {
			break
		}
		if err := c.newField(p.child(strconv.Itoa(i), field), kid, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// addNewField adds the change of a new field. The annotation of the field on a page is the same
// change.
func (c *comparison) addNewField(p *position, found effect) {
	at := len(c.changes)
	if c.add(p, found); at < len(c.changes) {
		c.addedFields[p.ref] = at
	}
}

// newFieldEffect returns the effect of a field that was added, or a widget of one, by its entries.
func (c *comparison) newFieldEffect(p *position, dict pdf.Dict) (effect, error) {
	found, err := c.signatureEffect(p, dict)
	if err != nil || found == effectOf[formFields] {
		return found, err
	}
	allowed := newFieldKeys
	if signature, err := c.now.Dict(fieldValueOf(c.now, dict)); err == nil && signature != nil && found != effectOf[validationData] {
		allowed = newSignedFieldKeys
	}
	if !c.hasOnlyAllowed(p, dict, allowed) {
		return effectOf[formFields], nil
	}
	return found, nil
}

// hasOnlyAllowed reports whether a new field has no keys other than the given ones, has the Subtype
// Widget or none, and has the field that lists it in Kids as its Parent. Readers differ in where
// they look for inherited entries.
func (c *comparison) hasOnlyAllowed(p *position, dict pdf.Dict, keys []pdf.Name) bool {
	subtype, err := c.now.Name(dict["Subtype"])
	return err == nil && (subtype == "" || subtype == "Widget") && dict["Parent"] == p.parentNode() && hasOnly(dict, keys...)
}

// signatureEffect returns the effect of a field that got its signature, or of a new field without a
// signature, which must show nothing. A document timestamp that shows nothing is validation data.
func (c *comparison) signatureEffect(p *position, dict pdf.Dict) (effect, error) {
	if fieldType(c.now, dict) != "Sig" {
		return effectOf[formFields], nil
	}
	value := fieldValueOf(c.now, dict)
	signature, err := c.now.Dict(value)
	if err != nil {
		return effectOf[formFields], pdf.IgnoreMalformed(err)
	}
	if ref, isRef := value.(pdf.Ref); isRef && !c.isNew(ref) {
		return effectOf[formFields], nil // the dictionary existed before, for another purpose
	}
	timestamp := form.IsTimestamp(c.now, signature)
	if signature == nil || timestamp {
		invisible, err := c.showsNothing(dict)
		switch {
		case err != nil:
			return effectOf[formFields], pdf.IgnoreMalformed(err)
		case timestamp && invisible:
			return effectOf[validationData], nil
		case !timestamp && !invisible: // no signature covers what an empty field shows on a page
			return effectOf[formFields], nil
		}
	}
	if signature != nil {
		if listed, err := c.isListed(p, value, timestamp); err != nil || !listed {
			return effectOf[formFields], err
		}
	}
	return effect{ades.ChangeSignature, form.FormFilling}, nil
}

// isListed reports whether the report lists the signature of a field under the field's name. Only
// then can the reader of the report tell who drew the appearance of the field. A visible document
// timestamp has to be trusted too.
func (c *comparison) isListed(p *position, value pdf.Object, timestamp bool) (bool, error) {
	if c.fields == nil {
		found, err := form.Read(c.now)
		if err := pdf.IgnoreMalformed(err); err != nil {
			return false, err
		}
		c.fields = &found
	}
	among := c.fields.Signatures
	if timestamp {
		among = c.fields.Timestamps
	}
	isIt := func(f form.SignatureField) bool { return f.Name == p.field && equal(f.Dict["V"], value) }
	return slices.ContainsFunc(among, isIt) && (!timestamp || c.history.Trusted(p.field)), nil
}

// isNew reports whether an object did not exist before, and no object referred to its number.
func (c *comparison) isNew(ref pdf.Ref) bool {
	o, err := c.before.Object(ref)
	return o == nil && err == nil && !c.graph.refersTo(ref.Num)
}

// showsNothing reports whether a field of this revision is invisible, or is on no page because it
// has no rectangle.
func (c *comparison) showsNothing(dict pdf.Dict) (bool, error) {
	if dict["Rect"] == nil {
		return drawsNothing(c.now, dict)
	}
	return isInvisible(c.now, dict)
}

// isInvisible reports whether a field shows nothing: its rectangle is a point (ISO 32000-2
// 12.7.5.5), and its appearance draws nothing. Both are required, because viewers differ in how
// they draw an appearance into a point.
func isInvisible(file *pdf.File, dict pdf.Dict) (bool, error) {
	if ok, err := isPoint(file, dict["Rect"]); !ok || err != nil {
		return false, err
	}
	return drawsNothing(file, dict)
}

func isPoint(file *pdf.File, o pdf.Object) (bool, error) {
	rect, err := file.Array(o)
	if err != nil || len(rect) != 4 {
		return false, err
	}
	var corners [4]float64
	for i := range corners {
		if corners[i], err = file.Number(rect[i]); err != nil {
			return false, err
		}
	}
	return corners[0] == corners[2] && corners[1] == corners[3], nil
}

// maxEmptyAppearance bounds the content of an appearance that draws nothing, in bytes.
const maxEmptyAppearance = 1 << 10

// drawsNothing reports whether a field has no appearance, or only a normal appearance with no
// content.
func drawsNothing(file *pdf.File, dict pdf.Dict) (bool, error) {
	appearances, err := file.Dict(dict["AP"])
	if err != nil || !hasOnly(appearances, "N") {
		return false, err
	}
	appearance, err := file.StreamObject(appearances["N"])
	if err != nil || appearance == nil {
		return err == nil, err
	}
	content, err := file.Stream(appearance, maxEmptyAppearance)
	return len(bytes.TrimSpace(content)) == 0, err
}
