package doc

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"sync"
)

// identifiers is a hash table with open addressing from identifiers to elements. For each
// identifier it has the first attribute with that value. It is built on first use in its final
// size. Its hash has a random seed, so a document cannot be made such that lookups take long.
type identifiers struct {
	once     sync.Once
	seed     maphash.Seed
	slots    []idSlot
	repeated uint32 // the offset of an identifier of several elements; 0: there is none
}

// idSlot is an identifier in the table. Its value is read only if its hash is equal, because it can have
// megabytes and be near the place of other identifiers.
type idSlot struct {
	offset uint32 // of the attribute's value in the text, which is never 0; 0: the slot is empty
	hash   uint32 // of highHash, with isRepeated added if several elements have the identifier
}

const isRepeated = 1

// highHash returns the part of a hash that decides whether a value is read. Its lowest bit is zero.
func highHash(hash uint64) uint32 { return uint32(hash>>32) &^ isRepeated }

func (d *Document) identifiers() *identifiers {
	d.ids.once.Do(func() {
		d.ids.seed = maphash.MakeSeed()
		d.ids.slots = make([]idSlot, 1<<bits.Len(uint(d.tree.identifiers)*3/2)) // at most two thirds are in use
		if d.tree.identifiers == 0 {
			return
		}
		for i := range d.tree.nodes.length {
			d.addIdentifiers(i)
		}
	})
	return &d.ids
}

// addIdentifiers adds the identifiers of a node to the table.
func (d *Document) addIdentifiers(i int32) {
	for j, end := d.tree.attributesOf(i); j < end; j++ {
		if d.tree.names[*d.tree.attributes.at(j)].kind != identifierName {
			continue
		}
		t := d.tagOf(i)
		for a, ok := t.attribute(); ok; a, ok = t.attribute() {
			if d.tree.names[a.name].kind == identifierName {
				d.addIdentifier(i, a.start, d.text[a.start:a.end])
			}
		}
		return
	}
}

// addIdentifier adds an identifier of an element to the table.
func (d *Document) addIdentifier(element int32, start uint32, raw []byte) {
	hash := d.hash(raw)
	known := d.find(hash, func(other []byte) bool { return equalValues(raw, other) })
	switch {
	case known.offset == 0:
		*known = idSlot{offset: start, hash: highHash(hash)}
	case d.owner(known.offset) != element:
		known.hash |= isRepeated
		d.ids.repeated = known.offset
	}
}

// find returns the slot of the matching value, or the empty slot for it.
func (d *Document) find(hash uint64, is func(raw []byte) bool) *idSlot {
	last := uint64(len(d.ids.slots) - 1)
	for i := hash & last; ; i = (i + 1) & last {
		s := &d.ids.slots[i]
		if s.offset == 0 || s.hash&^isRepeated == highHash(hash) && is(d.identifier(s.offset)) {
			return s
		}
	}
}

// identifier returns the value of an identifier, by its offset, as it is in the text.
func (d *Document) identifier(offset uint32) []byte { return d.text[offset:d.valueEnd(offset)] }

// hash returns the hash of an attribute's value without copying the value.
func (d *Document) hash(raw []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(d.ids.seed)
	c := characters{raw: raw, attribute: true}
	for piece, ok := c.next(); ok; piece, ok = c.next() {
		h.Write(piece)
	}
	return h.Sum64()
}

// equalValues reports whether two values are equal. The same value can be written with different
// references.
func equalValues(x, y []byte) bool {
	if bytes.Equal(x, y) {
		return true
	}
	a, b := characters{raw: x, attribute: true}, characters{raw: y, attribute: true}
	return !(a.literal() == len(x) && b.literal() == len(y)) && a.value() == b.value()
}

// owner returns the element in whose start tag an offset is.
func (d *Document) owner(offset uint32) int32 { return d.tree.after(offset, 0) - 1 }

// ByID returns the only element with that identifier: an attribute Id, ID or id without a
// namespace, or xml:id. ok is false if there is none or there are several.
func (d *Document) ByID(id string) (n Node, ok bool) {
	seed := d.identifiers().seed
	known := d.find(maphash.String(seed, id), func(raw []byte) bool {
		c := characters{raw: raw, attribute: true}
		return c.value() == id
	})
	if known.offset == 0 || known.hash&isRepeated != 0 {
		return n, false
	}
	return Node{doc: d, index: d.owner(known.offset)}, true
}

// DuplicateID returns an identifier that more than one element has.
func (d *Document) DuplicateID() (id string, found bool) {
	repeated := d.identifiers().repeated
	if repeated == 0 {
		return "", false
	}
	c := characters{raw: d.identifier(repeated), attribute: true}
	return c.value(), true
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
