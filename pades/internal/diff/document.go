package diff

import (
	"slices"
	"strconv"

	"github.com/innsigli/innsigli/internal/pdf"
)

// trailer compares what the trailer refers to. If the encryption changes, or the first part of the
// file identifier, which the encryption key depends on, the document is another one (ISO 32000-2
// 7.6, 14.4).
func (c *comparison) trailer() error {
	now, before := c.now.Trailer(), c.before.Trailer()
	for _, entry := range trailerEntries {
		p := &position{role: entry.role, step: string(entry.key)}
		if entry.role == catalog && !equal(now[entry.key], before[entry.key]) {
			c.add(p, effectOf[catalog])
		} else if err := c.compare(p, before[entry.key], now[entry.key]); err != nil {
			return err
		}
	}
	if now["Encrypt"] != nil && firstID(c.now) != firstID(c.before) {
		c.add(&position{role: encryption, step: "ID"}, effectOf[encryption])
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

// catalog compares the document catalog. A signature may raise the version, as it may add developer
// extensions.
func (c *comparison) catalog(p *position, old, now pdf.Dict) error {
	keys, err := c.differingKeys(old, now)
	for _, key := range keys {
		child := p.child(string(key), catalog.under(key))
		if key == "Version" && c.versionRaised() {
			c.add(child, effectOf[extensions])
		} else if err := c.compare(child, old[key], now[key]); err != nil {
			return err
		}
	}
	return err
}

func (c *comparison) versionRaised() bool {
	major, minor := c.now.Version()
	oldMajor, oldMinor := c.before.Version()
	return major > oldMajor || major == oldMajor && minor >= oldMinor
}

// pageNode compares a node of the page tree. Every attribute that pages inherit from it is page
// content.
func (c *comparison) pageNode(p *position, old, now pdf.Dict) error {
	keys, err := c.differingKeys(old, now)
	for _, key := range keys {
		r := pageContent
		if slices.Contains([]pdf.Name{"Kids", "Count", "Parent", "Type"}, key) {
			r = pageKids
		}
		if err := c.compare(p.child(string(key), r), old[key], now[key]); err != nil {
			return err
		}
	}
	return err
}

// page compares a page. Tabs and StructParents concern assistive technology (ISO 32000-2 table 31).
func (c *comparison) page(p *position, old, now pdf.Dict) error {
	keys, err := c.differingKeys(old, now)
	for _, key := range keys {
		child := p.child(string(key), page.under(key))
		switch key {
		case "Parent":
			c.add(child, effectOf[pageNode])
		case "Tabs", "StructParents":
			c.add(child, effectOf[logicalStructure])
		default:
			if err := c.compare(child, old[key], now[key]); err != nil {
				return err
			}
		}
	}
	return err
}

// pageAnnotations compares the annotations of a page. The widgets of new fields belong to the
// fields.
func (c *comparison) pageAnnotations(p *position, old, now pdf.Array) error {
	var kept pdf.Array
	known := membersOf(old)
	for i, o := range now {
		if known.take(o) {
			kept = append(kept, o)
		} else {
			c.newAnnotation(p.child(strconv.Itoa(i), annotation), o)
		}
	}
	// Annotations were removed, or their drawing order was changed.
	if !slices.EqualFunc(kept, old, equal) {
		c.add(p, c.removedAnnotationsEffect(old, kept))
	}
	return nil
}

// newAnnotation reports an annotation that was added to a page.
func (c *comparison) newAnnotation(p *position, o pdf.Object) {
	ref, isRef := o.(pdf.Ref)
	if !isRef {
		c.add(p, effectOf[annotation])
		return
	}
	p.ref = ref
	if at, ok := c.addedFields[ref]; ok {
		c.changes[at].Page = p.page
		return
	}
	if known := c.graph.find(ref, field); known != nil {
		p.field = known.field
		c.add(p, effectOf[fieldAppearance])
		return
	}
	c.add(p, effectOf[annotation])
}

// removedAnnotationsEffect returns the effect of annotations that were removed from a page. If a
// field is among them, the appearance of the field has changed.
func (c *comparison) removedAnnotationsEffect(old, kept pdf.Array) effect {
	still := membersOf(kept)
	for _, o := range old {
		ref, isRef := o.(pdf.Ref)
		if isRef && c.graph.find(ref, field) != nil && !still.refs[ref] {
			return effectOf[fieldAppearance]
		}
	}
	return effectOf[annotation]
}

// members are the items of an array: the references, and the direct objects in their order.
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

// take reports whether an item of another array is one of the members. Direct objects have to be in
// the same order in both arrays, and each of them is taken once.
func (m *members) take(o pdf.Object) bool {
	if ref, ok := o.(pdf.Ref); ok {
		return m.refs[ref]
	}
	if len(m.direct) == 0 || !equal(m.direct[0], o) {
		return false
	}
	m.direct = m.direct[1:]
	return true
}

// validationData reports a change of the document security store. Entries that are no validation
// data may mean something to other readers.
func (c *comparison) validationData(p *position) error {
	if c.standardDSS == nil {
		_, dict, err := c.now.Catalog()
		plain := false
		if err == nil {
			plain, err = isStandardDSS(c.now, dict["DSS"])
		}
		if err := pdf.IgnoreMalformed(err); err != nil {
			return err
		}
		c.standardDSS = &plain
	}
	if *c.standardDSS {
		c.add(p, effectOf[validationData])
	} else {
		c.add(p, effectOf[otherRole])
	}
	return nil
}

// isStandardDSS reports whether a document security store has only the entries of ISO 32000-2
// tables 261 and 262.
func isStandardDSS(file *pdf.File, o pdf.Object) (bool, error) {
	dict, err := file.Dict(o)
	if err != nil || !hasOnly(dict, "Type", "Certs", "OCSPs", "CRLs", "VRI") {
		return false, err
	}
	if ok, err := areStreams(file, dict["Certs"], dict["OCSPs"], dict["CRLs"]); !ok || err != nil {
		return false, err
	}
	vri, err := file.Dict(dict["VRI"])
	if err != nil {
		return false, err
	}
	for key, entry := range vri {
		// Table 262 has Type in the entries of VRI. Some writers put it into VRI itself too.
		if key == "Type" {
			if _, err := file.Name(entry); err != nil {
				return false, err
			}
			continue
		}
		about, err := file.Dict(entry)
		if err != nil || !hasOnly(about, "Type", "Cert", "OCSP", "CRL", "TU", "TS") {
			return false, err
		}
		if ok, err := areStreams(file, about["Cert"], about["OCSP"], about["CRL"]); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// areStreams reports whether all items of the arrays are streams.
func areStreams(file *pdf.File, arrays ...pdf.Object) (bool, error) {
	for _, o := range arrays {
		array, err := file.Array(o)
		if err != nil {
			return false, err
		}
		for _, entry := range array {
			if stream, err := file.StreamObject(entry); stream == nil || err != nil {
				return false, err
			}
		}
	}
	return true, nil
}
