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
		case key == "NeedAppearances" && c.drawn(now[key]):
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

// drawn says whether the fields of a form are not to be drawn anew: who fills it in draws them for
// all to see.
func (c *comparison) drawn(needAppearances pdf.Object) bool {
	anew, err := c.now.Bool(needAppearances)
	return err == nil && !anew
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
	kept, known := membersOf(now), membersOf(old)
	for i, o := range old {
		if !kept.has(o) {
			c.add(p.child(strconv.Itoa(i), aField), judged[formFields])
		}
	}
	for i, o := range now {
		if known.has(o) {
			continue
		}
		if err := c.newField(p.child(strconv.Itoa(i), aField), o, 0); err != nil {
			return err
		}
	}
	return nil
}
