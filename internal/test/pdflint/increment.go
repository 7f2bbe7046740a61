package pdflint

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"

	"github.com/innsigli/innsigli/internal/pdf"
)

// An object is an indirect object of the increment.
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

// readIncrement finds the section by startxref, and the objects by the entries of the section.
func (l *linter) readIncrement() bool {
	end := fileEnd.FindSubmatchIndex(l.whole[len(l.base):])
	if end == nil {
		l.fault(Startxref, "the file does not end with startxref, an offset and the end-of-file marker")
		return false
	}
	offset := number(l.whole[len(l.base)+end[2] : len(l.base)+end[3]])
	at, ok := l.place(offset)
	if !ok {
		l.fault(Startxref, "%d names no section of the increment", offset)
		return false
	}
	return l.readSection(at, len(l.base)+end[0]) && l.readObjects(at)
}

// place returns the absolute offset for an offset in the increment. It sets shift: offsets are
// relative to the header (7.5.2), unless those of the original file are not.
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

// sound reports whether the startxref of the original file names a section.
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

// readObjects splits the increment into its objects. Each one ends where the next one begins.
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

// checkBeginning checks that the first object is at the beginning of the increment, after a line
// feed if the original file does not end with an end of line.
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
		l.fault(Offset, "entry of %s names %.20q", ref, text)
		return
	}
	body, ok := bytes.CutSuffix(text[len(head[0]):], []byte("\nendobj\n"))
	if !ok {
		l.fault(Unlisted, "%s is followed by %.60q", ref, text[max(0, len(text)-60):])
		return
	}
	l.objects = append(l.objects, object{ref, start, body, start + len(head[0])})
}

// isRef reports whether the match of an object head is the head of ref.
func isRef(head [][]byte, ref pdf.Ref) bool {
	return number(head[1]) == int(ref.Num) && number(head[2]) == int(ref.Gen)
}

// number returns the value of digits, or -1.
func number(digits []byte) int {
	n, err := strconv.Atoi(string(digits))
	if err != nil {
		return -1
	}
	return n
}

// checkBodies checks the text of each object.
func (l *linter) checkBodies() {
	for _, o := range l.objects {
		text, payload, stream := o.split()
		for _, comment := range comments(text) {
			if bytes.Contains(comment, []byte("obj")) || bytes.IndexByte(comment, 0) >= 0 {
				l.fault(Comment, "in %s: %.40q", o.ref, comment)
			}
		}
		value, err := pdf.Parse(bytes.TrimSpace(text))
		if err != nil {
			l.fault(Unlisted, "%s is not one object: %v", o.ref, err)
			continue
		}
		if stream {
			l.checkPayload(o, value, payload)
		}
	}
}

// split returns the source text of the dictionary of a stream, and the payload.
func (o object) split() (text, payload []byte, stream bool) {
	text, payload, found := bytes.Cut(o.body, []byte("\nstream\n"))
	payload, ended := bytes.CutSuffix(payload, []byte("\nendstream"))
	if !found || !ended {
		return o.body, nil, false
	}
	return text, payload, true
}

// checkPayload checks that a stream has its Length and is not an object stream. No object of an
// increment may be compressed: a search of the file has to find all of them, such as the signature
// dictionary.
func (l *linter) checkPayload(o object, value pdf.Object, payload []byte) {
	dict, _ := value.(pdf.Dict)
	if dict["Type"] == pdf.Name("ObjStm") {
		l.fault(ObjectFlow, "%s is an object stream", o.ref)
	}
	if dict["Length"] != pdf.Integer(len(payload)) {
		l.fault(PayloadSize, "%s has %d bytes, and Length %v", o.ref, len(payload), dict["Length"])
	}
}

// comments returns the comments in a source text, without the percent signs (7.2.4).
func comments(text []byte) (found [][]byte) {
	for len(text) > 0 {
		switch text[0] {
		case '(':
			text = text[stringEnd(text):]
		case '%':
			end := bytes.IndexAny(text, "\r\n")
			if end < 0 {
				end = len(text)
			}
			found = append(found, text[1:end])
			text = text[end:]
		default:
			text = text[1:]
		}
	}
	return found
}

// stringEnd returns the position after the literal string at the start of text (7.3.4.2).
func stringEnd(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}
