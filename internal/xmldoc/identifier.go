package xmldoc

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sync"
)

// identifiers are the elements that have one, ordered so that equal ones stand together. The
// table is made when it is asked for, and ordered by a hash with a seed of its own: a document
// cannot be written so that looking things up in it takes long.
type identifiers struct {
	once   sync.Once
	seed   maphash.Seed
	sorted []identifier
}

type identifier struct {
	hash      uint64
	node      int32
	attribute int32
}

func (d *Document) identifiers() []identifier {
	d.ids.once.Do(func() {
		d.ids.seed = maphash.MakeSeed()
		for i := range d.tree.nodes.length {
			d.identify(i)
		}
		slices.SortFunc(d.ids.sorted, d.compare)
	})
	return d.ids.sorted
}

func (d *Document) identify(n int32) {
	for i, end := d.tree.attributesOf(n); i < end; i++ {
		a := d.tree.attributes.at(i)
		if d.tree.names[a.name].kind == identifierName {
			hash := maphash.String(d.ids.seed, d.value(a))
			d.ids.sorted = append(d.ids.sorted, identifier{hash, n, i})
		}
	}
}

func (d *Document) compare(a, b identifier) int {
	if c := cmp.Compare(a.hash, b.hash); c != 0 {
		return c
	}
	if c := cmp.Compare(d.identifierOf(a), d.identifierOf(b)); c != 0 {
		return c
	}
	return cmp.Compare(a.attribute, b.attribute)
}

func (d *Document) identifierOf(i identifier) string {
	return d.value(d.tree.attributes.at(i.attribute))
}

// ByID is the one element with that identifier: an attribute Id, ID or id without a namespace, or
// xml:id. There is none when there are several.
func (d *Document) ByID(id string) (n Node, ok bool) {
	all := d.identifiers()
	hash := maphash.String(d.ids.seed, id)
	first, _ := slices.BinarySearchFunc(all, hash, func(i identifier, hash uint64) int {
		return cmp.Compare(i.hash, hash)
	})
	for _, i := range all[first:] {
		switch {
		case i.hash != hash:
			return n, ok
		case d.identifierOf(i) != id:
		case ok && n.index != i.node:
			return Node{}, false
		default:
			n, ok = Node{d, i.node}, true
		}
	}
	return n, ok
}

// DuplicateID is an identifier that more than one element has.
func (d *Document) DuplicateID() (id string, found bool) {
	all := d.identifiers()
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		if a.hash == b.hash && a.node != b.node && d.identifierOf(a) == d.identifierOf(b) {
			return d.identifierOf(a), true
		}
	}
	return "", false
}

// identifies says whether an attribute of that name gives an element its identifier: the names that
// validators of signatures take for it where no schema says so, and xml:id.
func identifies(space, local string) bool {
	switch space {
	case "":
		return local == "Id" || local == "ID" || local == "id"
	case xmlSpace:
		return local == "id"
	}
	return false
}
