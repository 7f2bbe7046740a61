package pdf

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"strconv"
)

// strictReader reads text that has the exact syntax of 7.5.4 and 7.5.5. A [parser] also accepts
// deviations.
type strictReader struct{ text []byte }

// checkSection reports whether a section has the exact syntax and lists each object once, where it
// is.
func (u *strictUpdate) checkSection(offset int64) (bool, error) {
	x := u.now.sectionReader()
	listed := &x.file.entries
	s, err := x.addSection(offset)
	if err != nil || x.readCount != listed.count { // the section lists an object twice
		return false, err
	}
	u.sections[offset], u.keywords[offset] = true, true
	checkStart := u.checkTable
	if s.isStream {
		checkStart = u.checkStream
	}
	for _, rule := range []func() (bool, error){
		func() (bool, error) { return checkStart(s) },
		func() (bool, error) { return u.checkSectionEnd(s) },
		func() (bool, error) { return u.checkTrailer(s, max(u.maxNumBefore, x.file.maxNumInUse())) },
		func() (bool, error) { return u.checkEntries(listed) },
	} {
		if ok, err := rule(); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// maxStrictTable limits the size in bytes of a table that is checked.
const maxStrictTable = 32 << 20

func (u *strictUpdate) checkTable(s xrefSection) (bool, error) {
	if s.end-s.offset > maxStrictTable {
		return false, nil
	}
	text, err := u.now.read(s.offset, int(s.end-s.offset))
	if err != nil {
		return false, err
	}
	e := strictReader{text}
	if !e.table() {
		return false, nil
	}
	u.keywords[s.end-int64(len(e.text)+len("trailer"))] = true
	e.space()
	return e.word("<<"), nil
}

// checkStream reports whether a cross-reference stream has a well-formed Index, a Length written as
// digits, a line feed directly before its payload (7.3.8.1), and its head at the offset of the
// section.
func (u *strictUpdate) checkStream(s xrefSection) (bool, error) {
	o, err := u.now.indirectAt(s.offset)
	if err != nil {
		return false, err
	}
	index, listed := s.trailer["Index"].(Array)
	if s.trailer["Index"] != nil && (!listed || len(index)%2 != 0) || !isStrictNumber(s.source, "Length") {
		return false, nil
	}
	tail, err := u.now.read(o.payload-2, 2)
	if err != nil || tail[1] != '\n' {
		return false, err
	}
	return u.checkHead(s.offset, o.ref)
}

// checkSectionEnd reports whether a section is followed by startxref with the offset of the section
// and by the end-of-file marker (7.5.5).
func (u *strictUpdate) checkSectionEnd(s xrefSection) (bool, error) {
	const window = 128
	text, err := u.now.read(s.end, int(min(u.now.size-s.end, window)))
	if err != nil {
		return false, err
	}
	e := strictReader{text}
	if s.isStream && !e.streamEnd() {
		return false, nil
	}
	e.space()
	u.keywords[s.end+int64(len(text)-len(e.text)+len("start"))] = true
	return e.startxref(s.offset - u.now.offsetBase), nil
}

// checkTrailer reports whether a trailer means the same to all readers. Size is higher than all
// object numbers, because some readers ignore objects beyond it (7.5.4). XRefStm is absent, because
// some readers ignore it (7.5.8.4). Size and Prev are written as digits. Root and Encrypt are those
// of before.
func (u *strictUpdate) checkTrailer(s xrefSection, highest uint32) (bool, error) {
	if ok, err := HasDistinctKeys(s.source); !ok || err != nil {
		return false, err
	}
	before := u.before.Trailer()
	size, _ := s.trailer["Size"].(Integer)
	_, hybrid := s.trailer["XRefStm"]
	return !hybrid && int64(size) > int64(highest) && isStrictNumber(s.source, "Size") && isStrictNumber(s.source, "Prev") &&
		reflect.DeepEqual(s.trailer["Root"], before["Root"]) && reflect.DeepEqual(s.trailer["Encrypt"], before["Encrypt"]), nil
}

// isStrictNumber reports whether the value of a key is written as digits only.
func isStrictNumber(source []byte, key Name) bool {
	value, ok, err := Key(source, key)
	e := strictReader{value}
	if err != nil || !ok {
		return false
	}
	_, ok = e.number()
	return ok && len(e.text) == 0
}

// checkEntries reports whether each entry is the same as in before, or is free, or has its object
// at the place that it states.
func (u *strictUpdate) checkEntries(listed *entryTable) (bool, error) {
	for num, e := range listed.all() {
		if e == u.before.entries.get(num) {
			continue
		}
		ok, err := true, error(nil)
		switch e.kind {
		case uncompressedEntry:
			ok, err = u.checkHead(e.offset, Ref{Num: num, Gen: e.gen})
		case compressedEntry:
			ok, err = u.checkCompressed(num, e)
		}
		if !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// checkHead reports whether the head of ref begins at an offset after the end of before, in the
// exact syntax.
func (u *strictUpdate) checkHead(offset int64, ref Ref) (bool, error) {
	want := headText(ref)
	if offset < u.before.size || offset > u.now.size-int64(len(want)+1) {
		return false, nil
	}
	text, err := u.now.read(offset-1, len(want)+2)
	if err != nil {
		return false, err
	}
	u.heads[offset+int64(len(want))] = ref
	return isSpace(text[0]) && bytes.HasPrefix(text[1:], []byte(want)) && !isRegular(text[len(text)-1]), nil
}

// checkCompressed reports whether an object has its index in its object stream, because some
// readers go by the index.
func (u *strictUpdate) checkCompressed(num uint32, e xrefEntry) (bool, error) {
	s, err := u.now.objectStream(uint32(e.offset))
	if err != nil {
		return false, err
	}
	return int(e.index) < len(s.objects) && s.objects[e.index].num == num, nil
}

// maxNumInUse returns the highest number of an object that is not free, or 0.
func (f *File) maxNumInUse() uint32 {
	for _, key := range slices.Backward(slices.Sorted(maps.Keys(f.entries.chunks))) {
		for i, e := range slices.Backward(f.entries.chunks[key].entries[:]) {
			if e.kind != freeEntry { // absent entries are free entries too
				return key*chunkSize + uint32(i)
			}
		}
	}
	return 0
}

func (e *strictReader) word(w string) (ok bool) {
	e.text, ok = bytes.CutPrefix(e.text, []byte(w))
	return ok
}

func (e *strictReader) lineEnd() bool { return e.word("\r\n") || e.word("\n") || e.word("\r") }

func (e *strictReader) space() { e.text = bytes.TrimLeft(e.text, "\t\n\f\r ") }

// number reads digits without a sign or leading zeros.
func (e *strictReader) number() (int64, bool) {
	rest := bytes.TrimLeft(e.text, "0123456789")
	digits := string(e.text[:len(e.text)-len(rest)])
	e.text = rest
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == digits
}

// table reads a cross-reference table with the keyword trailer.
func (e *strictReader) table() bool {
	if !e.word("xref") || !e.lineEnd() {
		return false
	}
	for !e.word("trailer") {
		count, ok := e.subsection()
		if !ok {
			return false
		}
		for range count {
			if !e.entry() {
				return false
			}
		}
	}
	return true
}

func (e *strictReader) subsection() (count int64, ok bool) {
	if _, ok := e.number(); !ok || !e.word(" ") {
		return 0, false
	}
	count, ok = e.number()
	e.word(" ") // some writers add a space
	return count, ok && e.lineEnd()
}

// entry reads one entry of 20 bytes.
func (e *strictReader) entry() bool {
	const size = len("0000000000 65535 f" + "\r\n")
	if len(e.text) < size {
		return false
	}
	b := e.text[:size]
	e.text = e.text[size:]
	_, ok1 := fixedDigits(b[:10])
	_, ok2 := fixedDigits(b[11:16])
	end := string(b[18:])
	return ok1 && ok2 && b[10] == ' ' && b[16] == ' ' && (b[17] == 'n' || b[17] == 'f') &&
		(end == "\r\n" || end == " \n" || end == " \r")
}

// streamEnd reads the keywords after the payload of a stream.
func (e *strictReader) streamEnd() bool {
	e.space()
	ended := e.word("endstream")
	e.space()
	return ended && e.word("endobj")
}

// startxref reads startxref, the offset of the section of the update, and the end-of-file marker.
func (e *strictReader) startxref(offset int64) bool {
	if !e.word("startxref") || !e.lineEnd() {
		return false
	}
	n, ok := e.number()
	return ok && n == offset && e.lineEnd() && e.word("%%EOF")
}
