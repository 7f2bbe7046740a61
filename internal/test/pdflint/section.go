package pdflint

import (
	"bytes"
	"regexp"

	"github.com/innsigli/innsigli/internal/pdf"
)

// section is the cross-reference section of an increment.
type section struct {
	stream  bool
	self    pdf.Ref // of a stream
	trailer pdf.Dict
	entries []entry
}

// entryKind is numbered as in table 18.
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

// readSection reads the section between its beginning and startxref.
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
		l.fault(Startxref, "the trailer is no dictionary: %v", err)
		return false
	}
	l.section.trailer = trailer
	return true
}

// readStream reads a cross-reference stream, which has no filter (7.5.8).
func (l *linter) readStream(text []byte) bool {
	head := objectHead.FindSubmatch(text)
	dict, payload, ok := bytes.Cut(text, []byte("\nstream\n"))
	payload, whole := bytes.CutSuffix(payload, []byte("\nendstream\nendobj\n"))
	if head == nil || !ok || !whole {
		l.fault(Startxref, "no cross-reference stream stands between the objects and startxref")
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
		l.fault(EntrySize, "%d bytes behind the last entry", len(payload))
	}
	return true
}

func bigEndian(b []byte) (n int) {
	for _, c := range b {
		n = n<<8 | int(c)
	}
	return n
}

// integers are the elements of an array of integers, or nil.
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
