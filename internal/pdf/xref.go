package pdf

import (
	"fmt"
	"math"
	"slices"
)

// xrefSection is a cross-reference section with its trailer (ISO 32000-2 7.5.4, 7.5.8).
type xrefSection struct {
	offset  int64 // absolute
	end     int64 // absolute, after the trailer dictionary or the payload of the stream
	stream  bool
	trailer Dict
	source  []byte // source text of the trailer dictionary
}

// xrefReader follows the chain of cross-reference sections, from the newest to the oldest.
type xrefReader struct {
	file       *File
	visited    map[int64]bool
	entryCount int             // number of entries read, of all sections
	recorded   *sectionEntries // entries of the section being read; nil: not recorded
	newlyFree  []uint32        // objects whose newest entry is free and in the section being read
}

// sectionCache holds the cross-reference sections of earlier revisions with their entries. A revision
// contains all sections of the revisions before it, so most sections are needed several times.
type sectionCache struct {
	byPlace map[sectionPlace]cachedSection
	entries int
}

type sectionPlace struct{ at, shift int64 }

type cachedSection struct {
	xrefSection
	sectionEntries
}

// sectionEntries holds the entries of one section, also those whose offsets are outside the file.
type sectionEntries struct {
	entries   entryTable
	count     int   // number of entries, with repeated ones of one object
	maxOffset int64 // highest absolute offset
}

// readSections reads all sections that Prev and XRefStm lead to. If several sections have an entry
// for an object, the newest one counts. In a hybrid-reference file, the order is the table, then its XRefStm, then Prev
// (7.5.8.4).
func (f *File) readSections() error {
	f.sections, f.entries, f.lastHybrid = nil, entryTable{}, 0
	x := &xrefReader{file: f, visited: map[int64]bool{}}
	for offset, more := f.startxref, true; more; { // Prev ends the loop
		x.newlyFree = x.newlyFree[:0]
		s, err := x.visitSection(offset)
		if err != nil {
			return err
		}
		if err := x.readXRefStm(s); err != nil {
			return err
		}
		if offset, more, err = previous(s.trailer); err != nil {
			return err
		}
		if len(f.sections) > 0 { // only the offsets of older sections are needed
			s.trailer, s.source = nil, nil
		}
		f.sections = append(f.sections, s)
	}
	return nil
}

// previous returns the value of Prev, and whether Prev is present.
func previous(trailer Dict) (offset int64, more bool, err error) {
	switch prev := trailer["Prev"].(type) {
	case nil:
		return 0, false, nil
	case Integer:
		return int64(prev), true, nil
	case Real: // some writers write every number with a fraction
		if prev == Real(math.Trunc(float64(prev))) && math.Abs(float64(prev)) < 1<<53 {
			return int64(prev), true, nil
		}
	}
	return 0, false, fmt.Errorf("%w: Prev is not an offset", ErrDamaged)
}

// readXRefStm reads the cross-reference stream that XRefStm in the trailer of a table names.
func (x *xrefReader) readXRefStm(s xrefSection) error {
	value, ok := s.trailer["XRefStm"]
	if !ok || s.stream || x.file.ignoreXRefStmFrom > 0 && s.offset >= x.file.ignoreXRefStmFrom {
		return nil
	}
	x.file.lastHybrid = max(x.file.lastHybrid, s.offset)
	offset, ok := value.(Integer)
	if !ok {
		return fmt.Errorf("%w: XRefStm is not an offset", ErrDamaged)
	}
	// Some writers copy XRefStm into the trailer of an update.
	if x.visited[int64(offset)+x.file.offsetBase] {
		return nil // its entries were added already
	}
	return x.addXRefStm(int64(offset))
}

// visitSection marks the section at an offset as visited, and reads it. The offset is relative to offsetBase.
func (x *xrefReader) visitSection(offset int64) (xrefSection, error) {
	at := offset + x.file.offsetBase
	switch {
	case offset < 0 || offset >= x.file.size || at >= x.file.size:
		return xrefSection{}, fmt.Errorf("%w: cross-reference at %d, outside the file", ErrDamaged, offset)
	case x.visited[at]:
		return xrefSection{}, fmt.Errorf("%w: cross-reference sections refer to each other in a circle", ErrDamaged)
	case len(x.visited) >= maxSections:
		return xrefSection{}, fmt.Errorf("%w: more than %d cross-reference sections", ErrLimit, maxSections)
	}
	x.visited[at] = true
	s, err := x.readCachedSection(at)
	if err == nil {
		err = x.file.CheckBudget()
	}
	if err == nil && len(s.source) > maxTrailerBytes {
		err = fmt.Errorf("%w: trailer of %d bytes", ErrLimit, len(s.source))
	}
	if err != nil {
		return xrefSection{}, fmt.Errorf("cross-reference at %d: %w", at, err)
	}
	return s, nil
}

