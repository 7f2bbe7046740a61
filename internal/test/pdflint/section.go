package pdflint

import (
	"bytes"
	"maps"
	"reflect"
	"regexp"
	"slices"

	"github.com/innsigli/innsigli/internal/pdf"
)

// A section is the cross-reference section of an increment.
type section struct {
	stream  bool
	self    pdf.Ref // of a stream
	trailer pdf.Dict
	entries []entry
}

// entryKind is the type of an entry, with the numbers of Table 18.
type entryKind int

const (
	freeEntry entryKind = iota
	plainEntry
	compressedEntry
)

type entry struct {
	ref    pdf.Ref
	kind   entryKind
	offset int // from the header
}

// readSection reads the section, from its beginning to startxref.
func (l *linter) readSection(start, end int) bool {
	text := l.whole[start:end]
	if bytes.HasPrefix(text, []byte("xref\n")) {
		return l.readTable(text)
	}
	return l.readStream(text)
}

var (
	subsection = regexp.MustCompile(`^(\d+) (\d+)\n`)
	tableEntry = regexp.MustCompile(`^(\d{10}) (\d{5}) ([nf])(?: \n| \r|\r\n)$`)
)

const entrySize = 20

func (l *linter) readTable(text []byte) bool {
	text = text[len("xref\n"):]
	for {
		head := subsection.FindSubmatch(text)
		if head == nil {
			break
		}
		text = text[len(head[0]):]
		first, count := number(head[1]), number(head[2])
		for i := range count {
			if len(text) < entrySize || !tableEntry.Match(text[:entrySize]) {
				l.fault(EntrySize, "entry of object %d: %.25q", first+i, text)
				return false
			}
			l.section.add(first+i, tableEntry.FindSubmatch(text[:entrySize]))
			text = text[entrySize:]
		}
	}
	trailer, ok := bytes.CutPrefix(text, []byte("trailer\n"))
	if !ok {
		l.fault(EntrySize, "%.25q between entries and trailer", text)
		return false
	}
	return l.readTrailer(trailer)
}

func (s *section) add(num int, m [][]byte) {
	e := entry{ref: pdf.Ref{Num: uint32(num), Gen: uint16(number(m[2]))}, offset: number(m[1])}
	if string(m[3]) == "n" {
		e.kind = plainEntry
	}
	s.entries = append(s.entries, e)
}

func (l *linter) readTrailer(text []byte) bool {
	value, err := pdf.Parse(bytes.TrimSpace(text))
	trailer, ok := value.(pdf.Dict)
	if err != nil || !ok {
		l.fault(Startxref, "the trailer is not a dictionary: %v", err)
		return false
	}
	l.section.trailer = trailer
	return true
}

// readStream reads a cross-reference stream, which has to be without filters (7.5.8).
func (l *linter) readStream(text []byte) bool {
	head := objectHead.FindSubmatch(text)
	dict, payload, ok := bytes.Cut(text, []byte("\nstream\n"))
	payload, whole := bytes.CutSuffix(payload, []byte("\nendstream\nendobj\n"))
	if head == nil || !ok || !whole {
		l.fault(Startxref, "no cross-reference stream between the objects and startxref")
		return false
	}
	if !l.readTrailer(dict[len(head[0]):]) {
		return false
	}
	l.section.stream = true
	l.section.self = pdf.Ref{Num: uint32(number(head[1])), Gen: uint16(number(head[2]))}
	if l.section.trailer["Length"] != pdf.Integer(len(payload)) {
		l.fault(PayloadSize, "cross-reference stream of %d bytes has Length %v", len(payload), l.section.trailer["Length"])
	}
	return l.readStreamEntries(payload)
}

func (l *linter) readStreamEntries(payload []byte) bool {
	w, index := integers(l.section.trailer["W"]), integers(l.section.trailer["Index"])
	if len(w) != 3 || w[0] != 1 || w[1] < 1 || w[2] < 1 || len(index) == 0 || len(index)%2 != 0 {
		l.fault(EntrySize, "W %v and Index %v", w, index)
		return false
	}
	for ; len(index) > 0; index = index[2:] {
		for num := index[0]; num < index[0]+index[1]; num++ {
			if len(payload) < 1+w[1]+w[2] {
				l.fault(EntrySize, "the payload ends before object %d", num)
				return false
			}
			last := payload[1+w[1] : 1+w[1]+w[2]]
			e := entry{pdf.Ref{Num: uint32(num)}, entryKind(payload[0]), bigEndian(payload[1 : 1+w[1]])}
			if e.kind == plainEntry {
				e.ref.Gen = uint16(bigEndian(last))
			}
			l.section.entries = append(l.section.entries, e)
			payload = payload[1+w[1]+w[2]:]
		}
	}
	if len(payload) > 0 {
		l.fault(EntrySize, "%d bytes after the last entry", len(payload))
	}
	return true
}

