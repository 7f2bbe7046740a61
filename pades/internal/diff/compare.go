package diff

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"maps"
	"reflect"
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// comparison is the comparison of a revision with the one before it.
type comparison struct {
	history      *History
	before, now  *pdf.File
	graph        *graph // of the revision before; advanceGraph makes it the graph of this one
	revision     int
	changes      []change
	seen         map[ades.Change]bool
	at           *position         // the position that is being compared
	moved        map[uint32]bool   // numbers of the objects that now are elsewhere in the file
	filledFields map[string]bool   // names of the fields whose values were changed
	signedFields map[string]effect // names of the fields that got a signature, and the effect of it
	addedFields  map[pdf.Ref]int   // new fields and widgets, with the indexes of their changes
	fields       *form.Fields      // of this revision; nil: not read yet
	standardDSS  *bool             // the result of isStandardDSS; nil: not known yet
}

// run compares the trailer, and then each object that is elsewhere in the file now, in each of its
// positions. An object that is where it was has not changed.
func (c *comparison) run() error {
	if err := c.trailer(); err != nil {
		return err
	}
	changed := c.changedPositions()
	if err := c.findFilled(changed); err != nil {
		return err
	}
	for _, p := range changed {
		if err := c.history.ctx.Err(); err != nil {
			return err
		}
		if err := c.object(p); err != nil {
			return err
		}
	}
	if err := c.advanceGraph(changed); err != nil {
		return err
	}
	for _, find := range []func() error{c.findUnreferenced, c.findDuplicateKeys, c.findReaderDifferences} {
		if err := find(); err != nil {
			return err
		}
	}
	return nil
}

// changedPositions returns the positions of the objects that may have changed, in the order of
// their roles.
func (c *comparison) changedPositions() (all []*position) {
	for _, num := range c.now.ChangedSince(c.before) {
		c.moved[num] = true
	}
	numbers := maps.Clone(c.moved)
	maps.Copy(numbers, c.graph.unreadable)
	for _, num := range slices.Sorted(maps.Keys(numbers)) {
		all = append(all, c.graph.ofNumber(num)...)
	}
	slices.SortStableFunc(all, func(a, b *position) int { return cmp.Compare(a.role, b.role) })
	return all
}

// object compares the object of a position with the object before. Until the next call, it is the
// position of the changes that are added.
func (c *comparison) object(p *position) error {
	c.at = p
	old, oldErr := c.before.Object(p.ref)
	now, err := c.now.Object(p.ref)
	if failed := errors.Join(pdf.IgnoreMalformed(oldErr), pdf.IgnoreMalformed(err), c.before.CheckBudget(), c.now.CheckBudget()); failed != nil {
		return failed
	}
	switch {
	case oldErr != nil && err != nil && !c.moved[p.ref.Num]:
		return nil // it is the same object, which cannot be read in either revision
	case oldErr != nil || err != nil:
		c.add(p, unknown)
		return nil
	}
	if c.moved[p.ref.Num] && c.generationReplaced(p.ref) {
		c.add(p, unknown)
	}
	return c.compare(p, old, now)
}

// generationReplaced reports whether another generation of an object is in use now. Readers that
// ignore generations show that one.
func (c *comparison) generationReplaced(ref pdf.Ref) bool {
	current := c.now.Reference(ref.Num)
	if current == ref {
		return false
	}
	o, err := c.now.Object(current)
	return o != nil || err != nil
}

// compare compares the values at a position. If both values are the same reference, they are equal
// here, and the object that it refers to is compared at a position of its own.
func (c *comparison) compare(p *position, old, now pdf.Object) error {
	if same, err := c.equal(old, now); same || err != nil {
		return err
	}
	was, oldErr := c.before.Resolve(old)
	is, err := c.now.Resolve(now)
	if failed := errors.Join(pdf.IgnoreMalformed(oldErr), pdf.IgnoreMalformed(err)); failed != nil {
		return failed
	}
	if oldErr != nil || err != nil {
		c.add(p, unknown)
		return nil
	}
	if ref, ok := now.(pdf.Ref); ok {
		there := *p
		there.ref, p = ref, &there
	}
	if same, err := c.equal(was, is); same || err != nil {
		return err
	}
	return c.classify(p, was, is)
}

