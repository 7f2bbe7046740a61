package doc

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"sort"
	"sync"
)

// identifiers are the elements that have one, as a hash table with open addressing: of each identifier the
// first attribute that gives it. The table is made when it is asked for, at once as large as it has to be,
// and its hash has a seed of its own: a document cannot be written so that looking things up in it takes
// long.
type identifiers struct {
	once     sync.Once
	seed     maphash.Seed
	slots    []slot
	repeated slot // one that several elements have
}

// slot is the place of an attribute in tree.attributes plus one, 0 where there is none; negative where
// several elements have its value for an identifier.
type slot int32

func (s slot) attribute() int32 { return int32(max(s, -s)) - 1 }

func (d *Document) identifiers() *identifiers {
	d.ids.once.Do(func() {
		d.ids.seed = maphash.MakeSeed()
		d.ids.slots = make([]slot, 1<<bits.Len(uint(d.tree.identifiers)*3/2)) // at most two thirds are taken
		for i := range d.tree.attributes.length {
			a := d.tree.attributes.at(i)
			if d.tree.names[a.name].kind == identifierName {
				d.identify(i, a)
			}
		}
	})
	return &d.ids
}

// identify takes up what an attribute says.
func (d *Document) identify(i int32, a *attribute) {
	known := d.find(d.hash(a), func(other *attribute) bool { return d.equal(a, other) })
	switch {
	case *known == 0:
		*known = slot(i + 1)
	case *known > 0 && d.bearer(known.attribute()) != d.bearer(i):
		*known = -*known
		d.ids.repeated = *known
	}
}

// find is the slot with the attribute that is looked for, else the one where it would be.
func (d *Document) find(hash uint64, is func(*attribute) bool) *slot {
	last := uint64(len(d.ids.slots) - 1)
	for i := hash & last; ; i = (i + 1) & last {
		s := &d.ids.slots[i]
		if *s == 0 || is(d.tree.attributes.at(s.attribute())) {
			return s
		}
	}
}

// hash is that of a value, without a copy of it.
func (d *Document) hash(a *attribute) uint64 {
	var h maphash.Hash
	h.SetSeed(d.ids.seed)
	c := characters{raw: d.text[a.start:a.end], attribute: true}
	for piece, ok := c.next(); ok; piece, ok = c.next() {
		h.Write(piece)
	}
	return h.Sum64()
}

// equal says whether values are. Those that are written with references may be written in different ways.
func (d *Document) equal(a, b *attribute) bool {
	x, y := d.text[a.start:a.end], d.text[b.start:b.end]
	return bytes.Equal(x, y) || !(d.isLiteral(a) && d.isLiteral(b)) && d.value(a) == d.value(b)
}

func (d *Document) isLiteral(a *attribute) bool {
	c := characters{raw: d.text[a.start:a.end], attribute: true}
	return c.literal() == len(c.raw)
}

// bearer is the element that an attribute is of: the last node before the first whose attributes come later.
func (d *Document) bearer(attribute int32) int32 {
	return int32(sort.Search(int(d.tree.nodes.length), func(n int) bool {
		return d.tree.nodes.at(int32(n)).attributes > attribute
	})) - 1
}

// ByID is the one element with that identifier: an attribute Id, ID or id without a namespace, or
// xml:id. There is none when there are several.
func (d *Document) ByID(id string) (n Node, ok bool) {
	seed := d.identifiers().seed
	known := *d.find(maphash.String(seed, id), func(a *attribute) bool { return d.value(a) == id })
	if known <= 0 {
		return n, false
	}
	return Node{d, d.bearer(known.attribute())}, true
}

// DuplicateID is an identifier that more than one element has.
func (d *Document) DuplicateID() (id string, found bool) {
	repeated := d.identifiers().repeated
	if repeated == 0 {
		return "", false
	}
	return d.value(d.tree.attributes.at(repeated.attribute())), true
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
