package pades

import (
	"slices"
	"strconv"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
)

// Keys of a field for a signature that is added (ISO 32000-2 tables 166, 191, 226, 228, 234 and 235).
var (
	// newFieldKeys are about nothing that is done or seen, but for AP.
	newFieldKeys = slices.Concat(stampKeys, []pdf.Name{"TM", "Parent", "Kids", "Lock", "SV", "M", "NM", "AS", "H", "Q", "DA", "DR", "Lang", "StructParent"})
	// drawnFieldKeys are of fields that have a signature, too: what these show the signer drew.
	drawnFieldKeys = slices.Concat(newFieldKeys, []pdf.Name{"MK", "BS", "Border", "C", "Contents"})
)

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
	if named {
		c.graph.names[name] = ref
	}
	kids, err := c.now.Array(field["Kids"])
	if err = notMalformed(err); err != nil {
		return err
	}
	found, err := c.newPart(p, field)
	if err != nil {
		return err
	}
	if !named && len(kids) > 0 { // a widget is the last of them
		found = judged[formFields]
	}
	if parted := named && len(kids) > 0 && fieldType(c.now, field) == ""; !parted || !c.innocent(p, field, newFieldKeys) {
		c.noteNew(p, found)
	}
	for i, kid := range kids {
		if !named {
			break
		}
		if err := c.newField(p.child(strconv.Itoa(i), aField), kid, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// noteNew adds the change that a new field is. Its annotation on a page is the same one.
func (c *comparison) noteNew(p *position, found judgement) {
	at := len(c.changes)
	if c.add(p, found); at < len(c.changes) {
		c.added[p.ref] = at
	}
}

// newPart judges a field that was added, or a widget of one, by what it has.
func (c *comparison) newPart(p *position, field pdf.Dict) (judgement, error) {
	found, err := c.newSignature(p, field)
	if err != nil || found == judged[formFields] {
		return found, err
	}
	keys := newFieldKeys
	if signature, err := c.now.Dict(valueOf(c.now, field)); err == nil && signature != nil && found != judged[theStore] {
		keys = drawnFieldKeys
	}
	if !c.innocent(p, field, keys) {
		return judged[formFields], nil
	}
	return found, nil
}

// innocent says whether a field that was added has nothing but some keys, is seen as a field if it
// is seen, and inherits only from what it is below: readers look for that in different places.
func (c *comparison) innocent(p *position, field pdf.Dict, keys []pdf.Name) bool {
	subtype, err := c.now.Name(field["Subtype"])
	return err == nil && (subtype == "" || subtype == "Widget") && field["Parent"] == p.above() && same(field, nil, keys...)
}

// newSignature judges a field that got its signature, or may get one and shows nothing: a document
// timestamp that is not seen is proof.
func (c *comparison) newSignature(p *position, field pdf.Dict) (judgement, error) {
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
	stamp := isTimestamp(c.now, signature)
	if signature == nil || stamp {
		hidden, err := c.unseen(field)
		switch {
		case err != nil:
			return judged[formFields], notMalformed(err)
		case stamp && hidden:
			return judged[theStore], nil
		case !stamp && !hidden: // what an empty field draws over a page nobody has signed
			return judged[formFields], nil
		}
	}
	if signature != nil {
		if listed, err := c.listed(p, value, stamp); err != nil || !listed {
			return judged[formFields], err
		}
	}
	return judgement{ades.ChangeSignature, FormFilling}, nil
}

// unseen says whether nothing is seen of a field, be it that it is nowhere.
func (c *comparison) unseen(field pdf.Dict) (bool, error) {
	if field["Rect"] == nil {
		return noDrawing(c.now, field)
	}
	return unseen(c.now, field)
}

// listed says whether the report lists what a field has as its signature, under the field's name, so
// that who reads the report knows whose it is, and what is seen of it. Of a timestamp nobody asks who
// drew that, unless it is trusted.
func (c *comparison) listed(p *position, value pdf.Object, stamp bool) (bool, error) {
	if c.shown == nil {
		found, err := readFields(c.now)
		if err := notMalformed(err); err != nil {
			return false, err
		}
		c.shown = &found
	}
	among := c.shown.signatures
	if stamp {
		among = c.shown.timestamps
	}
	isIt := func(f signatureField) bool { return f.name == p.field && equal(f.field["V"], value) }
	return slices.ContainsFunc(among, isIt) && (!stamp || c.trusts(p.field)), nil
}

// trusts says whether the document timestamps of a name are trusted.
func (c *comparison) trusts(name string) bool {
	found := false
	for _, t := range c.stamps {
		if t.Report.Name == name && !t.Report.Trusted {
			return false
		}
		found = found || t.Report.Name == name
	}
	return found
}

// isNew says whether an object was not in the document before, not even where nothing led to it, and
// nothing referred to it while it was not there.
func (c *comparison) isNew(ref pdf.Ref) bool {
	o, err := c.before.Object(ref)
	return o == nil && err == nil && !c.graph.leadsTo(ref.Num)
}
