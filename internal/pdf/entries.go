package pdf

import (
	"iter"
	"maps"
	"math/bits"
	"slices"
)

// entryKind is the type of a cross-reference entry, with the numbers of Table 18.
type entryKind uint8

const (
	freeEntry entryKind = iota
	uncompressedEntry
	compressedEntry
)

// xrefEntry is the cross-reference entry of an object.
type xrefEntry struct {
	offset int64  // absolute; of a compressed object, the number of its object stream
	index  uint32 // index of a compressed object in its object stream
	gen    uint16
	kind   entryKind
}

// entryTable has cross-reference entries by object number. Most object numbers are consecutive, so
// the entries are stored in chunks; a few numbers that are far apart take little memory too. The
// tables of several revisions share chunks, because a revision has the entries of those before it.
// The zero value is an empty table.
type entryTable struct {
	chunks map[uint32]*entryChunk
	last   *entryChunk // chunk that was used last
	key    uint32      // of last
	count  int
	spare  []entryChunk // chunks that were allocated together
}

type entryChunk struct {
	entries [chunkSize]xrefEntry
	present uint32 // one bit for each entry that is present
	shared  bool   // several tables have this chunk; a table copies it before it writes
}

const chunkSize = 32

func (t *entryTable) chunk(num uint32) *entryChunk {
	if key := num / chunkSize; t.last == nil || t.key != key {
		t.last, t.key = t.chunks[key], key
	}
	return t.last
}

// get returns the entry of an object, or a free entry if there is none.
func (t *entryTable) get(num uint32) xrefEntry {
	if c := t.chunk(num); c != nil {
		return c.entries[num%chunkSize]
	}
	return xrefEntry{kind: freeEntry}
}

func (t *entryTable) has(num uint32) bool {
	c := t.chunk(num)
	return c != nil && c.present&(1<<(num%chunkSize)) != 0
}

func (t *entryTable) set(num uint32, e xrefEntry) {
	if !t.add(num, e) {
		t.writable(num).entries[num%chunkSize] = e
	}
}

// forget removes an entry, which has to be present.
func (t *entryTable) forget(num uint32) {
	c := t.writable(num)
	c.present &^= 1 << (num % chunkSize)
	c.entries[num%chunkSize] = xrefEntry{}
	t.count--
}

// writable returns the chunk of a number for writing. It copies a shared chunk and creates a
// missing one.
func (t *entryTable) writable(num uint32) *entryChunk {
	c := t.chunk(num)
	if c != nil && !c.shared {
		return c
	}
	if t.chunks == nil {
		t.chunks = map[uint32]*entryChunk{}
	}
	own := t.newChunk()
	if c != nil {
		own.entries, own.present = c.entries, c.present
	}
	t.chunks[num/chunkSize], t.last = own, own
	return own
}

func (t *entryTable) newChunk() *entryChunk {
	if len(t.spare) == 0 {
		t.spare = make([]entryChunk, 1+min(len(t.chunks)/4, 64))
	}
	c := &t.spare[0]
	t.spare = t.spare[1:]
	return c
}

// add adds an entry unless one is present, and reports whether it did.
func (t *entryTable) add(num uint32, e xrefEntry) bool {
	bit := uint32(1) << (num % chunkSize)
	if c := t.chunk(num); c != nil && c.present&bit != 0 {
		return false
	}
	c := t.writable(num)
	c.present |= bit
	t.count++
	c.entries[num%chunkSize] = e
	return true
}

// all yields the entries in ascending order of object numbers.
func (t *entryTable) all() iter.Seq2[uint32, xrefEntry] {
	return func(yield func(uint32, xrefEntry) bool) {
		for _, key := range slices.Sorted(maps.Keys(t.chunks)) {
			c := t.chunks[key]
			for known := c.present; known != 0; known &= known - 1 {
				i := uint32(bits.TrailingZeros32(known))
				if !yield(key*chunkSize+i, c.entries[i]) {
					return
				}
			}
		}
	}
}

// maxNum returns the highest object number, or 0.
func (t *entryTable) maxNum() uint32 {
	var highest uint32
	for key := range t.chunks {
		highest = max(highest, key)
	}
	c := t.chunks[highest]
	if c == nil {
		return 0
	}
	return highest*chunkSize + uint32(bits.Len32(c.present)) - 1
}

// markShared allows other tables to use the chunks of this one.
func (t *entryTable) markShared() {
	for _, c := range t.chunks {
		c.shared = true
	}
}

// capacity returns the number of entries that fit in the chunks.
func (t *entryTable) capacity() int { return len(t.chunks) * chunkSize }

// addTable adds the entries of a shared table that t does not have.
func (t *entryTable) addTable(shared *entryTable) {
	if t.chunks == nil {
		t.chunks = make(map[uint32]*entryChunk, len(shared.chunks))
	}
	for key, from := range shared.chunks {
		added := from.present
		if to := t.chunks[key]; to == nil {
			t.chunks[key] = from
		} else if added &^= to.present; added != 0 {
			t.writable(key*chunkSize).copyEntries(from, added)
		}
		t.count += bits.OnesCount32(added)
	}
	t.last = nil
}

// copyEntries copies the entries in the bit set which from another chunk.
func (c *entryChunk) copyEntries(from *entryChunk, which uint32) {
	c.present |= which
	for ; which != 0; which &= which - 1 {
		i := bits.TrailingZeros32(which)
		c.entries[i] = from.entries[i]
	}
}
