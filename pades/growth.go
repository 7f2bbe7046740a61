package pades

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/innsigli/innsigli/internal/pdf"
)

// growth is what was appended to a document after a signature. Nobody has signed it, so
// it may be what proves the signature and nothing else: validation data and document
// timestamps (ISO 32000-2 12.8.2.2.2 permits these whatever the author permits).
//
// The rule: whatever the signed document led to, but by the store of validation data, is
// what it was, objects that were missing included. Only lists of annotations and fields may
// be longer, by the invisible fields of document timestamps, and metadata may say who
// wrote the file last. Nothing leads to anything else that was appended, so that nobody
// gets to see it: what was appended is written so plainly that all read the same.
type growth struct {
	ctx         context.Context
	now, before *pdf.File
	known       references
	gained      map[pdf.Ref]bool     // objects that may differ: what they have more is proof
	stamps      map[pdf.Ref]pdf.Dict // fields of document timestamps that were added
	names       map[string]bool      // of fields
}

// grewByProof says whether everything behind an offset proves what is before it. What
// cannot be read is something else.
func (d *inspection) grewByProof(end int64) (bool, error) {
	if !slices.ContainsFunc(d.revisions, func(marker int64) bool { return d.endsAt(marker, d.doc.Size) }) {
		return false, nil
	}
	before, err := d.file.Earlier(end)
	if err != nil {
		return false, notMalformed(err)
	}
	g := growth{ctx: d.ctx, now: d.file, before: before, gained: make(map[pdf.Ref]bool), stamps: make(map[pdf.Ref]pdf.Dict)}
	ok, err := g.isProof()
	return ok && err == nil, notMalformed(err)
}

func (g *growth) isProof() (bool, error) {
	if ok, err := g.now.PlainlyExtends(g.before); !ok || err != nil {
		return false, err
	}
	ref, now, err := g.now.Catalog()
	if err != nil {
		return false, err
	}
	old, before, err := g.before.Catalog()
	if err != nil || ref != old || !g.sameTrailer() || !same(now, before, "DSS", "Extensions", "AcroForm") {
		return false, err
	}
	if err := g.compare(ref, before); err != nil {
		return false, err
	}
	g.gains(ref)
	for _, rule := range []func() (bool, error){
		func() (bool, error) { return g.form(now["AcroForm"], before["AcroForm"]) },
		g.pages,
		func() (bool, error) { return g.store(now["DSS"]) },
		func() (bool, error) { return g.metadata(g.now.Trailer()["Info"], now["Metadata"]) },
	} {
		if ok, err := rule(); !ok || err != nil {
			return false, err
		}
	}
	// What a dictionary leads to by another value of a key is not known (ISO 32000-2 7.3.7).
	return !g.before.Doubled() && !slices.ContainsFunc(g.known.changed, func(ref pdf.Ref) bool { return !g.gained[ref] }), nil
}

// sameTrailer: a stream that is hidden beside a table is read by some and not by others.
func (g *growth) sameTrailer() bool {
	now, before := g.now.Trailer(), g.before.Trailer()
	return reflect.DeepEqual(now["Info"], before["Info"]) && reflect.DeepEqual(now["Encrypt"], before["Encrypt"]) && !g.now.Hybrid(g.before.Size())
}

// same compares dictionaries without some of their keys.
func same(a, b pdf.Dict, without ...pdf.Name) bool {
	a, b = omit(a, without...), omit(b, without...)
	return len(a) == len(b) && (len(a) == 0 || reflect.DeepEqual(a, b))
}

func omit(d pdf.Dict, keys ...pdf.Name) pdf.Dict {
	d = maps.Clone(d)
	for _, key := range keys {
		delete(d, key)
	}
	return d
}

// compare notes what the signed document leads to, and what became of it. Extensions are
// of no effect (ISO 32000-2 7.12).
func (g *growth) compare(ref pdf.Ref, catalog pdf.Dict) error {
	g.known = references{ctx: g.ctx, now: g.now, before: g.before, count: map[pdf.Ref]int{ref: 1}}
	g.known.changed = []pdf.Ref{ref}
	g.known.note(omit(g.before.Trailer(), "Root"))
	g.known.note(omit(catalog, "DSS", "Extensions"))
	return g.known.follow()
}

// gains lets the object that a value of the signed document refers to differ, unless
// something else refers to it: that would take what it gained for something else.
func (g *growth) gains(before pdf.Object) {
	if ref, ok := before.(pdf.Ref); ok && g.known.count[ref] == 1 {
		g.gained[ref] = true
	}
}

// form: the form has new fields, of document timestamps.
func (g *growth) form(now, before pdf.Object) (bool, error) {
	form, err := g.now.Dict(now)
	if err != nil {
		return false, err
	}
	old, err := g.before.Dict(before)
	if err != nil || !same(form, old, "Fields", "SigFlags") {
		return false, err
	}
	g.gains(before)
	added, ok, err := g.added(form["Fields"], old["Fields"])
	if !ok || err != nil {
		return false, err
	}
	fields, err := readFields(g.before)
	if err != nil {
		return false, err
	}
	g.names = fields.names
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
	g.gains(before)
	return array[len(old):], true, nil
}

// pages: pages have new annotations, the widgets of document timestamps.
func (g *growth) pages() (bool, error) {
	for _, field := range g.stamps {
		if ok, err := g.page(field["P"]); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (g *growth) page(o pdf.Object) (bool, error) {
	ref, ok := o.(pdf.Ref)
	if !ok || g.gained[ref] {
		return o == nil || ok, nil
	}
	now, err := g.now.Dict(ref)
	if err != nil {
		return false, err
	}
	before, err := g.before.Dict(ref)
	if err != nil || before["Type"] != pdf.Name("Page") || !same(now, before, "Annots") {
		return false, err
	}
	g.gained[ref] = true
	added, ok, err := g.added(now["Annots"], before["Annots"])
	isStamp := func(a pdf.Object) bool { ref, _ := a.(pdf.Ref); return g.stamps[ref] != nil }
	return ok && !slices.ContainsFunc(added, func(a pdf.Object) bool { return !isStamp(a) }), err
}
