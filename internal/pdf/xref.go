package pdf

import (
	"fmt"
	"math"
	"slices"
)

// xrefSection is a cross-reference section with its trailer (ISO 32000-2 7.5.4, 7.5.8).
type xrefSection struct {
	offset   int64 // absolute
	end      int64 // absolute, after the trailer dictionary or the payload of the stream
	isStream bool
	trailer  Dict
	source   []byte // source text of the trailer dictionary
}

// xrefReader follows the chain of cross-reference sections, from the newest to the oldest.
type xrefReader struct {
	file      *File
	visited   map[int64]bool  // absolute offsets of sections
	readCount int             // number of entries of all sections, with repeated ones of one object
	recording *sectionEntries // entries of the section that is being parsed; nil: not recorded
	newlyFree []uint32        // objects that the section added last marks as free and no newer one mentions
}

// sectionCache holds the cross-reference sections of earlier revisions with their entries. A revision
// contains all sections of the revisions before it, so most sections are needed several times.
type sectionCache struct {
	byPlace map[sectionPlace]cachedSection
	bytes   int // estimated memory that the sections take
}

// sectionPlace is the key of a section. Two revisions may read the section at one absolute offset
// with different offsetBases, and get other entries: their offsets are relative to offsetBase.
type sectionPlace struct{ at, offsetBase int64 }

type cachedSection struct {
	xrefSection
	sectionEntries
}

// sectionEntries holds the entries of one section, also those whose offsets are outside the file.
type sectionEntries struct {
	table     entryTable
	readCount int   // number of entries, with repeated ones of one object
	maxOffset int64 // highest absolute offset
}

// readSections reads all sections that Prev and XRefStm lead to, and sets sections, entries and
// lastHybrid of the file. If several sections have an entry for an object, the newest one counts. In
// a hybrid-reference file, the order is the table, then its XRefStm, then Prev (7.5.8.4).
func (f *File) readSections() error {
	f.sections, f.entries, f.lastHybrid = nil, entryTable{}, 0
	x := &xrefReader{file: f, visited: map[int64]bool{}}
	relative, more := f.startxref, true
	for more {
		at, err := f.sectionOffset(relative)
		if err != nil {
			return err
		}
		s, err := x.addSection(at)
		if err != nil {
			return err
		}
		if err := x.addXRefStm(s); err != nil {
			return err
		}
		if relative, more, err = previous(s.trailer); err != nil {
			return err
		}
		if len(f.sections) > 0 { // only the offsets of older sections are needed
			s.trailer, s.source = nil, nil
		}
		f.sections = append(f.sections, s)
	}
	return nil
}

// sectionOffset returns the absolute offset of a section whose offset in the file is relative to
// offsetBase.
func (f *File) sectionOffset(relative int64) (at int64, err error) {
	at = relative + f.offsetBase
	if relative < 0 || relative >= f.size || at >= f.size {
		return 0, fmt.Errorf("%w: cross-reference at %d, outside the file", ErrDamaged, relative)
	}
	return at, nil
}

