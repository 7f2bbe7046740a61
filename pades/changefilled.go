package pades

import (
	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
)

// Flags of fields (ISO 32000-2 tables 227 and 229).
const (
	readOnly   = 1 << 0
	pushbutton = 1 << 16
)

// onlyReadOnly says whether flags, be they inherited, differ in that a field must not be filled in any
// more.
func (c *comparison) onlyReadOnly(old, now pdf.Dict) bool {
	before, err := c.before.Int(inherited(c.before, old, "Ff"))
	if err != nil {
		return false
	}
	after, err := c.now.Int(inherited(c.now, now, "Ff"))
	return err == nil && after == before|readOnly
}

// noteFilled finds the fields whose values differ: of their other widgets, too, something else is
// seen then.
func (c *comparison) noteFilled(changed []*position) error {
	for _, p := range changed {
		if p.role == fieldValue && p.field != "" {
			owner, err := c.before.Dict(p.above())
			if err == nil && owner != nil {
				c.noteFilledIn(p.field, owner)
			}
		}
		if p.role != aField || p.field == "" {
			continue
		}
		old, err := c.before.Dict(p.ref)
		if err != nil {
			continue // is judged by itself
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
			c.noteFilledIn(p.field, old)
		}
	}
	return nil
}

// noteFilledIn notes that a field has another value, if it was one to be filled in.
func (c *comparison) noteFilledIn(name string, field pdf.Dict) {
	flags, err := c.before.Int(inherited(c.before, field, "Ff"))
	button := fieldType(c.before, field) == "Btn" && flags&pushbutton != 0
	if err == nil && flags&readOnly == 0 && !button {
		c.filled[name] = true
	}
}

// value judges a value that was overwritten. One of several fields is none that is filled in.
func (c *comparison) value(p *position) {
	if c.filled[p.field] {
		c.add(p, judged[fieldValue])
	} else {
		c.add(p, judgement{ades.ChangeForm, never})
	}
}

// appearance judges what is seen of a field and was overwritten.
func (c *comparison) appearance(p *position) {
	signed, ok := c.signed[p.field]
	switch {
	case p.field != "" && c.filled[p.field]:
		c.add(p, judged[fieldValue])
	case p.field != "" && ok:
		c.add(p, signed)
	default:
		c.add(p, judged[fieldAppearance])
	}
}