// classify reports the effect of a changed object by its role. It descends into the object if its
// parts may have effects of their own.
func (c *comparison) classify(p *position, old, now pdf.Object) error {
	a, wasDict := old.(pdf.Dict)
	b, isDict := now.(pdf.Dict)
	dicts := (wasDict || old == nil) && isDict
	x, wasArray := old.(pdf.Array)
	y, isArray := now.(pdf.Array)
	arrays := (wasArray || old == nil) && (isArray || now == nil)
	switch {
	case p.role == catalog && dicts:
		return c.catalog(p, a, b)
	case p.role == interactiveForm && dicts:
		return c.interactiveForm(p, a, b)
	case p.role == formFields && arrays:
		return c.formFields(p, x, y)
	case p.role == field && dicts && wasDict:
		return c.field(p, a, b)
	case p.role == pageNode && dicts:
		return c.pageNode(p, a, b)
	case p.role == page && dicts:
		return c.page(p, a, b)
	case p.role == pageAnnotations && arrays:
		return c.pageAnnotations(p, x, y)
	case (p.role == formResources || p.role == resourceType) && dicts:
		return c.formResources(p, a, b)
	case p.role == validationData:
		return c.validationData(p)
	case p.role == metadata:
		return c.metadata(p, old, now)
	case p.role == documentInformation:
		c.documentInformation(p, old, now)
	case p.role == fieldAppearance:
		c.fieldAppearance(p)
	case p.role == fieldValue:
		c.fieldValue(p)
	default:
		c.add(p, effectOf[p.role])
	}
	return nil
}

// add adds a change at a position.
func (c *comparison) add(p *position, e effect) {
	if len(c.changes) >= maxChanges {
		return
	}
	if len(c.changes) == maxChanges-1 {
		p, e = &position{}, unknown
		c.at = nil // so that advanceGraph does not delete the change
	}
	found := ades.Change{Revision: c.revision, Kind: e.kind, Page: p.page, Field: p.field}
	if p.ref != (pdf.Ref{}) {
		found.Object = p.ref.String()
	}
	if p.step != "" || p.from != nil {
		found.Where = p.path()
	}
	if !c.seen[found] {
		c.seen[found] = true
		c.changes = append(c.changes, change{found, e.needs, c.at})
	}
}

// advanceGraph makes the graph that of this revision. Objects that are no longer referenced stay in
// the graph. Only if a change needs more than form filling, advanceGraph reads the whole graph
// again, and deletes the changes of objects that nothing refers to any more.
func (c *comparison) advanceGraph(changed []*position) error {
	c.graph.file = c.now
	if slices.ContainsFunc(c.changes, func(found change) bool { return found.needs > form.FormFilling }) {
		fresh, err := readGraph(c.history.ctx, c.now, c.graph.count)
		if err != nil {
			return err
		}
		*c.graph = *fresh
		c.changes = slices.DeleteFunc(c.changes, func(found change) bool {
			return found.at != nil && !fresh.refersTo(found.at.ref.Num)
		})
		return nil
	}
	for _, p := range changed {
		if err := c.graph.expand(p); err != nil {
			return err
		}
	}
	return c.graph.expandAll()
}

// findUnreferenced reports changed objects that nothing refers to: a later revision may refer to
// them.
func (c *comparison) findUnreferenced() error {
	c.at = nil
	for _, num := range slices.Sorted(maps.Keys(c.moved)) {
		ref := c.now.Reference(num)
		if len(c.graph.positions[ref]) > 0 {
			continue
		}
		o, err := c.now.Object(ref)
		if err := pdf.IgnoreMalformed(err); err != nil {
			return err
		}
		if (o != nil || err != nil) && !pdf.IsStructural(o) {
			c.add(&position{ref: ref}, effect{ades.ChangeHidden, form.NoChanges})
		}
	}
	return nil
}

// findDuplicateKeys reports changed objects that have two values for a key, because readers differ
// in which value counts (ISO 32000-2 7.3.7). If the document had such objects before, or has
// objects that cannot be read, it is not known what these refer to. Any change may then be visible,
// and an unknown change is added.
func (c *comparison) findDuplicateKeys() error {
	c.graph.duplicateKeys = c.graph.duplicateKeys || c.before.HasDuplicateKeys() || c.now.HasDuplicateKeys()
	for _, num := range slices.Sorted(maps.Keys(c.moved)) {
		ref := c.now.Reference(num)
		distinct, err := c.now.HasDistinctKeys(ref)
		if err := pdf.IgnoreMalformed(err); err != nil {
			return err
		}
		if err == nil && !distinct {
			c.add(&position{ref: ref}, unknown)
		}
	}
	if (c.graph.duplicateKeys || len(c.graph.unreadable) > 0) && len(c.changes) > 0 {
		c.add(&position{}, unknown)
	}
	return nil
}

