package diff

import (
	"slices"
	"strconv"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// Keys of a field and its widget (ISO 32000-2 tables 166, 191, 226 to 235).
var (
	// keysOfSigning are the keys that may change when a field gets its signature.
	keysOfSigning = []pdf.Name{"V", "AP", "AS", "F", "M", "P", "Type"}
	// keysOfFilling are the keys that may change when a field gets another value.
	keysOfFilling = []pdf.Name{"V", "RV", "AP", "AS", "M", "I", "TI", "DA", "Q", "Type"}
	// visualKeys are the keys that decide how a field looks.
	visualKeys = []pdf.Name{"AP", "AS", "F", "Rect", "MK", "BS", "Border", "C", "CA", "ca", "H", "OC", "BM", "Subtype"}

	// newFieldKeys are the keys that a new signature field may have. Apart from AP they have no
	// effect and draw nothing.
	newFieldKeys = []pdf.Name{
		"Type", "Subtype", "FT", "T", "TU", "V", "F", "Ff", "Rect", "P", "AP",
		"TM", "Parent", "Kids", "Lock", "SV", "M", "NM", "AS", "H", "Q", "DA", "DR", "Lang", "StructParent",
	}
	// newSignedFieldKeys are the keys that a new field with a signature may have. The signer
	// decides how the field looks.
	newSignedFieldKeys = slices.Concat(newFieldKeys, []pdf.Name{"MK", "BS", "Border", "C", "Contents"})
)

// Field flags (ISO 32000-2 tables 227 and 229).
const (
	readOnly   = 1 << 0
	pushbutton = 1 << 16
)

// interactiveForm compares the interactive form dictionary (ISO 32000-2 table 224). It ignores
// SigFlags, which states that there are signatures, since the fields state that too.
func (c *comparison) interactiveForm(p *position, old, now pdf.Dict) error {
	keys, err := c.differingKeys(old, now)
	for _, key := range keys {
		child := p.child(string(key), interactiveForm.under(key))
		switch {
		case key == "SigFlags":
		case key == "NeedAppearances" && c.isFalse(now[key]):
			// A writer that fills in a field may draw it too.
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

// formResources compares the resources that fields are drawn with. New resources are for new
// appearances. An appearance finds what it draws in its own resources (ISO 32000-2 12.7.4.3), but
// PDFBox, with which EU DSS signs, also puts each XObject into the resources of the form, again
// under the same name.
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

// formFields compares the fields of the form, or those below a field.
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

// field compares an existing field, or a widget of one.
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
		case key == "Ff" && c.becameReadOnly(old, now): // Acrobat makes locked fields read-only
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

// fieldEffect returns the effect of a change of a field, and the keys to which it applies. A
// signature in a field, and its appearance, must not change.
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

// signedFieldEffect returns the effect of another appearance of a field that has a signature. The
// field of a document timestamp may get an appearance that draws nothing, which PDF/A-1 requires.
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

// becameReadOnly reports whether the flags of a field, its own or inherited, are as before apart
// from ReadOnly, which may have been set.
func (c *comparison) becameReadOnly(old, now pdf.Dict) bool {
	before, err := c.before.Int(inherited(c.before, old, "Ff"))
	if err != nil {
		return false
	}
	after, err := c.now.Int(inherited(c.now, now, "Ff"))
	return err == nil && after == before|readOnly
}

// findFilled finds the fields that have another value: the appearances of all their widgets may
// then change.
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
			continue // c.object reports it
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

// noteFilled notes that a field has another value, if it is a field that may be filled in.
func (c *comparison) noteFilled(name string, dict pdf.Dict) {
	flags, err := c.before.Int(inherited(c.before, dict, "Ff"))
	isButton := fieldType(c.before, dict) == "Btn" && flags&pushbutton != 0
	if err == nil && flags&readOnly == 0 && !isButton {
		c.filledFields[name] = true
	}
}

// fieldValue reports a value of a field that is an object of its own and was replaced. If several
// fields share the value, no field was filled in, and the change is not permitted.
func (c *comparison) fieldValue(p *position) {
	if c.filledFields[p.field] {
		c.add(p, effectOf[fieldValue])
	} else {
		c.add(p, effect{ades.ChangeForm, form.Never})
	}
}

// fieldAppearance reports an appearance of a field that was replaced.
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

// fieldType returns the type of a field, its own or inherited (ISO 32000-2 12.7.4.1).
func fieldType(file *pdf.File, dict pdf.Dict) pdf.Name {
	name, _ := file.Name(inherited(file, dict, "FT"))
	return name
}

// fieldValueOf returns the value of a field, its own or inherited.
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
