package pades

import (
	"maps"
	"slices"

	"github.com/innsigli/innsigli/ades"
)

// doubled notes objects with two values for a key: readers differ in which counts (ISO 32000-2
// 7.3.7), and show something else than what was compared. Where some were there before, what they
// lead to by the other value is not known, so that anything that changed may be seen.
func (c *comparison) doubled() error {
	c.graph.doubled = c.graph.doubled || c.before.Doubled() || c.now.Doubled()
	for _, num := range slices.Sorted(maps.Keys(c.moved)) {
		ref := c.now.Reference(num)
		distinct, err := c.now.Distinct(ref)
		if err := notMalformed(err); err != nil {
			return err
		}
		if err == nil && !distinct {
			c.add(&position{ref: ref}, judgement{ades.ChangeUnknown, never})
		}
	}
	if (c.graph.doubled || len(c.graph.unfit) > 0) && len(c.changes) > 0 {
		c.add(&position{}, judgement{ades.ChangeUnknown, never})
	}
	return nil
}