// previous returns the value of Prev, and whether Prev is present.
func previous(trailer Dict) (relative int64, more bool, err error) {
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

// addSection adds the entries of the section at an absolute offset to those of the file.
func (x *xrefReader) addSection(at int64) (xrefSection, error) {
	switch {
	case x.visited[at]:
		return xrefSection{}, fmt.Errorf("%w: cross-reference sections refer to each other in a circle", ErrDamaged)
	case len(x.visited) >= maxSections:
		return xrefSection{}, fmt.Errorf("%w: more than %d cross-reference sections", ErrLimit, maxSections)
	}
	x.visited[at] = true
	x.newlyFree = x.newlyFree[:0]
	s, err := x.addCachedOrParsed(at)
	if err == nil {
		err = x.file.CheckBudget()
	}
	if err != nil {
		return xrefSection{}, fmt.Errorf("cross-reference at %d: %w", at, err)
	}
	return s, nil
}

// parseSection parses a table or a stream, and adds its entries.
func (x *xrefReader) parseSection(at int64) (xrefSection, error) {
	s, err := x.parseTableOrStream(at)
	if err == nil && len(s.source) > maxTrailerBytes {
		err = fmt.Errorf("%w: trailer of %d bytes", ErrLimit, len(s.source))
	}
	return s, err
}

func (x *xrefReader) parseTableOrStream(at int64) (xrefSection, error) {
	const window = 4 << 10 // bytes: a short table and its trailer
	c := x.file.cursor(at, window)
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
	x.record(uint32(num), e) // with the real offset: a longer revision may have an object there
	if e.kind == uncompressedEntry && e.offset >= x.file.size {
		e.offset = outsideOffset
	}
	if added := x.file.entries.add(uint32(num), e); added && e.kind == freeEntry {
		x.newlyFree = append(x.newlyFree, uint32(num))
	}
	x.readCount++
	return x.checkEntryLimits()
}

// outsideOffset replaces every offset outside the file. An entry with it is the same in all revisions
// that do not have the object, and differs from that of a longer revision that has it.
const outsideOffset = math.MaxInt64

func (x *xrefReader) checkEntryLimits() error {
	if limit := x.file.entryLimit(); x.file.entries.count > limit {
		return fmt.Errorf("%w: cross-reference entries of more than %d objects", ErrLimit, limit)
	}
	if x.readCount > maxSectionEntries {
		return fmt.Errorf("%w: more than %d entries in all cross-reference sections", ErrLimit, maxSectionEntries)
	}
	return nil
}

// entryLimit returns the maximum number of objects. It depends on the size of the file, so that a
// small file cannot take much memory.
func (f *File) entryLimit() int {
	return int(min(minEntries+entriesPerByte*f.size, maxEntries))
}

// addUncompressed adds an entry for an object at an offset that is relative to offsetBase. An
// offset outside the file is an error only when the caller asks for the object: often nothing refers
// to it.
func (x *xrefReader) addUncompressed(num int64, relative, gen uint64) error {
	if relative == 0 || gen > math.MaxUint16 { // some writers write such entries for deleted objects
		return x.add(num, xrefEntry{kind: freeEntry})
	}
	const highest = math.MaxInt64 / 2 // outside every file, and the sum does not overflow
	at := int64(min(relative, highest)) + x.file.offsetBase
	return x.add(num, xrefEntry{kind: uncompressedEntry, offset: at, gen: uint16(gen)})
}

// addXRefStm adds the cross-reference stream that XRefStm names in the trailer of s, the section
// added last. Only tables have one.
func (x *xrefReader) addXRefStm(s xrefSection) error {
	value, ok := s.trailer["XRefStm"]
	if !ok || s.isStream || x.file.ignoresXRefStm(s) {
		return nil
	}
	x.file.lastHybrid = max(x.file.lastHybrid, s.offset)
	relative, ok := value.(Integer)
	if !ok {
		return fmt.Errorf("%w: XRefStm is not an offset", ErrDamaged)
	}
	at, err := x.file.sectionOffset(int64(relative))
	if err != nil {
		return err
	}
	if x.visited[at] { // some writers copy XRefStm into the trailer of an update
		return nil
	}
	return x.addHybridStream(at)
}

// ignoresXRefStm reports whether the file is read as by readers that ignore the XRefStm of a table
// ([File.ReadersAgree]).
func (f *File) ignoresXRefStm(table xrefSection) bool {
	return f.ignoreXRefStmFrom > 0 && table.offset >= f.ignoreXRefStmFrom
}

// addHybridStream adds the cross-reference stream of a hybrid-reference file (7.5.8.4). The table
// marks the objects in object streams as free, which hides them from readers of PDF 1.4, and the
// stream has their real entries. So a free entry of the table counts only if the stream has no
// entry for the object.
func (x *xrefReader) addHybridStream(at int64) error {
	entries := &x.file.entries
	hidden := slices.Clone(x.newlyFree)
	for _, num := range hidden {
		entries.forget(num)
	}
	s, err := x.addSection(at)
	if err != nil {
		return err
	}
	if !s.isStream {
		return fmt.Errorf("%w: XRefStm does not refer to a stream", ErrDamaged)
	}
	for _, num := range hidden {
		entries.add(num, xrefEntry{kind: freeEntry})
	}
	return nil
}

const (
	// maxSectionCacheBytes limits the size of the cache in bytes. Sections beyond the limit are parsed
	// again.
	maxSectionCacheBytes = 16 << 20
	entryBytes           = 16 // memory that an entry in a table takes
)

// addCachedOrParsed adds the entries of a section as [xrefReader.parseSection] does. For an earlier
// revision, it takes them from the cache of the latest one (origin) if possible. A section that ends
// less than lookahead bytes before the end of the file is neither cached nor taken from the cache:
// the parser may have looked at bytes that the other revision does not have.
func (x *xrefReader) addCachedOrParsed(at int64) (xrefSection, error) {
	if x.file.parent == nil {
		return x.parseSection(at)
	}
	cache, place := &x.file.origin().sectionCache, sectionPlace{at, x.file.offsetBase}
	if s, ok := cache.byPlace[place]; ok && s.end+lookahead <= x.file.size {
		return s.xrefSection, x.addCached(s)
	}
	x.recording = &sectionEntries{}
	s, err := x.parseSection(at)
	recorded := x.recording
	x.recording = nil
	if err == nil && recorded != nil && s.end+lookahead <= x.file.size {
		cache.put(place, cachedSection{s, *recorded})
	}
	return s, err
}

// record records an entry of the section that is being parsed. It gives up if the section has too
// many for the cache.
func (x *xrefReader) record(num uint32, e xrefEntry) {
	r := x.recording
	if r == nil {
		return
	}
	r.readCount++
	r.table.add(num, e)
	if e.kind == uncompressedEntry {
		r.maxOffset = max(r.maxOffset, e.offset)
	}
	if r.table.capacity()*entryBytes > maxSectionCacheBytes {
		x.recording = nil
	}
}

// put adds a section if there is space.
func (c *sectionCache) put(place sectionPlace, s cachedSection) {
	size := s.table.capacity()*entryBytes + cachedPerByte*len(s.source)
	if c.bytes+size > maxSectionCacheBytes {
		return
	}
	if c.byPlace == nil {
		c.byPlace = map[sectionPlace]cachedSection{}
	}
	s.table.markShared()
	c.byPlace[place] = s
	c.bytes += size
}

// addCached adds the entries of a section from the cache. It adds them one by one if the section has
// an XRefStm, because addHybridStream needs newlyFree, or has offsets outside the file.
func (x *xrefReader) addCached(s cachedSection) error {
	const work = 4 // for each entry, in the units of File.work; less than parsing it takes
	x.file.spend(work * int64(s.readCount))
	if s.isStream {
		if err := x.checkStreamCount(int64(s.readCount)); err != nil {
			return err
		}
	}
	if _, hybrid := s.trailer["XRefStm"]; hybrid || s.maxOffset >= x.file.size {
		return x.addOneByOne(s)
	}
	x.readCount += s.readCount
	x.file.entries.addTable(&s.table)
	return x.checkEntryLimits()
}

func (x *xrefReader) addOneByOne(s cachedSection) error {
	x.readCount += s.readCount - s.table.count // add counts the others
	for num, e := range s.table.all() {
		if err := x.add(int64(num), e); err != nil {
			return err
		}
	}
	return nil
}
