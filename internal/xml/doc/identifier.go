package doc

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"sort"
	"sync"
)

// identifiers is a hash table with open addressing from identifiers to elements. For each
// identifier it has the first attribute with that value. It is built on first use in its final
// size. Its hash has a random seed, so a document cannot be made such that lookups take long.
type identifiers struct {
	once     sync.Once
	seed     maphash.Seed
	slots    []idSlot
	repeated idSlot // an identifier of several elements
}

// idSlot is the index of an attribute in tree.attributes plus one; 0 if the slot is empty; negative
// if several elements have the identifier.
type idSlot int32

func (s idSlot) attribute() int32 { return int32(max(s, -s)) - 1 }

func (d *Document) identifiers() *identifiers {
	d.ids.once.Do(func() {
		d.ids.seed = maphash.MakeSeed()
		d.ids.slots = make([]idSlot, 1<<bits.Len(uint(d.tree.identifiers)*3/2)) // at most two thirds are in use
		for i := range d.tree.attributes.length {
			a := d.tree.attributes.at(i)
			if d.tree.names[a.name].kind == identifierName {
				d.addIdentifier(i, a)
			}
		}
	})
	return &d.ids
}

// addIdentifier adds an attribute to the table.
func (d *Document) addIdentifier(i int32, a *attribute) {
	known := d.find(d.hash(a), func(other *attribute) bool { return d.equal(a, other) })
	switch {
	case *known == 0:
		*known = idSlot(i + 1)
	case *known > 0 && d.owner(known.attribute()) != d.owner(i):
		*known = -*known
		d.ids.repeated = *known
	}
}

// find returns the slot of the matching attribute, or the empty slot for it.
func (d *Document) find(hash uint64, is func(*attribute) bool) *idSlot {
	last := uint64(len(d.ids.slots) - 1)
	for i := hash & last; ; i = (i + 1) & last {
		s := &d.ids.slots[i]
		if *s == 0 || is(d.tree.attributes.at(s.attribute())) {
			return s
		}
	}
}

// hash returns the hash of an attribute's value without copying the value.
func (d *Document) hash(a *attribute) uint64 {
	var h maphash.Hash
	h.SetSeed(d.ids.seed)
	c := characters{raw: d.text[a.start:a.end], attribute: true}
	for piece, ok := c.next(); ok; piece, ok = c.next() {
		h.Write(piece)
	}
	return h.Sum64()
}

// equal reports whether two values are equal. The same value can be written with different
// references.
func (d *Document) equal(a, b *attribute) bool {
	x, y := d.text[a.start:a.end], d.text[b.start:b.end]
	return bytes.Equal(x, y) || !(d.isLiteral(a) && d.isLiteral(b)) && d.value(a) == d.value(b)
}

func (d *Document) isLiteral(a *attribute) bool {
	c := characters{raw: d.text[a.start:a.end], attribute: true}
	return c.literal() == len(c.raw)
}

// owner returns the element of an attribute: the last node before the first one whose attributes
// come later.
func (d *Document) owner(attribute int32) int32 {
	return int32(sort.Search(int(d.tree.nodes.length), func(n int) bool {
		return d.tree.nodes.at(int32(n)).attributes > attribute
	})) - 1
}

// ByID returns the only element with that identifier: an attribute Id, ID or id without a
// namespace, or xml:id. ok is false if there is none or there are several.
func (d *Document) ByID(id string) (n Node, ok bool) {
	seed := d.identifiers().seed
	known := *d.find(maphash.String(seed, id), func(a *attribute) bool { return d.value(a) == id })
	if known <= 0 {
		return n, false
	}
	return Node{d, d.owner(known.attribute())}, true
}

// DuplicateID returns an identifier that more than one element has.
func (d *Document) DuplicateID() (id string, found bool) {
	repeated := d.identifiers().repeated
	if repeated == 0 {
		return "", false
	}
	return d.value(d.tree.attributes.at(repeated.attribute())), true
}

// identifies reports whether an attribute of that name is an identifier: the names that signature
// validators accept without a schema, and xml:id.
func identifies(space, local string) bool {
	switch space {
	case "":
		return local == "Id" || local == "ID" || local == "id"
	case xmlSpace:
		return local == "id"
	}
	return false
}
