package pdf

import (
	"fmt"
	"maps"
	"slices"
)

// Revisions returns the absolute offsets directly behind the "%%EOF" of each revision of
// the file, in ascending order: how long the file was, end of line aside, before each
// incremental update (7.5.6), and is. Sections whose end cannot be found are left out.
func (f *File) Revisions() ([]int64, error) {
	var ends []int64
	if f.rebuilt {
		return nil, nil // where its sections are is not known
	}
	for i, s := range f.sections {
		// The first section of a linearized file is complete only with the one that its
		// Prev leads to, which lies at the file's end (Annex F.3.3).
		if i+1 < len(f.sections) && f.sections[i+1].offset > s.offset {
			continue
		}
		end, found, err := f.revisionEnd(s)
		if err != nil {
			return nil, fmt.Errorf("pdf: end of a revision: %w", err)
		}
		if found {
			ends = append(ends, end)
		}
	}
	slices.Sort(ends)
	return slices.Compact(ends), nil
}

// revisionEnd finds the end-of-file marker behind a section.
func (f *File) revisionEnd(s section) (end int64, found bool, err error) {
	c := f.cursor(s.end, 256)
	err = c.step(func(p *parser) error {
		found = (!s.stream || p.keyword("endstream") && p.keyword("endobj")) && p.endOfFile()
		return nil
	})
	return c.offset(), found, err
}

// endOfFile reads startxref with its offset, and the marker, which looks like a comment (7.5.5).
func (p *parser) endOfFile() bool {
	const marker = "%%EOF"
	if !p.keyword("startxref") {
		return false
	}
	if _, err := p.digits(); err != nil {
		return false
	}
	for c, ok := p.peek(); ok && isSpace(c); c, ok = p.peek() {
		p.pos++
	}
	for i := range len(marker) {
		if c, ok := p.next(); !ok || c != marker[i] {
			return false
		}
	}
	return true
}

// ChangedSince returns the numbers of the objects that may be others than in before, which the
// file begins with, in ascending order: those that the cross-reference says are elsewhere, with
// all that are in an object stream which is.
func (f *File) ChangedSince(before *File) []uint32 {
	changed := make(map[uint32]bool)
	f.noteDifferences(before, changed)
	lengths := f.anyIntegerChanged(before, changed)
	last, other := int64(-1), false // object stream, and whether it is another one now
	for num, e := range f.entries.all() {
		if e.kind != compressedEntry {
			continue
		}
		if e.offset != last {
			container := uint32(e.offset)
			last, other = e.offset, changed[container] || lengths && f.lengthDiffers(before, container)
		}
		if other {
			changed[num] = true
		}
	}
	return slices.Sorted(maps.Keys(changed))
}

// noteOthers notes the objects that the cross-references of two files have elsewhere.
func (f *File) noteDifferences(before *File, changed map[uint32]bool) {
	for key, chunk := range f.entries.chunks {
		if before.entries.chunks[key] != chunk {
			f.noteChunkDifferences(before, key, changed)
		}
	}
	for key := range before.entries.chunks {
		if f.entries.chunks[key] == nil {
			f.noteChunkDifferences(before, key, changed)
		}
	}
}

// noteChanged compares the entries of one chunk.
func (f *File) noteChunkDifferences(before *File, key uint32, changed map[uint32]bool) {
	for num := key * chunkSize; num < (key+1)*chunkSize; num++ {
		now, old := f.entries.get(num), before.entries.get(num)
		if now != old && (now.kind != freeEntry || old.kind != freeEntry) {
			changed[num] = true
		}
	}
}

// changedLength says whether an integer is among the objects that changed: it may be the length
// of an object stream that is where it was.
func (f *File) anyIntegerChanged(before *File, changed map[uint32]bool) bool {
	for num := range changed {
		e := before.entries.get(num)
		if e.kind != uncompressedEntry {
			continue
		}
		if o, err := before.find(Ref{Num: num, Gen: e.gen}); err == nil {
			if _, ok := o.value.(Integer); ok {
				return true
			}
		}
	}
	return false
}

// otherLength says whether an object stream has another length, or none that can be read.
func (f *File) lengthDiffers(before *File, container uint32) bool {
	ref := Ref{Num: container, Gen: f.entries.get(container).gen}
	now, err := f.object(ref)
	if err != nil {
		return true
	}
	old, err := before.object(ref)
	if err != nil {
		return true
	}
	a, isStream := now.(*Stream)
	b, wasStream := old.(*Stream)
	return !isStream || !wasStream || a.Length != b.Length
}
