package pades

import (
	"maps"
	"reflect"
	"slices"

	"github.com/innsigli/innsigli/internal/pdf"
)

// growth is what was appended to a document after a signature. Nobody has signed it, so
// it may be what proves the signature and nothing else: validation data and document
// timestamps (ISO 32000-2 12.8.2.2.2 permits these whatever the author permits).
type growth struct {
	now, before *pdf.File
	first       uint32               // number from which on there was no object
	allowed     map[uint32]bool      // objects that may have changed
	stamps      map[pdf.Ref]pdf.Dict // fields of document timestamps that were added
}

// grewByProof says whether everything behind an offset proves what is before it. What
// cannot be read is something else.
func (d *inspection) grewByProof(end int64) (bool, error) {
	if !slices.ContainsFunc(d.revisions, func(marker int64) bool { return d.endsAt(marker, d.doc.Size) }) {
		return false, nil
	}
	before, err := pdf.Open(d.doc, end)
	if err != nil {
		return false, notMalformed(err)
	}
	size, err := before.Int(before.Trailer()["Size"])
	if err != nil {
		return false, notMalformed(err)
	}
	g := growth{d.file, before, uint32(size), make(map[uint32]bool), make(map[pdf.Ref]pdf.Dict)}
	ok, err := g.isProof()
	return ok && err == nil, notMalformed(err)
}

func (g *growth) isProof() (bool, error) {
	ref, now, err := g.now.Catalog()
	if err != nil {
		return false, err
	}
	old, before, err := g.before.Catalog()
	if err != nil || ref != old || !same(now, before, "DSS", "Extensions", "AcroForm") || !g.sameTrailer() {
		return false, err
	}
	g.allow(ref, old)
	if ok, err := g.form(now["AcroForm"], before["AcroForm"]); !ok || err != nil {
		return false, err
	}
	for _, field := range g.stamps {
		if ok, err := g.page(field["P"]); !ok || err != nil {
			return false, err
		}
	}
	if err := g.store(now["DSS"], before["DSS"], 0); err != nil {
		return false, err
	}
	return g.onlyAllowed()
}

func (g *growth) sameTrailer() bool {
	now, before := g.now.Trailer(), g.before.Trailer()
	return now["Info"] == before["Info"] && reflect.DeepEqual(now["Encrypt"], before["Encrypt"])
}

// same compares dictionaries without some of their keys.
func same(a, b pdf.Dict, without ...pdf.Name) bool {
	a, b = maps.Clone(a), maps.Clone(b)
	for _, key := range without {
		delete(a, key)
		delete(b, key)
	}
	return len(a) == len(b) && (len(a) == 0 || reflect.DeepEqual(a, b))
}

// allow lets the object that a value refers to differ, if it is that of before or a new
// one. Another one is, and has to stay, something else.
func (g *growth) allow(now, before pdf.Object) bool {
	ref, indirect := now.(pdf.Ref)
	if !indirect {
		return true
	}
	if ok := ref == before || ref.Num >= g.first; !ok {
		return false
	}
	g.allowed[ref.Num] = true
	return true
}

