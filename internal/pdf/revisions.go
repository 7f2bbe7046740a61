package pdf

import (
	"fmt"
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
