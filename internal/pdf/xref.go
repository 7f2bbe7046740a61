package pdf

import (
	"fmt"
	"math"
	"slices"
)

// section is a cross-reference section with its trailer (7.5.4, 7.5.8).
type section struct {
	offset  int64 // absolute
	end     int64 // absolute, behind the trailer dictionary or the stream's payload
	stream  bool
	trailer Dict
	source  []byte // of the trailer dictionary
}

// xrefReader follows the chain of sections from the newest to the oldest.
type xrefReader struct {
	file       *File
	visited    map[int64]bool
	entryCount int             // entries, of all sections
	recorded   *sectionEntries // by the section that is being read; nil: they are not kept
	newlyFree  []uint32        // objects that the section being read is the first to speak of, and calls free
}

// sectionCache are the cross-reference sections of earlier revisions with their entries: each revision has all
// sections of those before it.
type sectionCache struct {
	byPlace map[sectionPlace]cachedSection
	entries int
}

type sectionPlace struct{ at, shift int64 }

type cachedSection struct {
	section
	sectionEntries
}

// sectionEntries are what one section says, whether or not its places are in the file.
type sectionEntries struct {
	entries   entryTable
	count     int   // of which some may be of one object
	maxOffset int64 // place
}

// readSections reads all sections that Prev and XRefStm lead to. What a newer section
// says of an object holds; in a hybrid file, the table, then its XRefStm, then Prev (7.5.8.4).
func (f *File) readSections() error {
	f.sections, f.entries, f.lastHybrid = nil, entryTable{}, 0
	x := &xrefReader{file: f, visited: map[int64]bool{}}
	for offset, more := f.startxref, true; more; {
		x.newlyFree = x.newlyFree[:0]
		s, err := x.section(offset)
		if err != nil {
			return err
		}
		if err := x.readXRefStm(s); err != nil {
			return err
		}
		if offset, more, err = previous(s.trailer); err != nil {
			return err
		}
		if len(f.sections) > 0 { // of the older ones, only their place matters
			s.trailer, s.source = nil, nil
		}
		f.sections = append(f.sections, s)
	}
	return nil
}

// previous returns the value of Prev, if there is one.
func previous(trailer Dict) (offset int64, more bool, err error) {
	switch prev := trailer["Prev"].(type) {
	case nil:
		return 0, false, nil
	case Integer:
		return int64(prev), true, nil
	case Real: // some writers give every number a fraction
		if prev == Real(math.Trunc(float64(prev))) && math.Abs(float64(prev)) < 1<<53 {
			return int64(prev), true, nil
		}
	}
	return 0, false, fmt.Errorf("%w: Prev is no offset", ErrDamaged)
}

// hybrid reads the stream that XRefStm of a table's trailer names.
func (x *xrefReader) readXRefStm(s section) error {
	value, ok := s.trailer["XRefStm"]
	if !ok || s.stream || x.file.ignoreXRefStmFrom > 0 && s.offset >= x.file.ignoreXRefStmFrom {
		return nil
	}
	x.file.lastHybrid = max(x.file.lastHybrid, s.offset)
	offset, ok := value.(Integer)
	if !ok {
		return fmt.Errorf("%w: XRefStm is no offset", ErrDamaged)
	}
	if x.visited[int64(offset)+x.file.offsetBase] { // writers of updates copy it with the trailer
		return nil // and its entries are known
	}
	return x.addXRefStm(int64(offset))
}

// section reads the section at an offset that counts from the header.
func (x *xrefReader) section(offset int64) (section, error) {
	at := offset + x.file.offsetBase
	switch {
	case offset < 0 || offset >= x.file.size || at >= x.file.size:
		return section{}, fmt.Errorf("%w: cross-reference at %d, outside of the file", ErrDamaged, offset)
	case x.visited[at]:
		return section{}, fmt.Errorf("%w: cross-reference sections lead in a circle", ErrDamaged)
	case len(x.visited) >= maxSections:
		return section{}, fmt.Errorf("%w: more than %d cross-reference sections", ErrLimit, maxSections)
	}
	x.visited[at] = true
	s, err := x.cachedSection(at)
	if err == nil {
		err = x.file.CheckBudget()
	}
	if err == nil && len(s.source) > maxTrailerBytes {
		err = fmt.Errorf("%w: trailer of %d bytes", ErrLimit, len(s.source))
	}
	if err != nil {
		return section{}, fmt.Errorf("cross-reference at %d: %w", at, err)
	}
	return s, nil
}

