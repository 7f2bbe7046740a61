package pdf

import "slices"

// keptSections are the cross-reference sections of earlier revisions with their entries: each revision has all
// sections of those before it.
type keptSections struct {
	byPlace map[sectionPlace]keptSection
	entries int
}

type sectionPlace struct{ at, shift int64 }

type keptSection struct {
	section
	entries []numberedEntry
}

// numberedEntry is an entry as it stands in a section, whether or not its place is in the file.
type numberedEntry struct {
	num   int64
	entry xrefEntry
}

// maxKeptEntries bounds the entries that are kept. Sections beyond it are read anew.
const maxKeptEntries = 1 << 18

// sectionOnce is [xrefReader.sectionAt], read once for all earlier revisions of a file.
func (x *xrefReader) sectionOnce(at int64) (section, error) {
	if x.file.whole == nil {
		return x.sectionAt(at)
	}
	kept, place := &x.file.origin().keptSections, sectionPlace{at, x.file.shift}
	if s, ok := kept.byPlace[place]; ok && s.end+lookahead <= x.file.size {
		return s.section, x.addAll(s.entries)
	}
	x.keeps, x.added = true, nil
	s, err := x.sectionAt(at)
	x.keeps = false
	if err == nil && s.end+lookahead <= x.file.size && kept.entries+len(x.added) < maxKeptEntries {
		if kept.byPlace == nil {
			kept.byPlace = map[sectionPlace]keptSection{}
		}
		kept.byPlace[place] = keptSection{s, slices.Clip(x.added)}
		kept.entries += len(x.added)
	}
	return s, err
}

// note keeps an entry of the section that is being read.
func (x *xrefReader) note(num int64, e xrefEntry) {
	if x.keeps && len(x.added) < maxKeptEntries {
		x.added = append(x.added, numberedEntry{num, e})
	}
}

func (x *xrefReader) addAll(entries []numberedEntry) error {
	const work = 4 // of what reading one takes, in bytes
	x.file.spend(work * int64(len(entries)))
	for _, e := range entries {
		if err := x.add(e.num, e.entry); err != nil {
			return err
		}
	}
	return nil
}
