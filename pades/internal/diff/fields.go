package diff

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// interactiveForm compares the interactive form dictionary (ISO 32000-2 table 224). Its SigFlags state that there are
// signatures, which their fields state too.
func (c *comparison) interactiveForm(p *position, old, now pdf.Dict) error {
	keys, err := c.differingKeys(old, now)
	for _, key := range keys {
		child := p.child(string(key), interactiveForm.under(key))
		switch {
		case key == "SigFlags":
		case key == "NeedAppearances" && c.isFalse(now[key]): // a writer that fills in a field draws it as well
			c.add(child, effect{ades.ChangeForm, form.FormFilling})
		case (key == "DA" || key == "Q") && old[key] == nil:
			c.add(child, effect{ades.ChangeSignature, form.FormFilling})
		default:
			if err := c.compare(child, old[key], now[key]); err != nil {
				return err
			}
		}
	}
	return err
}

func (c *comparison) isFalse(o pdf.Object) bool {
	value, err := c.now.Bool(o)
	return err == nil && !value
}

// formResources compares the resources that fields are drawn with. New ones are for new appearances. What an appearance
// draws by name is in its own resources (ISO 32000-2 12.7.4.3), but PDFBox, which EU DSS signs with, puts each into
// those of the form again, under the same name.
func (c *comparison) formResources(p *position, old, now pdf.Dict) error {
	keys, err := c.differingKeys(old, now)
	for _, key := range keys {
		child := p.child(string(key), p.role.under(key))
		_, isRef := now[key].(pdf.Ref)
		if old[key] == nil || isRef && p.role == resourceType && p.step == "XObject" {
			c.add(child, effect{ades.ChangeSignature, form.FormFilling})
		} else if err := c.compare(child, old[key], now[key]); err != nil {
			return err
		}
	}
	return err
}

// formFields compares the fields of the form, or those below another one.
func (c *comparison) formFields(p *position, old, now pdf.Array) error {
	kept, known := membersOf(now), membersOf(old)
	for i, o := range old {
		if !kept.take(o) {
			c.add(p.child(strconv.Itoa(i), field), effectOf[formFields])
		}
	}
	for i, o := range now {
		if known.take(o) {
			continue
		}
		if err := c.newField(p.child(strconv.Itoa(i), field), o, 0); err != nil {
			return err
		}
	}
	return nil
}

// Keys of a field and its widget (ISO 32000-2 tables 166, 191, 226 to 235).
var (
	// keysOfSigning are those that differ when a field gets its signature.
	keysOfSigning = []pdf.Name{"V", "AP", "AS", "F", "M", "P", "Type"}
	// keysOfFilling are those that differ when a field gets another value.
	keysOfFilling = []pdf.Name{"V", "RV", "AP", "AS", "M", "I", "TI", "DA", "Q", "Type"}
	// visualKeys are those that decide what is seen of a field.
	visualKeys = []pdf.Name{"AP", "AS", "F", "Rect", "MK", "BS", "Border", "C", "CA", "ca", "H", "OC", "BM", "Subtype"}

	// newFieldKeys are those that a new signature field may have. But for AP they do nothing and show nothing.
	newFieldKeys = []pdf.Name{
		"Type", "Subtype", "FT", "T", "TU", "V", "F", "Ff", "Rect", "P", "AP",
		"TM", "Parent", "Kids", "Lock", "SV", "M", "NM", "AS", "H", "Q", "DA", "DR", "Lang", "StructParent",
	}
	// newSignedFieldKeys are those that it may have with a signature in it: the signer decides what these show.
	newSignedFieldKeys = slices.Concat(newFieldKeys, []pdf.Name{"MK", "BS", "Border", "C", "Contents"})
)

// Field flags (ISO 32000-2 tables 227 and 229).
const (
	readOnly   = 1 << 0
	pushbutton = 1 << 16
)

