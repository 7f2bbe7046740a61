package pdf

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"strconv"
)

// section: a section is written to the letter, and so is every object that it lists.
func (u *strictUpdate) checkSection(offset int64) (bool, error) {
	alone := &File{r: u.now.r, size: u.now.size, offsetBase: u.now.offsetBase, dangling: map[uint32]bool{}, parent: u.now}
	x := &xrefReader{file: alone, visited: map[int64]bool{}}
	s, err := x.section(offset - u.now.offsetBase)
	if err != nil || x.entryCount != alone.entries.count { // an object that is listed twice
		return false, err
	}
	u.sections[offset], u.keywords[offset] = true, true
	begins := u.checkTable
	if s.stream {
		begins = u.checkStream
	}
	for _, rule := range []func() (bool, error){
		func() (bool, error) { return begins(s) },
		func() (bool, error) { return u.checkSectionEnd(s) },
		func() (bool, error) { return u.checkTrailer(s, max(u.maxNumBefore, alone.maxNumInUse())) },
		func() (bool, error) { return u.checkEntries(&alone.entries) },
	} {
		if ok, err := rule(); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// maxStrictTable bounds a table that is read to the letter, in bytes.
const maxStrictTable = 32 << 20

func (u *strictUpdate) checkTable(s section) (bool, error) {
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

// stream: the keyword is followed by the ends of line that it may have (7.3.8.1).
func (u *strictUpdate) checkStream(s section) (bool, error) {
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

// ends: a section is followed by the end of its update (7.5.5).
func (u *strictUpdate) checkSectionEnd(s section) (bool, error) {
	const window = 128
	text, err := u.now.read(s.end, int(min(u.now.size-s.end, window)))
	if err != nil {
		return false, err
	}
	e := strictReader{text}
	if s.stream && !e.streamEnd() {
		return false, nil
	}
	e.space()
	u.keywords[s.end+int64(len(text)-len(e.text)+len("start"))] = true
	return e.startxref(s.offset - u.now.offsetBase), nil
}

// trailer: objects beyond Size are missing to some readers (7.5.4), and what is beside a
// table to others (7.5.8.4).
func (u *strictUpdate) checkTrailer(s section, highest uint32) (bool, error) {
	if ok, err := Distinct(s.source); !ok || err != nil {
		return false, err
	}
	before := u.before.Trailer()
	size, _ := s.trailer["Size"].(Integer)
	_, hybrid := s.trailer["XRefStm"]
	return !hybrid && int64(size) > int64(highest) && isStrictNumber(s.source, "Size") && isStrictNumber(s.source, "Prev") &&
		reflect.DeepEqual(s.trailer["Root"], before["Root"]) && reflect.DeepEqual(s.trailer["Encrypt"], before["Encrypt"]), nil
}

// isStrictNumber says whether the value of a key stands there as digits.
func isStrictNumber(source []byte, key Name) bool {
	value, ok, err := Key(source, key)
	e := strictReader{value}
	if err != nil || !ok {
		return false
	}
	_, ok = e.number()
	return ok && len(e.text) == 0
}

// entries: an object that is listed was there, or has its head where the entry says.
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

// head: an object begins at an offset.
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

// compressed: an object is in its object stream at its index, which is what some go by.
func (u *strictUpdate) checkCompressed(num uint32, e xrefEntry) (bool, error) {
	s, err := u.now.objectStream(uint32(e.offset))
	if err != nil {
		return false, err
	}
	return int(e.index) < len(s.objects) && s.objects[e.index].num == num, nil
}

// highestInUse returns the highest number of an object that is not free, or 0.
func (f *File) maxNumInUse() uint32 {
	for _, key := range slices.Backward(slices.Sorted(maps.Keys(f.entries.chunks))) {
		for i, e := range slices.Backward(f.entries.chunks[key].entries[:]) {
			if e.kind != freeEntry { // as what is not there is
				return key*chunkSize + uint32(i)
			}
		}
	}
	return 0
}

// strictReader reads text that has to stand to the letter as 7.5.4 and 7.5.5 write it, where
// [parser] takes what can be understood.
type strictReader struct{ text []byte }

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

// table reads a cross-reference table up to the trailer's dictionary.
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
	e.word(" ") // some writers have it
	return count, ok && e.lineEnd()
}

// entry reads one of the 20 bytes that each entry has.
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

// streamEnd reads what follows the payload of a stream.
func (e *strictReader) streamEnd() bool {
	e.space()
	ended := e.word("endstream")
	e.space()
	return ended && e.word("endobj")
}

// startxref reads what ends an update whose section stands at an offset.
func (e *strictReader) startxref(offset int64) bool {
	if !e.word("startxref") || !e.lineEnd() {
		return false
	}
	n, ok := e.number()
	return ok && n == offset && e.lineEnd() && e.word("%%EOF")
}