func (x *xrefReader) sectionAt(at int64) (section, error) {
	c := x.file.cursor(at, 4<<10)
	table := false
	if err := c.step(func(p *parser) error { table = p.keyword("xref"); return nil }); err != nil {
		return section{}, err
	}
	if table {
		return x.table(at, c)
	}
	return x.stream(at)
}

// add notes an entry unless a newer section has said where the object lies.
func (x *xrefReader) add(num int64, e xrefEntry) error {
	if num < 0 || num > maxObjectNumber {
		return fmt.Errorf("%w: object number %d", ErrLimit, num)
	}
	x.record(uint32(num), e)
	if e.kind == uncompressedEntry {
		e.offset = min(e.offset, x.outsideOffset())
	}
	if x.file.entries.add(uint32(num), e) && e.kind == freeEntry {
		x.newlyFree = append(x.newlyFree, uint32(num))
	}
	x.entryCount++
	return x.checkNumber()
}

// end is the place of all that lies outside of the file.
func (x *xrefReader) outsideOffset() int64 { return x.file.size + x.file.offsetBase }

func (x *xrefReader) checkNumber() error {
	if x.entryCount > maxSectionEntries || x.file.entries.count > x.file.maxEntries() {
		return fmt.Errorf("%w: more than %d cross-reference entries", ErrLimit, x.file.maxEntries())
	}
	return nil
}

// maxEntries bounds the number of objects by the file's size, so that few bytes cannot
// claim much memory.
func (f *File) maxEntries() int {
	return int(min(minEntries+entriesPerByte*f.size, maxEntries))
}

// addPlain notes an object that lies at an offset that counts from the header. One that
// lies outside of the file is refused when it is asked for: it may not be needed.
func (x *xrefReader) addUncompressed(num int64, offset, gen uint64) error {
	if offset == 0 || gen > math.MaxUint16 { // written for objects that were dropped
		return x.add(num, xrefEntry{})
	}
	at := int64(min(offset, math.MaxInt64/2)) + x.file.offsetBase
	return x.add(num, xrefEntry{kind: uncompressedEntry, offset: at, gen: uint16(gen)})
}

// besideTable reads the cross-reference stream beside a table. Objects that the table calls
// free are hidden from readers without such streams: where they are is in the stream (7.5.8.4).
func (x *xrefReader) addXRefStm(offset int64) error {
	entries := &x.file.entries
	hidden := slices.Clone(x.newlyFree)
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

// maxKeptEntries bounds the entries that are kept. Sections beyond it are read anew.
const maxCachedEntries = 1 << 19

// sectionOnce is [xrefReader.sectionAt], read once for all earlier revisions of a file.
func (x *xrefReader) cachedSection(at int64) (section, error) {
	if x.file.parent == nil {
		return x.sectionAt(at)
	}
	kept, place := &x.file.origin().sectionCache, sectionPlace{at, x.file.offsetBase}
	if s, ok := kept.byPlace[place]; ok && s.end+lookahead <= x.file.size {
		return s.section, x.addCachedSection(s)
	}
	said := sectionEntries{}
	x.recorded = &said
	s, err := x.sectionAt(at)
	x.recorded = nil
	if err == nil && s.end+lookahead <= x.file.size && kept.entries+said.entries.capacity() < maxCachedEntries {
		if kept.byPlace == nil {
			kept.byPlace = map[sectionPlace]cachedSection{}
		}
		said.entries.markShared()
		kept.byPlace[place] = cachedSection{s, said}
		kept.entries += said.entries.capacity()
	}
	return s, err
}

// note keeps an entry of the section that is being read.
func (x *xrefReader) record(num uint32, e xrefEntry) {
	if x.recorded == nil || x.recorded.entries.capacity() > maxCachedEntries {
		return
	}
	x.recorded.count++
	x.recorded.entries.add(num, e)
	if e.kind == uncompressedEntry {
		x.recorded.maxOffset = max(x.recorded.maxOffset, e.offset)
	}
}

// addAll adds the entries of a section that was kept.
func (x *xrefReader) addCachedSection(s cachedSection) error {
	const work = 4 // of what reading one takes, in bytes
	x.file.spend(work * int64(s.count))
	if _, beside := s.trailer["XRefStm"]; beside || s.maxOffset > x.outsideOffset() {
		return x.addCachedEntries(s)
	}
	x.entryCount += s.count
	x.file.entries.addTable(&s.entries)
	return x.checkNumber()
}

func (x *xrefReader) addCachedEntries(s cachedSection) error {
	x.entryCount += s.count - s.entries.count
	for num, e := range s.entries.all() {
		if err := x.add(int64(num), e); err != nil {
			return err
		}
	}
	return nil
}