// field compares a field that was there, or a widget of one.
func (c *comparison) field(p *position, old, now pdf.Dict) error {
	keys, err := c.differingKeys(old, now)
	if err != nil {
		return err
	}
	found, with, err := c.fieldEffect(p, old, now)
	if err != nil {
		return err
	}
	for _, key := range keys {
		child := p.child(string(key), field.under(key))
		switch {
		case key == "Ff" && c.becameReadOnly(old, now): // Acrobat does this to a field that a signature locks
			c.add(child, effect{ades.ChangeFields, form.FormFilling})
		case slices.Contains(with, key):
			c.add(p, found)
		case key == "Kids":
			err = c.compare(child, old[key], now[key])
		case slices.Contains(visualKeys, key):
			c.add(child, effectOf[fieldAppearance])
		default:
			c.add(child, effectOf[fieldPart])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fieldEffect returns what became of a field, and the keys that differ because of that. A signature stays what it was,
// and so does its appearance.
func (c *comparison) fieldEffect(p *position, old, now pdf.Dict) (found effect, with []pdf.Name, err error) {
	if fieldType(c.before, old) != "Sig" && fieldType(c.now, now) != "Sig" {
		if c.filledFields[p.field] {
			with = keysOfFilling
		}
		return effectOf[fieldValue], with, nil
	}
	was, err := c.before.Resolve(fieldValueOf(c.before, old))
	if err != nil || was != nil {
		return c.signedFieldEffect(was, old, now), []pdf.Name{"AP"}, pdf.IgnoreMalformed(err)
	}
	is, err := c.now.Dict(fieldValueOf(c.now, now))
	if err != nil || is == nil {
		return effectOf[fieldPart], nil, pdf.IgnoreMalformed(err)
	}
	if found, err = c.signatureEffect(p, now); err == nil && found != effectOf[formFields] {
		with = keysOfSigning
		c.signedFields[p.field] = found
	}
	return found, with, err
}

// signedFieldEffect is that of another appearance of a field that has a signature. The field of a document timestamp may
// get an appearance that draws nothing, which PDF/A-1 requires.
func (c *comparison) signedFieldEffect(value pdf.Object, old, now pdf.Dict) effect {
	signature, isDict := value.(pdf.Dict)
	before, err := isInvisible(c.before, old)
	if !isDict || !form.IsTimestamp(c.before, signature) || !before || err != nil {
		return effectOf[fieldAppearance]
	}
	if after, err := isInvisible(c.now, now); !after || err != nil {
		return effectOf[fieldAppearance]
	}
	return effectOf[validationData]
}

// becameReadOnly reports whether the flags of a field, its own or inherited, differ in that it must not be filled in any
// more.
func (c *comparison) becameReadOnly(old, now pdf.Dict) bool {
	before, err := c.before.Int(inherited(c.before, old, "Ff"))
	if err != nil {
		return false
	}
	after, err := c.now.Int(inherited(c.now, now, "Ff"))
	return err == nil && after == before|readOnly
}

// findFilled finds the fields whose values differ: the appearances of all their widgets may change then.
func (c *comparison) findFilled(changed []*position) error {
	for _, p := range changed {
		if p.role == fieldValue && p.field != "" {
			owner, err := c.before.Dict(p.parentNode())
			if err == nil && owner != nil {
				c.noteFilled(p.field, owner)
			}
		}
		if p.role != field || p.field == "" {
			continue
		}
		old, err := c.before.Dict(p.ref)
		if err != nil {
			continue // is reported when the object itself is compared
		}
		now, err := c.now.Dict(p.ref)
		if err != nil || fieldType(c.now, now) == "Sig" {
			continue
		}
		was, oldErr := c.before.Resolve(old["V"])
		is, err := c.now.Resolve(now["V"])
		if oldErr != nil || err != nil {
			continue
		}
		same, err := c.equal(was, is)
		if err != nil {
			return err
		}
		if !same {
			c.noteFilled(p.field, old)
		}
	}
	return nil
}

// noteFilled notes that a field has another value, if it is one that may be filled in.
func (c *comparison) noteFilled(name string, dict pdf.Dict) {
	flags, err := c.before.Int(inherited(c.before, dict, "Ff"))
	isButton := fieldType(c.before, dict) == "Btn" && flags&pushbutton != 0
	if err == nil && flags&readOnly == 0 && !isButton {
		c.filledFields[name] = true
	}
}

// fieldValue judges a value that is an object of its own and was replaced. The value of several fields is not one that
// is filled in.
func (c *comparison) fieldValue(p *position) {
	if c.filledFields[p.field] {
		c.add(p, effectOf[fieldValue])
	} else {
		c.add(p, effect{ades.ChangeForm, form.Never})
	}
}

// fieldAppearance judges the appearance of a field that was replaced.
func (c *comparison) fieldAppearance(p *position) {
	signed, ok := c.signedFields[p.field]
	switch {
	case p.field != "" && c.filledFields[p.field]:
		c.add(p, effectOf[fieldValue])
	case p.field != "" && ok:
		c.add(p, signed)
	default:
		c.add(p, effectOf[fieldAppearance])
	}
}

// newField judges a field that was added: it has to be for a signature, and all that it has has to be new.
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
		c.add(p, effectOf[formFields]) // fields of one name are one field (ISO 32000-2 12.7.4.2)
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

// addNewField adds the change that a new field is. Its annotation on a page is the same change.
func (c *comparison) addNewField(p *position, found effect) {
	at := len(c.changes)
	if c.add(p, found); at < len(c.changes) {
		c.addedFields[p.ref] = at
	}
}

// newFieldEffect judges a field that was added, or a widget of one, by its entries.
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

// hasOnlyAllowed reports whether a new field has no other keys than some, is shown as a field if it is shown, and
// inherits from the field that has it as a kid alone: readers differ in where they look for what is inherited.
func (c *comparison) hasOnlyAllowed(p *position, dict pdf.Dict, keys []pdf.Name) bool {
	subtype, err := c.now.Name(dict["Subtype"])
	return err == nil && (subtype == "" || subtype == "Widget") && dict["Parent"] == p.parentNode() && hasOnly(dict, keys...)
}

// signatureEffect judges a field that got its signature, or a new field without one, which must show nothing. A document
// timestamp that shows nothing is validation data.
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
		return effectOf[formFields], nil // the dictionary was there before, for something else
	}
	timestamp := form.IsTimestamp(c.now, signature)
	if signature == nil || timestamp {
		invisible, err := c.showsNothing(dict)
		switch {
		case err != nil:
			return effectOf[formFields], pdf.IgnoreMalformed(err)
		case timestamp && invisible:
			return effectOf[validationData], nil
		case !timestamp && !invisible: // nobody has signed what an empty field shows on a page
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

// isListed reports whether the report lists the signature of a field under the field's name, so that its reader can tell
// who drew what is seen of it. A document timestamp that is seen has to be trusted.
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

// isNew reports whether an object was not in the document before, with nothing referring to it.
func (c *comparison) isNew(ref pdf.Ref) bool {
	o, err := c.before.Object(ref)
	return o == nil && err == nil && !c.graph.refersTo(ref.Num)
}

// fieldType is the type of a field, its own or inherited (ISO 32000-2 12.7.4.1).
func fieldType(file *pdf.File, dict pdf.Dict) pdf.Name {
	name, _ := file.Name(inherited(file, dict, "FT"))
	return name
}

// fieldValueOf is the value of a field, its own or inherited.
func fieldValueOf(file *pdf.File, dict pdf.Dict) pdf.Object { return inherited(file, dict, "V") }

func inherited(file *pdf.File, dict pdf.Dict, key pdf.Name) pdf.Object {
	for range form.MaxDepth {
		if value := dict[key]; value != nil {
			return value
		}
		parent, err := file.Dict(dict["Parent"])
		if err != nil || parent == nil {
			break
		}
		dict = parent
	}
	return nil
}

// showsNothing reports whether a field of this revision is invisible, or has no rectangle and so is on no page.
func (c *comparison) showsNothing(dict pdf.Dict) (bool, error) {
	if dict["Rect"] == nil {
		return drawsNothing(c.now, dict)
	}
	return isInvisible(c.now, dict)
}

// isInvisible reports whether nothing is seen of a field: its rectangle is a point (ISO 32000-2 12.7.5.5), and its
// appearance draws nothing, since viewers differ in how they draw an appearance into a point.
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

// drawsNothing reports whether a field has no appearance, or a normal one alone, without content.
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
