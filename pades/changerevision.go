package pades

import (
	"cmp"
	"maps"
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
)

// run compares the revisions: the trailer, and then each object that is elsewhere now, in each of
// its roles. What has not moved is what it was.
func (c *comparison) run() error {
	if err := c.trailer(); err != nil {
		return err
	}
	changed := c.positions()
	if err := c.noteFilled(changed); err != nil {
		return err
	}
	for _, p := range changed {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if err := c.object(p); err != nil {
			return err
		}
	}
	if err := c.goOn(changed); err != nil {
		return err
	}
	if err := c.hidden(); err != nil {
		return err
	}
	if err := c.doubled(); err != nil {
		return err
	}
	return c.otherwise()
}

// positions are those of the objects that may be others now, in the order of their roles.
func (c *comparison) positions() (all []*position) {
	for _, num := range c.now.ChangedSince(c.before) {
		c.moved[num] = true
	}
	numbers := maps.Clone(c.moved)
	for num := range c.graph.unfit {
		numbers[num] = true
	}
	for _, num := range slices.Sorted(maps.Keys(numbers)) {
		all = append(all, c.graph.of(num)...)
	}
	slices.SortStableFunc(all, func(a, b *position) int { return cmp.Compare(a.role, b.role) })
	return all
}

// goOn makes the graph one of this revision. It keeps what is led to no more, which matters only
// where it makes for a change that might not be permitted: then all of it is read again.
func (c *comparison) goOn(changed []*position) error {
	c.graph.file = c.now
	if slices.ContainsFunc(c.changes, func(found change) bool { return found.needs > FormFilling }) {
		fresh, err := readGraph(c.ctx, c.now, c.graph.count)
		if err != nil {
			return err
		}
		*c.graph = *fresh
		c.changes = slices.DeleteFunc(c.changes, func(found change) bool {
			return found.at != nil && !fresh.leadsTo(found.at.ref.Num)
		})
		return nil
	}
	for _, p := range changed {
		if err := c.graph.look(p); err != nil {
			return err
		}
	}
	return c.graph.follow()
}

// hidden notes the objects that nothing leads to: a later revision may bring them to light.
func (c *comparison) hidden() error {
	c.at = nil
	for _, num := range slices.Sorted(maps.Keys(c.moved)) {
		ref := c.now.Reference(num)
		if len(c.graph.known[ref]) > 0 {
			continue
		}
		o, err := c.now.Object(ref)
		if err := notMalformed(err); err != nil {
			return err
		}
		if (o != nil || err != nil) && !pdf.IsStructural(o) {
			c.add(&position{ref: ref}, judgement{ades.ChangeHidden, NoChanges})
		}
	}
	return nil
}

// otherwise notes what some readers find and others do not: objects that the cross-reference does
// not list, those of a table with a stream beside it (ISO 32000-2 7.5.8.4), and whatever there is to
// find where the cross-reference may be taken for damaged.
func (c *comparison) otherwise() error {
	size := c.before.Size()
	for _, same := range []func() (bool, error){
		func() (bool, error) { return c.now.Lists(size) },
		func() (bool, error) { return c.now.Unanimous(size) },
		func() (bool, error) { return c.now.PlainlyLeadsTo(c.before) },
	} {
		ok, err := same()
		if err != nil {
			return err
		}
		if !ok {
			c.add(&position{}, judgement{ades.ChangeUnknown, never})
		}
	}
	return nil
}
