package doc

import (
	"slices"
	"strings"
	"sync"
)

// ranks are the places of the names in the order of attributes: by namespace, none first, then by local
// name (Canonical XML 1.1, 2.2). An element can have ten thousand attributes, and be written many times.
type ranks struct {
	once sync.Once
	of   []int32 // tree.names
}

func (d *Document) ranks() []int32 {
	d.order.once.Do(func() {
		names := d.tree.names
		sorted := make([]int32, len(names))
		for i := range sorted {
			sorted[i] = int32(i)
		}
		slices.SortFunc(sorted, func(a, b int32) int { return names[a].compare(&names[b]) })
		d.order.of = make([]int32, len(names))
		for rank, i := range sorted {
			d.order.of[i] = int32(rank)
		}
	})
	return d.order.of
}

func (n *name) compare(other *name) int {
	if order := strings.Compare(n.space, other.space); order != 0 {
		return order
	}
	return strings.Compare(n.local, other.local)
}
