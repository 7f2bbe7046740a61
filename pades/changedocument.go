package pades

import (
	"slices"
	"strconv"

	"github.com/innsigli/innsigli/internal/pdf"
)

// trailer compares what the trailer leads to. Another encryption, or another first part of the
// identifier, which goes into its keys, is another document (ISO 32000-2 7.6, 14.4).
func (c *comparison) trailer() error {
	now, before := c.now.Trailer(), c.before.Trailer()
	for _, entry := range trailerEntries {
		p := &position{role: entry.role, step: string(entry.key)}
		if entry.role == theCatalog && !equal(now[entry.key], before[entry.key]) {
			c.add(p, judged[theCatalog])
		} else if err := c.compare(p, before[entry.key], now[entry.key]); err != nil {
			return err
		}
	}
	if now["Encrypt"] != nil && firstID(c.now) != firstID(c.before) {
		c.add(&position{role: theEncryption, step: "ID"}, judged[theEncryption])
	}
	return nil
}

func firstID(file *pdf.File) string {
	array, err := file.Array(file.Trailer()["ID"])
	if err != nil || len(array) == 0 {
		return ""
	}
	id, _ := file.Bytes(array[0])
	return string(id)
}

// catalog compares the document catalog. A version that is raised is what a signature may need.
func (c *comparison) catalog(p *position, old, now pdf.Dict) error {
	keys, err := c.differing(old, now)
	for _, key := range keys {
		child := p.child(string(key), theCatalog.of(key))
		if key == "Version" && c.raised() {
			c.add(child, judged[theExtensions])
		} else if err := c.compare(child, old[key], now[key]); err != nil {
			return err
		}
	}
	return err
}

func (c *comparison) raised() bool {
	major, minor := c.now.Version()
	oldMajor, oldMinor := c.before.Version()
	return major > oldMajor || major == oldMajor && minor >= oldMinor
}

// pageTree compares a node of the page tree. Of what pages inherit, all is content.
func (c *comparison) pageTree(p *position, old, now pdf.Dict) error {
	keys, err := c.differing(old, now)
	for _, key := range keys {
		role := contentOfPage
		if slices.Contains([]pdf.Name{"Kids", "Count", "Parent", "Type"}, key) {
			role = pageKids
		}
		if err := c.compare(p.child(string(key), role), old[key], now[key]); err != nil {
			return err
		}
	}
	return err
}

// page compares a page. Tabs and StructParents are for who has it read out (ISO 32000-2 table 31).
func (c *comparison) page(p *position, old, now pdf.Dict) error {
	keys, err := c.differing(old, now)
	for _, key := range keys {
		child := p.child(string(key), aPage.of(key))
		switch key {
		case "Parent":
			c.add(child, judged[thePages])
		case "Tabs", "StructParents":
			c.add(child, judged[theStructure])
		default:
			if err := c.compare(child, old[key], now[key]); err != nil {
				return err
			}
		}
	}
	return err
}

// annotations compares those of a page. Those of new fields are what the fields are.
func (c *comparison) annotations(p *position, old, now pdf.Array) error {
	var kept pdf.Array
	known := membersOf(old)
	for i, o := range now {
		if known.has(o) {
			kept = append(kept, o)
		} else {
			c.annotation(p.child(strconv.Itoa(i), anAnnotation), o)
		}
	}
	// What is gone, or on top of another one now, is a change of the page's annotations.
	if !slices.EqualFunc(kept, old, equal) {
		c.add(p, c.lost(old, kept))
	}
	return nil
}

// members are what is in an array: references, and what stands in it itself, in its order.
type members struct {
	refs   map[pdf.Ref]bool
	direct []pdf.Object
}

func membersOf(array pdf.Array) *members {
	m := &members{refs: make(map[pdf.Ref]bool)}
	for _, o := range array {
		if ref, ok := o.(pdf.Ref); ok {
			m.refs[ref] = true
		} else {
			m.direct = append(m.direct, o)
		}
	}
	return m
}

// has says whether an item of another array is one of these. What stands in both arrays itself has
// to do so in the same order, so that each is compared once.
func (m *members) has(o pdf.Object) bool {
	if ref, ok := o.(pdf.Ref); ok {
		return m.refs[ref]
	}
	if len(m.direct) == 0 || !equal(m.direct[0], o) {
		return false
	}
	m.direct = m.direct[1:]
	return true
}

// annotation judges one that was added.
func (c *comparison) annotation(p *position, o pdf.Object) {
	ref, isRef := o.(pdf.Ref)
	if !isRef {
		c.add(p, judged[anAnnotation])
		return
	}
	p.ref = ref
	if at, ok := c.added[ref]; ok {
		c.changes[at].Page = p.page
		return
	}
	if field := c.graph.find(ref, aField); field != nil {
		p.field = field.field
		c.add(p, judged[fieldAppearance])
		return
	}
	c.add(p, judged[anAnnotation])
}

// lost is what it is that annotations are gone: a field that is seen no more is changed.
func (c *comparison) lost(old, kept pdf.Array) judgement {
	still := membersOf(kept)
	for _, o := range old {
		ref, isRef := o.(pdf.Ref)
		if isRef && c.graph.find(ref, aField) != nil && !still.refs[ref] {
			return judged[fieldAppearance]
		}
	}
	return judged[anAnnotation]
}
