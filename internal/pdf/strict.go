package pdf

import (
	"bytes"
	"fmt"
	"reflect"
)

// strictUpdate checks the updates that were appended to a file. Its methods that begin with "check"
// report whether a rule is met.
type strictUpdate struct {
	now, before  *File
	maxNumBefore uint32         // highest object number in use in before
	heads        map[int64]Ref  // objects in the new sections, by the offset after their heads
	sections     map[int64]bool // offsets of the new sections
	keywords     map[int64]bool // offsets of the keywords xref and trailer of the new sections
}

// rebuiltView is the file as a reader sees it that rebuilds the cross-reference: of several objects
// with one number, the last one counts.
type rebuiltView struct {
	file       *File
	heads      map[int64]bool   // offsets after the object heads that some section lists
	lastOffset map[uint32]int64 // highest listed offset by object number
}

// IsStrictIncrement reports whether every reader finds the same objects in the file as this one,
// given that all readers agree on before, an earlier revision of the file. The appended bytes have
// to be incremental updates (7.5.6) in the exact syntax of the standard, so that no reader takes
// the cross-reference for damaged. They must have no objects except those that the updates list, so
// that a reader that rebuilds the cross-reference anyway finds the same objects.
func (f *File) IsStrictIncrement(before *File) (bool, error) {
	u := f.newStrictUpdate(before)
	for _, rule := range []func() (bool, error){u.checkChain, u.checkObjects, u.checkKeywords} {
		if ok, err := rule(); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// LeadsStrictlyTo reports whether readers agree on the path from the end of the file to before, an
// earlier revision of it. They agree if the startxref, trailer, Prev and table of each appended
// section have the exact syntax of the standard (7.5.4, 7.5.5). A reader that takes a section for
// damaged searches the file for objects, also in the bytes of the earlier revision. Many writers
// deviate from the exact syntax; then LeadsStrictlyTo reports whether a reader that searches for
// objects finds the same ones as this reader. A trailer with two different values for a key is
// never accepted. If the Root differs from the Root of before, LeadsStrictlyTo reports true.
func (f *File) LeadsStrictlyTo(before *File) (bool, error) {
	if ok, err := f.trailersDistinct(before.size); !ok || err != nil {
		return false, err
	}
	if !reflect.DeepEqual(f.Trailer()["Root"], before.Trailer()["Root"]) {
		return true, nil // all readers see that it is another document
	}
	if ok, err := f.newStrictUpdate(before).checkChain(); ok || err != nil {
		return ok, err
	}
	return (&rebuiltView{file: f, heads: map[int64]bool{}, lastOffset: map[uint32]int64{}}).matchesSections()
}

// HasXRefStm reports whether the cross-reference has a table at or after an absolute offset whose
// trailer has an XRefStm (7.5.8.4). If the table and the stream both have an entry for an object,
// readers differ in which one they take.
func (f *File) HasXRefStm(offset int64) bool { return f.lastHybrid > 0 && f.lastHybrid >= offset }

// ReadersAgree reports whether readers that ignore XRefStm in the bytes appended from an offset on
// find the same objects as readers that do not.
func (f *File) ReadersAgree(from int64) (bool, error) {
	if !f.HasXRefStm(from) {
		return true, nil
	}
	tablesOnly := &File{r: f.r, size: f.size, offsetBase: f.offsetBase, startxref: f.startxref, dangling: map[uint32]bool{}, ignoreXRefStmFrom: from}
	err := tablesOnly.readSections()
	f.work += tablesOnly.work
	if err != nil {
		return false, err
	}
	changed := make(map[uint32]bool)
	f.noteDifferences(tablesOnly, changed)
	return len(changed) == 0, nil
}

// ListsAllObjects reports whether the cross-reference lists every object that begins at or after an offset.
// Only readers that rebuild the cross-reference find an object that is not listed.
func (f *File) ListsAllObjects(from int64) (bool, error) {
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

// checkChain reports whether each new section has the exact syntax and lies after the section that
// its Prev names, down to the last section of before.
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

// checkObjects reports whether each appended object head belongs to an object that a new section
// lists and that no later section removes, and whether each listed object passes checkObject. A
// cross-reference stream need not list itself (7.5.8.2).
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

// checkObject reports whether no dictionary in the object has two different values for a key. A
// cross-reference stream also has to be one of the new sections. An object stream also has to have
// exactly the objects that the cross-reference places in it, even if nothing refers to the object
// stream.
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
		if ok, err := u.now.HasDistinctKeys(Ref{Num: o.num}); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// checkKeywords reports whether the appended bytes have no keywords xref and trailer except those
// of the new sections.
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

// isOrdinaryText reports whether a word is not a keyword of the file structure, by the text after
// its end: metadata may have the word "trailer", for example. The word "xref" always counts as a
// keyword.
func (u *strictUpdate) isOrdinaryText(word string, end int64) (bool, error) {
	const window = 64
	text, err := u.now.read(end, int(min(u.now.size-end, window)))
	if err != nil || word == "xref" {
		return false, err
	}
	text = bytes.TrimLeft(text, "\x00\t\n\v\f\r ")
	return len(text) > 0 && text[0] != '<' && text[0] != '%', nil
}

// trailersDistinct reports whether no trailer of a section at or after an offset has two different
// values for a key.
func (f *File) trailersDistinct(from int64) (bool, error) {
	for _, s := range f.sections {
		if s.offset < from {
			continue
		}
		s, err := f.sectionReader().addSection(s.offset)
		if err != nil {
			return false, err
		}
		if ok, err := HasDistinctKeys(s.source); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// sectionReader returns a reader of single sections, which do not change f.
func (f *File) sectionReader() *xrefReader {
	file := &File{r: f.r, size: f.size, offsetBase: f.offsetBase, dangling: map[uint32]bool{}, parent: f}
	return &xrefReader{file: file, visited: map[int64]bool{}}
}

// matchesSections reports whether the view is the same as the file by its sections.
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

// addSection adds the objects that a section lists, and the section itself if it is a stream. It
// reports false if the section has another Root than the last trailer.
func (v *rebuiltView) addSection(s xrefSection) (bool, error) {
	f := v.file
	x := f.sectionReader()
	s, err := x.addSection(s.offset)
	if err == nil {
		err = x.addXRefStm(s)
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

// checkTrailers reports whether all keywords trailer in the file belong to sections.
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

// headEnd returns the offset after the object head at an offset, or -1 if no object begins there.
func (f *File) headEnd(offset int64) int64 {
	c := f.cursor(offset, 64)
	if err := c.step(func(p *parser) error { _, err := p.objectHead(); return err }); err != nil {
		return -1
	}
	return c.offset()
}