// findReaderDifferences reports an unknown change if readers may differ in which objects they find:
// if the cross-reference does not list all objects, if a cross-reference table has a stream beside
// it (ISO 32000-2 7.5.8.4), or if some readers may take the cross-reference for damaged.
func (c *comparison) findReaderDifferences() error {
	size := c.before.Size()
	for _, agree := range []func() (bool, error){
		func() (bool, error) { return c.now.ListsAllObjects(size) },
		func() (bool, error) { return c.now.ReadersAgree(size) },
		func() (bool, error) { return c.now.LeadsStrictlyTo(c.before) },
	} {
		ok, err := agree()
		if err != nil {
			return err
		}
		if !ok {
			c.add(&position{}, unknown)
		}
	}
	return nil
}

// differingKeys returns the keys under which two dictionaries have different values, in order.
func (c *comparison) differingKeys(old, now pdf.Dict) (keys []pdf.Name, err error) {
	all := make(pdf.Dict, len(old)+len(now))
	maps.Copy(all, old)
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

// equal reports whether two objects are the same, wherever they are in the file. The encoded bytes
// of streams are compared. Two references are equal if they name the same object, even if that
// object has changed.
func (c *comparison) equal(old, now pdf.Object) (bool, error) {
	a, wasStream := old.(*pdf.Stream)
	b, isStream := now.(*pdf.Stream)
	if !wasStream || !isStream {
		return equal(old, now), nil
	}
	if a.Length != b.Length || !equal(a.Dict, b.Dict) {
		return false, nil
	}
	return a.Offset == b.Offset || c.samePayload(a, b), c.history.ctx.Err()
}

// samePayload reports whether the encoded bytes of two streams of the same length are the same.
func (c *comparison) samePayload(a, b *pdf.Stream) bool {
	const window = 32 << 10
	var old, now [window]byte
	for done := int64(0); done < a.Length; done += window {
		n := min(window, a.Length-done)
		_, err := c.history.Bytes.ReadAt(old[:n], a.Offset+done)
		if err != nil && !errors.Is(err, io.EOF) {
			return false
		}
		if _, err = c.history.Bytes.ReadAt(now[:n], b.Offset+done); err != nil && !errors.Is(err, io.EOF) {
			return false
		}
		if !bytes.Equal(old[:n], now[:n]) {
			return false
		}
	}
	return true
}

// equal reports whether two objects are the same. A stream is equal to nothing. An integer is equal
// to a real number of the same value, since some writers write every number with a fraction.
func equal(a, b pdf.Object) bool {
	switch a := a.(type) {
	case pdf.Array:
		other, ok := b.(pdf.Array)
		return ok && slices.EqualFunc(a, other, equal)
	case pdf.Dict:
		other, ok := b.(pdf.Dict)
		return ok && maps.EqualFunc(a, other, equal)
	case pdf.Integer:
		if other, ok := b.(pdf.Real); ok {
			return pdf.Real(a) == other
		}
	case pdf.Real:
		if other, ok := b.(pdf.Integer); ok {
			return a == pdf.Real(other)
		}
	case *pdf.Stream:
		return false
	}
	return reflect.DeepEqual(a, b)
}

// equalExcept reports whether two dictionaries are the same apart from the given keys.
func equalExcept(a, b pdf.Dict, keys ...pdf.Name) bool {
	a, b = without(a, keys...), without(b, keys...)
	return len(a) == len(b) && (len(a) == 0 || reflect.DeepEqual(a, b))
}

// hasOnly reports whether a dictionary has no keys other than the given ones.
func hasOnly(d pdf.Dict, keys ...pdf.Name) bool { return len(without(d, keys...)) == 0 }

func without(d pdf.Dict, keys ...pdf.Name) pdf.Dict {
	d = maps.Clone(d)
	for _, key := range keys {
		delete(d, key)
	}
	return d
}