func bigEndian(b []byte) (n int) {
	for _, c := range b {
		n = n<<8 | int(c)
	}
	return n
}

// integers returns the elements of an array of integers, or nil.
func integers(o pdf.Object) (list []int) {
	array, _ := o.(pdf.Array)
	for _, item := range array {
		n, ok := item.(pdf.Integer)
		if !ok {
			return nil
		}
		list = append(list, int(n))
	}
	return list
}

// checkSection checks the entries of the section.
func (l *linter) checkSection() {
	l.checkKind()
	seen := make(map[uint32]bool)
	for _, e := range l.section.entries {
		if seen[e.ref.Num] {
			l.fault(Offset, "object %d is listed twice", e.ref.Num)
		}
		seen[e.ref.Num] = true
		l.checkEntry(e)
	}
	if l.section.stream && !slices.ContainsFunc(l.section.entries, func(e entry) bool { return e.ref == l.section.self && e.kind == plainEntry }) {
		l.fault(Offset, "the cross-reference stream %s does not list itself", l.section.self)
	}
}

// rebuilt reports whether the section replaces the cross-reference of the original file, which
// could not be read. It has no Prev.
func (l *linter) rebuilt() bool { return l.section.trailer["Prev"] == nil }

// checkKind checks that the section is of the same kind as the last section of the original file:
// viewers repair files that mix the kinds, which breaks the signature. After a hybrid-reference
// file, the section is a table (7.5.8.4). A section without Prev is a stream if it lists compressed
// objects.
func (l *linter) checkKind() {
	want := slices.ContainsFunc(l.section.entries, func(e entry) bool { return e.kind == compressedEntry })
	if offset, ok := l.oldStartxref(); !l.rebuilt() {
		if !ok || !l.sound() {
			return // checkPrev reports this
		}
		want = isStreamSection(l.base[offset+l.shift:])
	}
	if want != l.section.stream {
		l.fault(SectionKind, "is a stream: %t; has to be: %t", l.section.stream, want)
	}
}

func (l *linter) checkEntry(e entry) {
	at := e.offset + l.shift
	switch e.kind {
	case freeEntry:
		if !l.rebuilt() {
			l.fault(Rewritten, "object %d is freed", e.ref.Num)
		}
	case compressedEntry:
		if !l.rebuilt() {
			l.fault(ObjectFlow, "object %d is listed as one of object stream %d", e.ref.Num, e.offset)
		}
	case plainEntry:
		var head [][]byte
		if at < len(l.whole) {
			head = foreignObj.FindSubmatch(l.whole[at:])
		}
		if head == nil || !isRef(head, e.ref) {
			l.fault(Offset, "%d is not the offset of %s", e.offset, e.ref)
		}
		if at < len(l.base) && !l.rebuilt() {
			l.fault(Offset, "%s is listed and was not written", e.ref)
		}
		l.checkGeneration(e.ref)
	default:
		l.fault(ObjectFlow, "object %d is listed with type %d", e.ref.Num, e.kind)
	}
}

// checkGeneration checks that an existing object keeps its generation number, which the references
// to it have, and that a new object has generation 0.
func (l *linter) checkGeneration(ref pdf.Ref) {
	if old, _ := l.old.Object(ref); old == nil && ref.Gen != 0 && !l.rebuilt() { // a section without Prev lists old objects
		l.fault(Generation, "%s is new", ref)
	}
	for gen := range uint16(3) {
		if other := (pdf.Ref{Num: ref.Num, Gen: gen}); other != ref {
			if old, _ := l.old.Object(other); old != nil {
				l.fault(Generation, "%s was %s before", ref, other)
			}
		}
	}
}

var anyObject = regexp.MustCompile(`(?:^|[\x00\t\n\f\r >])(\d{1,7})[\x00\t\n\f\r ]+(\d{1,5})[\x00\t\n\f\r ]+obj\b`)

// checkEverything checks that a section without Prev lists all objects of the original file that
// can be read.
func (l *linter) checkEverything() {
	if !l.rebuilt() {
		return
	}
	refs := make(map[pdf.Ref]bool)
	for _, m := range anyObject.FindAllSubmatch(l.base, -1) {
		refs[pdf.Ref{Num: uint32(number(m[1])), Gen: uint16(number(m[2]))}] = true
	}
	size, _ := l.old.Trailer()["Size"].(pdf.Integer)
	for num := range uint32(min(max(size, 0), 1<<20)) { // compressed objects too
		refs[pdf.Ref{Num: num}] = true
	}
	for ref := range refs {
		old, err := l.old.Object(ref)
		if old == nil || err != nil || isSectionStream(old) {
			continue
		}
		if now, _ := l.new.Object(ref); now == nil {
			l.fault(Everything, "%s is gone", ref)
		}
	}
}

