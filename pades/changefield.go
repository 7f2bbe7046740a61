package pades

import (
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
)

// Keys of a field and its widget (ISO 32000-2 tables 166, 191, 226 to 234).
var (
	// withSignature differ when a field gets its signature.
	withSignature = []pdf.Name{"V", "AP", "AS", "F", "M", "P", "Type"}
	// withValue differ when a field gets another value.
	withValue = []pdf.Name{"V", "RV", "AP", "AS", "M", "I", "TI", "DA", "Q", "Type"}
	// seen are what is seen of a field.
	seenOfField = []pdf.Name{"AP", "AS", "F", "Rect", "MK", "BS", "Border", "C", "CA", "ca", "H", "OC", "BM", "Subtype"}
)

// field compares a field that was there, or a widget of one.
func (c *comparison) field(p *position, old, now pdf.Dict) error {
	keys, err := c.differing(old, now)
	if err != nil {
		return err
	}
	found, with, err := c.happened(p, old, now)
	if err != nil {
		return err
	}
	for _, key := range keys {
		child := p.child(string(key), aField.of(key))
		switch {
		case key == "Ff" && c.onlyReadOnly(old, now): // as Acrobat notes a lock
			c.add(child, judgement{ades.ChangeFields, FormFilling})
		case slices.Contains(with, key):
			c.add(p, found)
		case key == "Kids":
			err = c.compare(child, old[key], now[key])
		case slices.Contains(seenOfField, key):
			c.add(child, judged[fieldAppearance])
		default:
			c.add(child, judged[fieldPart])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// happened says what became of a field, and which keys differ for that. A signature that was made
// stays, and so does what is seen of it.
func (c *comparison) happened(p *position, old, now pdf.Dict) (found judgement, with []pdf.Name, err error) {
	if fieldType(c.before, old) != "Sig" && fieldType(c.now, now) != "Sig" {
		if c.filled[p.field] {
			with = withValue
		}
		return judged[fieldValue], with, nil
	}
	was, err := c.before.Resolve(valueOf(c.before, old))
	if err != nil || was != nil {
		return c.staysUnseen(was, old, now), []pdf.Name{"AP"}, notMalformed(err)
	}
	is, err := c.now.Dict(valueOf(c.now, now))
	if err != nil || is == nil {
		return judged[fieldPart], nil, notMalformed(err)
	}
	if found, err = c.newSignature(p, now); err == nil && found != judged[formFields] {
		with = withSignature
		c.signed[p.field] = found
	}
	return found, with, err
}

// staysUnseen judges another appearance of a signature that was made. That of a document timestamp
// may be one of nothing, which PDF/A-1 asks for.
func (c *comparison) staysUnseen(value pdf.Object, old, now pdf.Dict) judgement {
	signature, isDict := value.(pdf.Dict)
	before, err := unseen(c.before, old)
	if !isDict || !isTimestamp(c.before, signature) || !before || err != nil {
		return judged[fieldAppearance]
	}
	if after, err := unseen(c.now, now); !after || err != nil {
		return judged[fieldAppearance]
	}
	return judged[theStore]
}

// fieldType is the type of a field, be it inherited, and valueOf its value (ISO 32000-2 12.7.4.1).
func fieldType(file *pdf.File, field pdf.Dict) pdf.Name {
	name, _ := file.Name(inherited(file, field, "FT"))
	return name
}

func valueOf(file *pdf.File, field pdf.Dict) pdf.Object { return inherited(file, field, "V") }

func inherited(file *pdf.File, field pdf.Dict, key pdf.Name) pdf.Object {
	for range maxFieldDepth {
		if value := field[key]; value != nil {
			return value
		}
		parent, err := file.Dict(field["Parent"])
		if err != nil || parent == nil {
			break
		}
		field = parent
	}
	return nil
}
