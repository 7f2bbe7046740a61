package pades

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
)

// comparison is that of a revision with the one before it.
type comparison struct {
	ctx         context.Context
	doc         Document
	before, now *pdf.File
	graph       *graph // of the revision before, and then of this one
	revision    int
	changes     []change
	seen        map[ades.Change]bool
	at          *position            // that is being compared
	moved       map[uint32]bool      // objects that are elsewhere
	filled      map[string]bool      // fields that have other values
	signed      map[string]judgement // fields that were there and have a signature now
	added       map[pdf.Ref]int      // new fields and their widgets, and the change that each is
	said        *saidInMetadata
	stamps      []documentTimestamp // of the document
	shown       *fields             // of this revision, as the report has them; nil: not asked yet
	plainStore  *bool               // whether the store has validation data and nothing else; nil: not asked yet
}

// judgement is what a change is, and what it takes to be permitted.
type judgement struct {
	kind  ades.ChangeKind
	needs Permission
}

// change is one with what it takes.
type change struct {
	ades.Change
	needs Permission
	at    *position // that was compared; nil: the trailer
}

// never is what nobody permits.
const never = Annotations + 1

// maxChanges bounds what is listed of one revision.
const maxChanges = 10_000

func (c *comparison) add(p *position, j judgement) {
	if len(c.changes) >= maxChanges {
		return
	}
	if len(c.changes) == maxChanges-1 {
		p, j = &position{}, judgement{ades.ChangeUnknown, never}
		c.at = nil // it stays, whatever becomes of what is being compared
	}
	found := ades.Change{Revision: c.revision, Kind: j.kind, Page: p.page, Field: p.field}
	if p.ref != (pdf.Ref{}) {
		found.Object = p.ref.String()
	}
	if p.step != "" || p.from != nil {
		found.Where = p.where()
	}
	if !c.seen[found] {
		c.seen[found] = true
		c.changes = append(c.changes, change{found, j.needs, c.at})
	}
}

// object compares what the object of a position was with what it is.
func (c *comparison) object(p *position) error {
	c.at = p
	old, oldErr := c.before.Object(p.ref)
	now, err := c.now.Object(p.ref)
	if failed := errors.Join(notMalformed(oldErr), notMalformed(err), c.before.Spent(), c.now.Spent()); failed != nil {
		return failed
	}
	switch {
	case oldErr != nil && err != nil && !c.moved[p.ref.Num]:
		return nil // nobody reads it, now as before
	case oldErr != nil || err != nil:
		c.add(p, judgement{ades.ChangeUnknown, never})
		return nil
	}
	if c.moved[p.ref.Num] && c.replaced(p.ref) {
		c.add(p, judgement{ades.ChangeUnknown, never})
	}
	return c.compare(p, old, now)
}

// compare compares what stands in a position. What the same reference leads to is compared in a
// position of its own.
func (c *comparison) compare(p *position, old, now pdf.Object) error {
	if same, err := c.equal(old, now); same || err != nil {
		return err
	}
	was, oldErr := c.before.Resolve(old)
	is, err := c.now.Resolve(now)
	if failed := errors.Join(notMalformed(oldErr), notMalformed(err)); failed != nil {
		return failed
	}
	if oldErr != nil || err != nil {
		c.add(p, judgement{ades.ChangeUnknown, never})
		return nil
	}
	if ref, ok := now.(pdf.Ref); ok {
		there := *p
		there.ref, p = ref, &there
	}
	if same, err := c.equal(was, is); same || err != nil {
		return err
	}
	return c.judge(p, was, is)
}

// judge says what it is that an object changed, by its role.
func (c *comparison) judge(p *position, old, now pdf.Object) error {
	a, wasDict := old.(pdf.Dict)
	b, isDict := now.(pdf.Dict)
	dicts := (wasDict || old == nil) && isDict
	x, wasArray := old.(pdf.Array)
	y, isArray := now.(pdf.Array)
	arrays := (wasArray || old == nil) && (isArray || now == nil)
	switch {
	case p.role == theCatalog && dicts:
		return c.catalog(p, a, b)
	case p.role == theForm && dicts:
		return c.form(p, a, b)
	case p.role == formFields && arrays:
		return c.fields(p, x, y)
	case p.role == aField && dicts && wasDict:
		return c.field(p, a, b)
	case p.role == thePages && dicts:
		return c.pageTree(p, a, b)
	case p.role == aPage && dicts:
		return c.page(p, a, b)
	case p.role == pageAnnotations && arrays:
		return c.annotations(p, x, y)
	case (p.role == formResources || p.role == resourceKind) && dicts:
		return c.resources(p, a, b)
	case p.role == theStore:
		return c.stored(p)
	case p.role == theMetadata:
		return c.metadataStream(p, old, now)
	case p.role == theDocumentInformation:
		c.described(p, old, now)
	case p.role == fieldAppearance:
		c.appearance(p)
	case p.role == fieldValue:
		c.value(p)
	default:
		c.add(p, judged[p.role])
	}
	return nil
}

// differing are the keys under which two dictionaries have other values, in order.
func (c *comparison) differing(old, now pdf.Dict) (keys []pdf.Name, err error) {
	all := maps.Clone(old)
	if all == nil {
		all = make(pdf.Dict)
	}
	maps.Copy(all, now)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		same, err := c.equal(old[key], now[key])
		if err != nil {
			return nil, err
		}
		if !same {
			keys = append(keys, key)
		}
	}
	return keys, nil
}
