package pdf

import (
	"iter"
	"maps"
	"math/bits"
	"slices"
)

// entryKind is the type of a cross-reference entry, numbered as in Table 18.
type entryKind uint8

const (
	freeEntry entryKind = iota
	uncompressedEntry
	compressedEntry
)

// xrefEntry says where an object lies.
type xrefEntry struct {
	offset int64  // absolute; of a compressed object, the number of its object stream
	index  uint32 // of a compressed object within its object stream
	gen    uint16
	kind   entryKind
}

// entryTable holds the entries by object number. Numbers mostly follow one another, so
// that entries lie together in chunks; few numbers far apart do not take much either.
// The zero value is empty.
type entryTable struct {
	chunks map[uint32]*entryChunk
	last   *entryChunk // that was asked for, and its key
	key    uint32
	count  int
	spare  []entryChunk // allocated together once there are many
}

type entryChunk struct {
	entries [chunkSize]xrefEntry
	present uint32 // a bit for each entry that is there
	shared  bool   // by tables, each of which copies it before it writes
}

const chunkSize = 32

func (t *entryTable) chunk(num uint32) *entryChunk {
	if key := num / chunkSize; t.last == nil || t.key != key {
		t.last, t.key = t.chunks[key], key
	}
	return t.last
}

// get returns the entry of an object, and a free one when there is none.
func (t *entryTable) get(num uint32) xrefEntry {
	if c := t.chunk(num); c != nil {
		return c.entries[num%chunkSize]
	}
	return xrefEntry{}
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

// forget removes an entry that is there.
func (t *entryTable) forget(num uint32) {
	c := t.writable(num)
	c.present &^= 1 << (num % chunkSize)
	c.entries[num%chunkSize] = xrefEntry{}
	t.count--
}

// own returns the chunk of a number for writing, as a new one if there is none.
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

// add notes an entry unless there is one, and says whether it did.
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

// all yields the entries in the order of their numbers.
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

// maxNum returns the highest number, or 0.
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

// Each revision of a file has the entries of those before it. Their tables share chunks.

// share allows other tables to have the chunks of this one.
func (t *entryTable) markShared() {
	for _, c := range t.chunks {
		c.shared = true
	}
}

// room is how many entries there is room for.
func (t *entryTable) capacity() int { return len(t.chunks) * chunkSize }

// addTable adds the entries of a table that is shared, but those that are there.
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

// fill takes some entries from another chunk.
func (c *entryChunk) copyEntries(from *entryChunk, which uint32) {
	c.present |= which
	for ; which != 0; which &= which - 1 {
		i := bits.TrailingZeros32(which)
		c.entries[i] = from.entries[i]
	}
}
