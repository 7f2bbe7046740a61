package pdf

import (
	"fmt"
	"slices"
)

// besideTable reads the cross-reference stream beside a table. Objects that the table calls
// free are hidden from readers without such streams: where they are is in the stream (7.5.8.4).
func (x *xrefReader) besideTable(offset int64) error {
	entries := &x.file.entries
	hidden := slices.Clone(x.free)
	for _, num := range hidden {
		entries.forget(num)
	}
	stream, err := x.section(offset)
	if err != nil {
		return err
	}
	if !stream.stream {
		return fmt.Errorf("%w: XRefStm leads to no stream", ErrDamaged)
	}
	for _, num := range hidden {
		if !entries.has(num) {
			entries.set(num, xrefEntry{})
		}
	}
	return nil
}

// Hybrid says whether the cross-reference has a table at or behind an offset with a stream
// beside it (7.5.8.4). Where both speak of an object, not all readers believe the same one.
func (f *File) Hybrid(offset int64) bool { return f.hybrid > 0 && f.hybrid >= offset }

// Unanimous says whether readers that know of no streams beside tables find the same in what was
// appended from an offset on as those that do.
func (f *File) Unanimous(from int64) (bool, error) {
	if !f.Hybrid(from) {
		return true, nil
	}
	alone := &File{r: f.r, size: f.size, shift: f.shift, startxref: f.startxref, named: map[uint32]bool{}, tablesFrom: from}
	err := alone.readSections()
	f.work += alone.work
	if err != nil {
		return false, err
	}
	changed := make(map[uint32]bool)
	f.noteOthers(alone, changed)
	return len(changed) == 0, nil
}
