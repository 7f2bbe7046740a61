package pdf

import "math/bits"

// Each revision of a file has the entries of those before it. Their tables share chunks.

// share allows other tables to have the chunks of this one.
func (t *entryTable) share() {
	for _, c := range t.chunks {
		c.shared = true
	}
}

// room is how many entries there is room for.
func (t *entryTable) room() int { return len(t.chunks) * chunkSize }

// addTable adds the entries of a table that is shared, but those that are there.
func (t *entryTable) addTable(shared *entryTable) {
	if t.chunks == nil {
		t.chunks = make(map[uint32]*entryChunk, len(shared.chunks))
	}
	for key, from := range shared.chunks {
		added := from.known
		if to := t.chunks[key]; to == nil {
			t.chunks[key] = from
		} else if added &^= to.known; added != 0 {
			t.own(key*chunkSize).fill(from, added)
		}
		t.count += bits.OnesCount32(added)
	}
	t.last = nil
}

// fill takes some entries from another chunk.
func (c *entryChunk) fill(from *entryChunk, which uint32) {
	c.known |= which
	for ; which != 0; which &= which - 1 {
		i := bits.TrailingZeros32(which)
		c.entries[i] = from.entries[i]
	}
}