func (x *xrefReader) parseSection(at int64) (xrefSection, error) {
	c := x.file.cursor(at, 4<<10)
	table := false
	if err := c.step(func(p *parser) error { table = p.keyword("xref"); return nil }); err != nil {
		return xrefSection{}, err
	}
	if table {
		return x.parseTable(at, c)
	}
	return x.parseStream(at)
}

// add adds an entry unless a newer section has one for the object.
func (x *xrefReader) add(num int64, e xrefEntry) error {
	if num < 0 || num > maxObjectNumber {
		return fmt.Errorf("%w: object number %d is negative or too high", ErrLimit, num)
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

// outsideOffset returns the absolute offset that every entry with an offset outside the file gets.
func (x *xrefReader) outsideOffset() int64 { return x.file.size + x.file.offsetBase }

func (x *xrefReader) checkNumber() error {
	if x.entryCount > maxSectionEntries || x.file.entries.count > x.file.maxEntries() {
		return fmt.Errorf("%w: more than %d cross-reference entries", ErrLimit, x.file.maxEntries())
	}
	return nil
}

// maxEntries returns the maximum number of objects. It depends on the size of the file, so that a
// small file cannot take much memory.
func (f *File) maxEntries() int {
	return int(min(minEntries+entriesPerByte*f.size, maxEntries))
}

// addUncompressed adds an entry for an object at an offset that is relative to offsetBase. An
// offset outside the file is an error only when the caller asks for the object: often nothing refers
// to it.
func (x *xrefReader) addUncompressed(num int64, offset, gen uint64) error {
	if offset == 0 || gen > math.MaxUint16 { // some writers write such entries for deleted objects
		return x.add(num, xrefEntry{})
	}
	at := int64(min(offset, math.MaxInt64/2)) + x.file.offsetBase
	return x.add(num, xrefEntry{kind: uncompressedEntry, offset: at, gen: uint16(gen)})
}

// addXRefStm reads the cross-reference stream of a hybrid-reference file (7.5.8.4). The table marks
// the objects in object streams as free, which hides them from readers of PDF 1.4, and the stream has
// their real entries. So a free entry of the table counts only if the stream has no entry for the
// object.
func (x *xrefReader) addXRefStm(offset int64) error {
	entries := &x.file.entries
	hidden := slices.Clone(x.newlyFree)
	for _, num := range hidden {
		entries.forget(num)
	}
	stream, err := x.visitSection(offset)
	if err != nil {
		return err
	}
	if !stream.stream {
		return fmt.Errorf("%w: XRefStm does not refer to a stream", ErrDamaged)
	}
	for _, num := range hidden {
		if !entries.has(num) {
			entries.set(num, xrefEntry{})
		}
	}
	return nil
}

// maxCachedEntries limits the entries in the cache. Sections beyond the limit are read again.
const maxCachedEntries = 1 << 19

// readCachedSection returns what [xrefReader.parseSection] returns. For an earlier revision of another file
// (file.parent), it uses the cache of that file. A section that ends less than lookahead bytes before
// the end of the file is neither cached nor taken from the cache: the parser may have looked at bytes
// that the other revision does not have.
func (x *xrefReader) readCachedSection(at int64) (xrefSection, error) {
	if x.file.parent == nil {
		return x.parseSection(at)
	}
	cache, place := &x.file.origin().sectionCache, sectionPlace{at, x.file.offsetBase}
	if s, ok := cache.byPlace[place]; ok && s.end+lookahead <= x.file.size {
		return s.xrefSection, x.addCachedSection(s)
	}
	recorded := sectionEntries{}
	x.recorded = &recorded
	s, err := x.parseSection(at)
	x.recorded = nil
	if err == nil && s.end+lookahead <= x.file.size && cache.entries+recorded.entries.capacity() < maxCachedEntries {
		if cache.byPlace == nil {
			cache.byPlace = map[sectionPlace]cachedSection{}
		}
		recorded.entries.markShared()
		cache.byPlace[place] = cachedSection{s, recorded}
		cache.entries += recorded.entries.capacity()
	}
	return s, err
}

// record records an entry of the section that is being read.
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

// addCachedSection adds the entries of a section from the cache. It adds them one by one if the section
// has an XRefStm, because addXRefStm needs newlyFree, or has offsets outside the file.
func (x *xrefReader) addCachedSection(s cachedSection) error {
	const work = 4 // for each entry, in the units of File.work; less than reading it takes
	x.file.spend(work * int64(s.count))
	if _, hybrid := s.trailer["XRefStm"]; hybrid || s.maxOffset > x.outsideOffset() {
		return x.addCachedEntries(s)
	}
	x.entryCount += s.count
	x.file.entries.addTable(&s.entries)
	return x.checkNumber()
}

func (x *xrefReader) addCachedEntries(s cachedSection) error {
	x.entryCount += s.count - s.entries.count // add counts the others
	for num, e := range s.entries.all() {
		if err := x.add(int64(num), e); err != nil {
			return err
		}
	}
	return nil
}