// form: the form has new fields, of document timestamps.
func (g *growth) form(now, before pdf.Object) (bool, error) {
	form, err := g.now.Dict(now)
	if err != nil {
		return false, err
	}
	old, err := g.before.Dict(before)
	if err != nil || !same(form, old, "Fields", "SigFlags") || !g.allow(now, before) {
		return false, err
	}
	added, ok, err := g.added(form["Fields"], old["Fields"])
	if !ok || err != nil {
		return false, err
	}
	for _, field := range added {
		if ok, err := g.stamp(field); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// added returns what an array has more than before.
func (g *growth) added(now, before pdf.Object) (pdf.Array, bool, error) {
	array, err := g.now.Array(now)
	if err != nil {
		return nil, false, err
	}
	old, err := g.before.Array(before)
	if err != nil || len(array) < len(old) || !slices.EqualFunc(array[:len(old)], old, func(a, b pdf.Object) bool { return reflect.DeepEqual(a, b) }) {
		return nil, false, err
	}
	return array[len(old):], g.allow(now, before), nil
}

// fieldKeys are what the field of a document timestamp has: nothing that is done, and
// an appearance in a rectangle without area alone.
var fieldKeys = []pdf.Name{"Type", "Subtype", "FT", "T", "TU", "V", "F", "Ff", "Rect", "P", "AP"}

// stamp: a new field has a document timestamp and shows nothing.
func (g *growth) stamp(o pdf.Object) (bool, error) {
	ref, ok := o.(pdf.Ref)
	if !ok || ref.Num < g.first {
		return false, nil
	}
	field, err := g.now.Dict(ref)
	if err != nil || field["FT"] != pdf.Name("Sig") || !same(field, nil, fieldKeys...) {
		return false, err
	}
	rect, err := g.now.Rect(field["Rect"])
	if err != nil || rect != (pdf.Rect{}) { // zero: without area
		return false, err
	}
	appearances, err := g.now.Dict(field["AP"])
	if err != nil || !same(appearances, nil, "N") || !g.allow(field["AP"], nil) || !g.allow(appearances["N"], nil) {
		return false, err
	}
	value, err := g.now.Dict(field["V"])
	if err != nil || !isTimestamp(g.now, value) || !g.allow(field["V"], nil) {
		return false, err
	}
	g.stamps[ref] = field
	return g.allow(ref, nil), nil
}

// page: a page has new annotations, the widgets of document timestamps.
func (g *growth) page(o pdf.Object) (bool, error) {
	if o == nil {
		return true, nil
	}
	now, err := g.now.Dict(o)
	if err != nil {
		return false, err
	}
	before, err := g.before.Dict(o)
	if err != nil || before == nil || !same(now, before, "Annots") || !g.allow(o, o) {
		return false, err
	}
	added, ok, err := g.added(now["Annots"], before["Annots"])
	isStamp := func(a pdf.Object) bool { ref, _ := a.(pdf.Ref); return g.stamps[ref] != nil }
	return ok && !slices.ContainsFunc(added, func(a pdf.Object) bool { return !isStamp(a) }), err
}

// maxStoreDepth is that of a document security store: the entries of an array of a VRI
// dictionary among those in the store.
const maxStoreDepth = 5

// store allows what the document security store is made of. Its dictionaries and arrays
// may be replaced, its streams not.
func (g *growth) store(now, before pdf.Object, depth int) error {
	if err := g.now.Spent(); err != nil || depth > maxStoreDepth || !g.allow(now, before) {
		return err
	}
	value, err := g.now.Resolve(now)
	if err != nil {
		return err
	}
	old, err := g.before.Resolve(before)
	if err != nil {
		return err
	}
	switch value := value.(type) {
	case *pdf.Stream:
		g.allowed[value.Ref.Num] = value.Ref.Num >= g.first
	case pdf.Dict:
		was, _ := old.(pdf.Dict)
		for key, entry := range value {
			if err := g.store(entry, was[key], depth+1); err != nil {
				return err
			}
		}
	case pdf.Array:
		was, _ := old.(pdf.Array)
		was = append(slices.Clone(was), make(pdf.Array, max(len(value)-len(was), 0))...)
		for i, entry := range value {
			if err := g.store(entry, was[i], depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// onlyAllowed says whether nothing else changed. Streams that hold the cross-reference or
// other objects are how a revision is written.
func (g *growth) onlyAllowed() (bool, error) {
	for _, num := range g.now.Changed(g.before) {
		if g.allowed[num] {
			continue
		}
		stream, err := g.now.StreamObject(pdf.Ref{Num: num})
		if err != nil || num < g.first || stream == nil {
			return false, err
		}
		if kind := stream.Dict["Type"]; kind != pdf.Name("XRef") && kind != pdf.Name("ObjStm") {
			return false, nil
		}
	}
	return true, nil
}
