package pdf

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
)

// Revisions returns the absolute offsets directly after the "%%EOF" of each revision, in ascending
// order. Each is the length that the file had, without the final end of line, before an incremental
// update (7.5.6); the last is its present length. Revisions leaves out sections whose end it cannot
// find, and returns none for a rebuilt file.
func (f *File) Revisions() ([]int64, error) {
	var ends []int64
	if f.rebuilt {
		return nil, nil // the offsets of its sections are unknown
	}
	for i, s := range f.sections {
		// The first section of a linearized file is complete only with the section that its Prev
		// names, which lies at the end of the file (Annex F.3.3).
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

// revisionEnd returns the offset after the end-of-file marker that follows a section.
func (f *File) revisionEnd(s xrefSection) (end int64, found bool, err error) {
	c := f.cursor(s.end, 256)
	err = c.step(func(p *parser) error {
		found = (!s.isStream || p.keyword("endstream") && p.keyword("endobj")) && p.endOfFile()
		return nil
	})
	return c.offset(), found, err
}

// endOfFile reads startxref with its offset, and the end-of-file marker, which has the syntax of a
// comment (7.5.5).
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

// ChangedSince returns the numbers of the objects that may differ from those of before, an earlier
// revision of the file, in ascending order. These are the objects with another cross-reference
// entry, and all objects in an object stream that may differ.
func (f *File) ChangedSince(before *File) []uint32 {
	changed := make(map[uint32]bool)
	f.noteDifferences(before, changed)
	if len(changed) == 0 {
		return nil
	}
	containers := make(map[int64]bool) // numbers of object streams, and whether they may differ
	for num, e := range f.entries.all() {
		if e.kind != compressedEntry {
			continue
		}
		differs, known := containers[e.offset]
		if !known {
			container := uint32(e.offset)
			differs = changed[container] || f.dependsOnChanged(container, changed) && f.objectStreamDiffers(before, container)
			containers[e.offset] = differs
		}
		if differs {
			changed[num] = true
		}
	}
	return slices.Sorted(maps.Keys(changed))
}

// noteDifferences adds to changed the objects whose cross-reference entries differ in the two
// files.
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

// noteChunkDifferences does this for one chunk. All free entries count as equal.
func (f *File) noteChunkDifferences(before *File, key uint32, changed map[uint32]bool) {
	for num := key * chunkSize; num < (key+1)*chunkSize; num++ {
		now, old := f.entries.get(num), before.entries.get(num)
		if now != old && (now.kind != freeEntry || old.kind != freeEntry) {
			changed[num] = true
		}
	}
}

// dependsOnChanged reports whether decoding an object stream may use a changed object, although its own
// entry is unchanged. It reports true where the use of a compressed object decides that, since that one
// may have changed with its object stream.
func (f *File) dependsOnChanged(container uint32, changed map[uint32]bool) bool {
	o, err := f.find(f.Reference(container))
	if err != nil {
		return true
	}
	dict, _ := o.value.(Dict)
	seen := make(map[Ref]bool)
	var reaches func(o Object) bool
	reaches = func(o Object) bool {
		switch o := o.(type) {
		case Ref:
			if seen[o] {
				return false
			}
			seen[o] = true
			if changed[o.Num] || f.entries.get(o.Num).kind == compressedEntry || len(seen) > maxReferences {
				return true
			}
			target, err := f.find(o)
			return err != nil || reaches(target.value)
		case Array:
			return slices.ContainsFunc(o, reaches)
		case Dict:
			return slices.ContainsFunc(slices.Collect(maps.Values(o)), reaches)
		}
		return false
	}
	return reaches(Array{dict["Length"], dict["Filter"], dict["DecodeParms"], dict["N"], dict["First"]})
}

// objectStreamDiffers reports whether an object stream has other contents than before, or contents
// that cannot be read.
func (f *File) objectStreamDiffers(before *File, container uint32) bool {
	now, err := f.objectStream(container)
	if err != nil {
		return true
	}
	old, err := before.objectStream(container)
	return err != nil || !bytes.Equal(now.content, old.content) || !slices.Equal(now.objects, old.objects)
}
