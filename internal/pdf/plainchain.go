package pdf

import "reflect"

// PlainlyLeadsTo says whether readers agree on what leads from the end of a file to what it was before. The
// sections that were appended are written to the letter, as far as startxref, trailer, Prev and tables go
// (7.5.4, 7.5.5): those that take them for damaged look for objects themselves, also in what was there
// before. Many writers are not that exact; then such readers have to find what this one does.
func (f *File) PlainlyLeadsTo(before *File) (bool, error) {
	if ok, err := f.distinctTrailers(before.size); !ok || err != nil {
		return false, err
	}
	if !reflect.DeepEqual(f.Trailer()["Root"], before.Trailer()["Root"]) {
		return true, nil // and to another document for all
	}
	if ok, err := f.plainUpdate(before).chain(); ok || err != nil {
		return ok, err
	}
	return (&rebuiltView{file: f, heads: map[int64]bool{}, last: map[uint32]int64{}}).same()
}

// distinctTrailers says whether the trailers behind an offset have each key once.
func (f *File) distinctTrailers(from int64) (bool, error) {
	for _, s := range f.sections {
		if s.offset < from {
			continue
		}
		s, err := f.alone().section(s.offset - f.shift)
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
func (f *File) alone() *xrefReader {
	file := &File{r: f.r, size: f.size, shift: f.shift, named: map[uint32]bool{}, whole: f}
	return &xrefReader{file: file, visited: map[int64]bool{}}
}

// rebuiltView is a file as readers see it that rebuild its cross-reference: of each object, the last.
type rebuiltView struct {
	file  *File
	heads map[int64]bool   // ends of the heads that some section lists
	last  map[uint32]int64 // offsets of the last ones
}

// same says whether that is the file as its sections have it.
func (v *rebuiltView) same() (bool, error) {
	for _, s := range v.file.sections {
		if ok, err := v.section(s); !ok || err != nil {
			return false, err
		}
	}
	for num, at := range v.last {
		if e := v.file.entries.get(num); e.kind != plainEntry || e.offset != at {
			return false, nil
		}
	}
	if ok, err := v.trailers(); !ok || err != nil {
		return false, err
	}
	return v.file.eachHead(0, func(end int64) bool { return v.heads[end] })
}

// section notes the objects that a section lists, and those that it is.
func (v *rebuiltView) section(s section) (bool, error) {
	f := v.file
	x := f.alone()
	s, err := x.section(s.offset - f.shift)
	if err == nil {
		err = x.hybrid(s)
	}
	if err != nil || !reflect.DeepEqual(s.trailer["Root"], f.Trailer()["Root"]) {
		return false, err
	}
	for at := range x.visited {
		v.heads[f.headEnd(at)] = true
	}
	for num, e := range x.file.entries.all() {
		if e.kind == plainEntry && e.offset < f.size {
			v.heads[f.headEnd(e.offset)] = true
			v.last[num] = max(v.last[num], e.offset)
		}
	}
	return true, nil
}

// trailers: there are none but those of the sections.
func (v *rebuiltView) trailers() (bool, error) {
	const word = "trailer"
	f := v.file
	u := &plainUpdate{now: f}
	at, err := f.index(word, 0)
	for ; err == nil && at < f.size; at, err = f.index(word, at+1) {
		if v.inSection(at) {
			continue
		}
		if ok, err := u.isProse(word, at+int64(len(word))); !ok || err != nil {
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
