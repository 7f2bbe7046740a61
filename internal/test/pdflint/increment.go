package pdflint

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"

	"github.com/innsigli/innsigli/internal/pdf"
)

// object is an indirect object of the increment as it stands there.
type object struct {
	ref   pdf.Ref
	start int    // absolute, of its head
	body  []byte // between "obj" and "endobj", without the line ends
	at    int    // absolute, of body
}

var (
	fileEnd    = regexp.MustCompile(`startxref\n(\d+)\n%%EOF\n$`)
	objectHead = regexp.MustCompile(`^(\d+) (\d+) obj\n`)
	foreignObj = regexp.MustCompile(`^[\x00\t\n\f\r ]*(\d+)[\x00\t\n\f\r ]+(\d+)[\x00\t\n\f\r ]+obj`)
	foreignTab = regexp.MustCompile(`^[\x00\t\n\f\r ]*xref`)
	lastOffset = regexp.MustCompile(`^startxref[\x00\t\n\f\r ]*(\d+)`)
)

// readIncrement finds the section by startxref and the objects by its entries.
func (l *linter) readIncrement() bool {
	end := fileEnd.FindSubmatchIndex(l.whole[len(l.base):])
	if end == nil {
		l.fault(Startxref, "the file does not end with startxref, an offset and the end-of-file marker")
		return false
	}
	offset := number(l.whole[len(l.base)+end[2] : len(l.base)+end[3]])
	at, ok := l.place(offset)
	if !ok {
		l.fault(Startxref, "%d leads to no section of the increment", offset)
		return false
	}
	return l.readSection(at, len(l.base)+end[0]) && l.readObjects(at)
}

// place returns where an offset of the increment leads to, and finds out what offsets
// count from: the header (7.5.2), unless those of the file as it was do not.
func (l *linter) place(offset int) (at int, ok bool) {
	l.shift = max(bytes.Index(l.base, []byte("%PDF-")), 0)
	if !l.sound() && l.shift > 0 {
		l.shift = 0
		if !l.sound() {
			l.shift = bytes.Index(l.base, []byte("%PDF-"))
		}
	}
	at = offset + l.shift
	return at, len(l.base) <= at && at < len(l.whole) && isSection(l.whole[at:])
}

// sound says whether the startxref of the file as it was leads to a section.
func (l *linter) sound() bool {
	offset, ok := l.oldStartxref()
	return ok && isSection(l.base[min(offset+l.shift, len(l.base)):])
}

func (l *linter) oldStartxref() (offset int, ok bool) {
	i := bytes.LastIndex(l.base, []byte("startxref"))
	if i < 0 {
		return 0, false
	}
	m := lastOffset.FindSubmatch(l.base[i:])
	if m == nil {
		return 0, false
	}
	return number(m[1]), true
}

func isSection(b []byte) bool { return foreignTab.Match(b) || isStreamSection(b) }

func isStreamSection(b []byte) bool {
	if !foreignObj.Match(b) {
		return false
	}
	i := bytes.Index(b, []byte("stream"))
	return i >= 0 && bytes.Contains(b[:i], []byte("XRef"))
}

// readObjects cuts the increment into its objects: each lasts to where the next begins.
func (l *linter) readObjects(end int) bool {
	var starts []entry
	for _, e := range l.section.entries {
		if at := e.offset + l.shift; e.kind == plainEntry && len(l.base) <= at && at < end {
			starts = append(starts, e)
		}
	}
	slices.SortFunc(starts, func(a, b entry) int { return a.offset - b.offset })
	if !l.checkBeginning(starts) {
		return false
	}
	for i, e := range starts {
		start, stop := e.offset+l.shift, end
		if i+1 < len(starts) {
			stop = starts[i+1].offset + l.shift
		}
		l.readObject(e.ref, start, stop)
	}
	return len(l.objects) == len(starts)
}

// checkBeginning: the first object stands at the increment's beginning, behind a line
// feed if the file did not end with an end of line.
func (l *linter) checkBeginning(starts []entry) bool {
	if len(starts) == 0 {
		l.fault(Unlisted, "no object of the increment is listed")
		return false
	}
	between := l.whole[len(l.base) : starts[0].offset+l.shift]
	if bytes.HasSuffix(l.base, []byte("\n")) || bytes.HasSuffix(l.base, []byte("\r")) {
		if len(between) > 0 {
			l.fault(Unlisted, "%.40q before the first object", between)
		}
	} else if string(between) != "\n" {
		l.fault(LineEnd, "%.40q between the file and the first object", between)
	}
	return true
}

func (l *linter) readObject(ref pdf.Ref, start, stop int) {
	text := l.whole[start:stop]
	head := objectHead.FindSubmatch(text)
	if head == nil || !isRef(head, ref) {
		l.fault(Offset, "entry of %s leads to %.20q", ref, text)
		return
	}
	body, ok := bytes.CutSuffix(text[len(head[0]):], []byte("\nendobj\n"))
	if !ok {
		l.fault(Unlisted, "behind %s stands %.60q", ref, text[max(0, len(text)-60):])
		return
	}
	l.objects = append(l.objects, object{ref, start, body, start + len(head[0])})
}

// isRef says whether the match of an object's head is that of ref.
func isRef(head [][]byte, ref pdf.Ref) bool {
	return number(head[1]) == int(ref.Num) && number(head[2]) == int(ref.Gen)
}

// number is the value of digits, or -1.
func number(digits []byte) int {
	n, err := strconv.Atoi(string(digits))
	if err != nil {
		return -1
	}
	return n
}
