package pdf

import (
	"bytes"
	"fmt"
	"reflect"
)

// strictUpdate is what was appended to a file.
type strictUpdate struct {
	now, before  *File
	maxNumBefore uint32         // object number in use before
	heads        map[int64]Ref  // objects that the sections list, by the offset behind their heads
	sections     map[int64]bool // their offsets
	keywords     map[int64]bool // offsets of the keywords that are theirs
}

// rebuiltView is a file as readers see it that rebuild its cross-reference: of each object, the last.
type rebuiltView struct {
	file       *File
	heads      map[int64]bool   // ends of the heads that some section lists
	lastOffset map[uint32]int64 // offsets of the last ones
}

// IsStrictIncrement says whether every reader finds in a file what this one does, given that
// all agree on before, which the file begins with. What was appended to it has to be
// updates (7.5.6) that are written to the letter, so that nobody takes the cross-reference
// for damaged; and it has to have no objects but those that it lists, so that whoever
// rebuilds the cross-reference all the same comes to the same.
func (f *File) IsStrictIncrement(before *File) (bool, error) {
	u := f.newStrictUpdate(before)
	for _, rule := range []func() (bool, error){u.checkChain, u.checkObjects, u.checkKeywords} {
		if ok, err := rule(); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// LeadsStrictlyTo says whether readers agree on what leads from the end of a file to what it was before. The
// sections that were appended are written to the letter, as far as startxref, trailer, Prev and tables go
// (7.5.4, 7.5.5): those that take them for damaged look for objects themselves, also in what was there
// before. Many writers are not that exact; then such readers have to find what this one does.
func (f *File) LeadsStrictlyTo(before *File) (bool, error) {
	if ok, err := f.trailersDistinct(before.size); !ok || err != nil {
		return false, err
	}
	if !reflect.DeepEqual(f.Trailer()["Root"], before.Trailer()["Root"]) {
		return true, nil // and to another document for all
	}
	if ok, err := f.newStrictUpdate(before).checkChain(); ok || err != nil {
		return ok, err
	}
	return (&rebuiltView{file: f, heads: map[int64]bool{}, lastOffset: map[uint32]int64{}}).matchesSections()
}

// Hybrid says whether the cross-reference has a table at or behind an offset with a stream
// beside it (7.5.8.4). Where both speak of an object, not all readers believe the same one.
func (f *File) Hybrid(offset int64) bool { return f.lastHybrid > 0 && f.lastHybrid >= offset }

// Unanimous says whether readers that know of no streams beside tables find the same in what was
// appended from an offset on as those that do.
func (f *File) Unanimous(from int64) (bool, error) {
	if !f.Hybrid(from) {
		return true, nil
	}
	alone := &File{r: f.r, size: f.size, offsetBase: f.offsetBase, startxref: f.startxref, dangling: map[uint32]bool{}, ignoreXRefStmFrom: from}
	err := alone.readSections()
	f.work += alone.work
	if err != nil {
		return false, err
	}
	changed := make(map[uint32]bool)
	f.noteDifferences(alone, changed)
	return len(changed) == 0, nil
}

// Lists says whether the cross-reference lists every object that begins behind an offset. One
// that it does not list is found by readers that rebuild the cross-reference, and by no others.
func (f *File) Lists(from int64) (bool, error) {
	listed := make(map[int64]bool)
	for _, s := range f.sections {
		if s.offset >= from {
			listed[f.headEnd(s.offset)] = true
		}
	}
	for _, e := range f.entries.all() {
		if e.kind == uncompressedEntry && e.offset >= from && e.offset < f.size {
			listed[f.headEnd(e.offset)] = true
		}
	}
	return f.eachHead(from, func(end int64) bool { return listed[end] })
}

func (f *File) newStrictUpdate(before *File) *strictUpdate {
	return &strictUpdate{
		now: f, before: before, maxNumBefore: before.maxNumInUse(),
		heads: map[int64]Ref{}, sections: map[int64]bool{}, keywords: map[int64]bool{},
	}
}

// chain: the sections lead backwards, one after the other, to the one that the file had
// before, and nowhere else.
func (u *strictUpdate) checkChain() (bool, error) {
	if u.now.offsetBase != u.before.offsetBase {
		return false, nil
	}
	limit := u.now.size
	for _, s := range u.now.sections {
		if s.offset < u.before.size {
			return s.offset == u.before.sections[0].offset, nil
		}
		if s.end > limit {
			return false, nil
		}
		limit = s.offset
		if ok, err := u.checkSection(s.offset); !ok || err != nil {
			return false, err
		}
	}
	return false, nil
}

// objects: what looks like an object is one that a section lists and that no later section
// drops. A cross-reference stream need not list itself (7.5.8.2).
func (u *strictUpdate) checkObjects() (bool, error) {
	ok, err := u.now.eachHead(u.before.size, func(end int64) bool {
		ref, listed := u.heads[end]
		at, e := end-int64(len(headText(ref))), u.now.entries.get(ref.Num)
		return listed && (e.kind == uncompressedEntry && e.gen == ref.Gen && e.offset >= at || e.kind == freeEntry && u.sections[at])
	})
	if !ok || err != nil {
		return false, err
	}
	for end, ref := range u.heads {
		if ok, err := u.checkObject(end-int64(len(headText(ref))), ref.Num); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

func headText(ref Ref) string { return fmt.Sprintf("%d %d obj", ref.Num, ref.Gen) }

// object: a cross-reference stream is a section, and an object stream has the objects that
// the cross-reference says are in it, even where nothing leads to it.
func (u *strictUpdate) checkObject(offset int64, num uint32) (bool, error) {
	if err := u.now.CheckBudget(); err != nil {
		return false, err
	}
	o, err := u.now.indirectAt(offset)
	if err != nil || o.duplicateKeys || !o.stream {
		return err == nil && !o.duplicateKeys, err
	}
	switch kind := o.value.(Dict)["Type"].(type) {
	case Ref:
		return false, nil
	case Name:
		if kind == "XRef" {
			return u.sections[offset], nil
		}
		if kind == "ObjStm" {
			return u.checkObjectStream(offset, num)
		}
	}
	return true, nil
}

func (u *strictUpdate) checkObjectStream(offset int64, num uint32) (bool, error) {
	if u.now.entries.get(num).offset != offset {
		return false, nil
	}
	s, err := u.now.objectStream(num)
	if err != nil {
		return false, err
	}
	for i, o := range s.objects {
		if u.now.entries.get(o.num) != (xrefEntry{kind: compressedEntry, offset: int64(num), index: uint32(i)}) {
			return false, nil
		}
		if ok, err := u.now.Distinct(Ref{Num: o.num}); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// keywords: there is no table and no trailer but those of the sections.
func (u *strictUpdate) checkKeywords() (bool, error) {
	for _, word := range []string{"xref", "trailer"} {
		at, err := u.now.index(word, u.before.size)
		for ; err == nil && at < u.now.size; at, err = u.now.index(word, at+1) {
			if u.keywords[at] {
				continue
			}
			if ok, err := u.isOrdinaryText(word, at+int64(len(word))); !ok || err != nil {
				return false, err
			}
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// isProse says whether a word is none of a file's structure, by what follows it: a trailer
// may be something else in metadata.
func (u *strictUpdate) isOrdinaryText(word string, behind int64) (bool, error) {
	const window = 64
	text, err := u.now.read(behind, int(min(u.now.size-behind, window)))
	if err != nil || word == "xref" {
		return false, err
	}
	text = bytes.TrimLeft(text, "\x00\t\n\v\f\r ")
	return len(text) > 0 && text[0] != '<' && text[0] != '%', nil
}

// headEnd returns the offset behind the head of an object; -1 where none begins.
func (f *File) headEnd(offset int64) int64 {
	c := f.cursor(offset, 64)
	if err := c.step(func(p *parser) error { _, err := p.objectHead(); return err }); err != nil {
		return -1
	}
	return c.offset()
}

// distinctTrailers says whether the trailers behind an offset have each key once.
func (f *File) trailersDistinct(from int64) (bool, error) {
	for _, s := range f.sections {
		if s.offset < from {
			continue
		}
		s, err := f.sectionReader().section(s.offset - f.offsetBase)
		if err != nil {
			return false, err
		}
		if ok, err := Distinct(s.source); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// alone reads single sections of the file.
func (f *File) sectionReader() *xrefReader {
	file := &File{r: f.r, size: f.size, offsetBase: f.offsetBase, dangling: map[uint32]bool{}, parent: f}
	return &xrefReader{file: file, visited: map[int64]bool{}}
}

// same says whether that is the file as its sections have it.
func (v *rebuiltView) matchesSections() (bool, error) {
	for _, s := range v.file.sections {
		if ok, err := v.addSection(s); !ok || err != nil {
			return false, err
		}
	}
	for num, at := range v.lastOffset {
		if e := v.file.entries.get(num); e.kind != uncompressedEntry || e.offset != at {
			return false, nil
		}
	}
	if ok, err := v.checkTrailers(); !ok || err != nil {
		return false, err
	}
	return v.file.eachHead(0, func(end int64) bool { return v.heads[end] })
}

// section notes the objects that a section lists, and those that it is.
func (v *rebuiltView) addSection(s section) (bool, error) {
	f := v.file
	x := f.sectionReader()
	s, err := x.section(s.offset - f.offsetBase)
	if err == nil {
		err = x.readXRefStm(s)
	}
	if err != nil || !reflect.DeepEqual(s.trailer["Root"], f.Trailer()["Root"]) {
		return false, err
	}
	for at := range x.visited {
		v.heads[f.headEnd(at)] = true
	}
	for num, e := range x.file.entries.all() {
		if e.kind == uncompressedEntry && e.offset < f.size {
			v.heads[f.headEnd(e.offset)] = true
			v.lastOffset[num] = max(v.lastOffset[num], e.offset)
		}
	}
	return true, nil
}

// trailers: there are none but those of the sections.
func (v *rebuiltView) checkTrailers() (bool, error) {
	const word = "trailer"
	f := v.file
	u := &strictUpdate{now: f}
	at, err := f.index(word, 0)
	for ; err == nil && at < f.size; at, err = f.index(word, at+1) {
		if v.inSection(at) {
			continue
		}
		if ok, err := u.isOrdinaryText(word, at+int64(len(word))); !ok || err != nil {
			return false, err
		}
	}
	return err == nil, err
}

func (v *rebuiltView) inSection(at int64) bool {
	for _, s := range v.file.sections {
		if s.offset <= at && at < s.end {
			return true
		}
	}
	return false
}
