package pdf

// keptSections are the cross-reference sections of earlier revisions with their entries: each revision has all
// sections of those before it.
type keptSections struct {
	byPlace map[sectionPlace]keptSection
	entries int
}

type sectionPlace struct{ at, shift int64 }

type keptSection struct {
	section
	sectionEntries
}

// sectionEntries are what one section says, whether or not its places are in the file.
type sectionEntries struct {
	entries  entryTable
	read     int   // of which some may be of one object
	farthest int64 // place
}

// maxKeptEntries bounds the entries that are kept. Sections beyond it are read anew.
const maxKeptEntries = 1 << 19

// sectionOnce is [xrefReader.sectionAt], read once for all earlier revisions of a file.
func (x *xrefReader) sectionOnce(at int64) (section, error) {
	if x.file.whole == nil {
		return x.sectionAt(at)
	}
	kept, place := &x.file.origin().keptSections, sectionPlace{at, x.file.shift}
	if s, ok := kept.byPlace[place]; ok && s.end+lookahead <= x.file.size {
		return s.section, x.addAll(s)
	}
	said := sectionEntries{}
	x.said = &said
	s, err := x.sectionAt(at)
	x.said = nil
	if err == nil && s.end+lookahead <= x.file.size && kept.entries+said.entries.room() < maxKeptEntries {
		if kept.byPlace == nil {
			kept.byPlace = map[sectionPlace]keptSection{}
		}
		said.entries.share()
		kept.byPlace[place] = keptSection{s, said}
		kept.entries += said.entries.room()
	}
	return s, err
}

// note keeps an entry of the section that is being read.
func (x *xrefReader) note(num uint32, e xrefEntry) {
	if x.said == nil || x.said.entries.room() > maxKeptEntries {
		return
	}
	x.said.read++
	x.said.entries.add(num, e)
	if e.kind == plainEntry {
		x.said.farthest = max(x.said.farthest, e.offset)
	}
}

// addAll adds the entries of a section that was kept.
func (x *xrefReader) addAll(s keptSection) error {
	const work = 4 // of what reading one takes, in bytes
	x.file.spend(work * int64(s.read))
	if _, beside := s.trailer["XRefStm"]; beside || s.farthest > x.end() {
		return x.addEach(s)
	}
	x.read += s.read
	x.file.entries.addTable(&s.entries)
	return x.checkNumber()
}

func (x *xrefReader) addEach(s keptSection) error {
	x.read += s.read - s.entries.count
	for num, e := range s.entries.all() {
		if err := x.add(int64(num), e); err != nil {
			return err
		}
	}
	return nil
}