func isSectionStream(o pdf.Object) bool {
	s, ok := o.(*pdf.Stream)
	return ok && s.Dict["Type"] == pdf.Name("XRef")
}

// ownKeys are the trailer entries of a section itself (Tables 5, 15, 17 and 19).
var ownKeys = []pdf.Name{"Size", "Prev", "ID", "XRefStm"}

// streamKeys are the entries that only a cross-reference stream has.
var streamKeys = []pdf.Name{"Type", "Index", "W", "Length", "Filter", "DecodeParms", "F", "FFilter", "FDecodeParms", "DL"}

// checkTrailer checks the trailer.
func (l *linter) checkTrailer() {
	l.checkPrev()
	l.checkSize()
	l.checkLeftovers()
	l.checkCarried()
	l.checkID()
}

// checkPrev checks that Prev is the startxref of the original file. If that startxref is wrong,
// Prev has to name another section.
func (l *linter) checkPrev() {
	if l.rebuilt() {
		return // checkEverything reports this
	}
	prev, _ := l.section.trailer["Prev"].(pdf.Integer)
	offset, _ := l.oldStartxref()
	if l.sound() && int(prev) != offset {
		l.fault(Prev, "%d instead of %d", prev, offset)
	}
	if at := int(prev) + l.shift; at <= 0 || at >= len(l.base) || !isSection(l.base[at:]) {
		l.fault(Prev, "%d names no section", prev)
	}
}

func (l *linter) checkSize() {
	size, _ := l.section.trailer["Size"].(pdf.Integer)
	highest := uint32(0)
	for _, e := range l.section.entries {
		highest = max(highest, e.ref.Num)
	}
	if size != pdf.Integer(highest)+1 {
		l.fault(Size, "%d where the highest number is %d", size, highest)
	}
	if was, _ := l.old.Trailer()["Size"].(pdf.Integer); size < was {
		l.fault(Size, "%d, and it was %d", size, was)
	}
}

// checkLeftovers checks that the trailer has no XRefStm, because readers would prefer the entries
// of an old stream, and no entries that describe another stream.
func (l *linter) checkLeftovers() {
	for key := range l.section.trailer {
		switch {
		case key == "XRefStm":
			l.fault(Leftovers, "XRefStm")
		case !slices.Contains(streamKeys, key):
		case !l.section.stream:
			l.fault(Leftovers, "%s in the trailer of a table", key)
		case !slices.Contains([]pdf.Name{"Type", "Index", "W", "Length"}, key):
			l.fault(Leftovers, "%s in a stream without filters", key)
		}
	}
}

func (l *linter) checkCarried() {
	own := slices.Concat(ownKeys, streamKeys)
	isOwn := func(key pdf.Name, _ pdf.Object) bool { return slices.Contains(own, key) }
	was, is := maps.Clone(l.old.Trailer()), maps.Clone(l.section.trailer)
	maps.DeleteFunc(was, isOwn)
	maps.DeleteFunc(is, isOwn)
	for key := range union(was, is) {
		if !reflect.DeepEqual(was[key], is[key]) {
			l.fault(Carried, "%s is %v and was %v", key, is[key], was[key])
		}
	}
}

// union returns the keys of two dictionaries.
func union(a, b pdf.Dict) map[pdf.Name]bool {
	keys := make(map[pdf.Name]bool)
	for _, d := range []pdf.Dict{a, b} {
		for key := range d {
			keys[key] = true
		}
	}
	return keys
}

// checkID checks that the first part of ID stays and that the second part is new. A file whose
// encryption key was made without an ID gets none (7.6.4.3).
func (l *linter) checkID() {
	if l.keyOfNoID() {
		if id := l.section.trailer["ID"]; id != nil {
			l.fault(ID, "%v in an encrypted file that had none", id)
		}
		return
	}
	now, ok := l.section.trailer["ID"].(pdf.Array)
	if !ok || len(now) != 2 {
		l.fault(ID, "%v", l.section.trailer["ID"])
		return
	}
	old, err := l.old.Array(l.old.Trailer()["ID"])
	if err != nil || len(old) != 2 {
		return
	}
	part := func(o pdf.Object) []byte { b, _ := l.old.Bytes(o); return b }
	if was := part(old[0]); len(was) > 0 && !bytes.Equal(part(now[0]), was) {
		l.fault(ID, "the first part has changed")
	}
	if bytes.Equal(part(now[1]), part(old[1])) || len(part(now[1])) < 16 {
		l.fault(ID, "the second part is not new")
	}
}

// keyOfNoID reports whether the encryption key of the file was made without an ID.
func (l *linter) keyOfNoID() bool {
	encryption := l.encryption()
	v, _ := l.old.Int(encryption["V"])
	return encryption != nil && v < 5 && l.old.Trailer()["ID"] == nil
}
