package pdflint

import (
	"regexp"
	"slices"

	"github.com/innsigli/innsigli/internal/pdf"
)

// checkSection checks what the section says of the objects.
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

// rebuilt says whether the section is one that stands alone: the file's own could not be read.
func (l *linter) rebuilt() bool { return l.section.trailer["Prev"] == nil }

// checkKind: a file whose sections are of different kinds is repaired by some viewers, and
// the signature is gone for others. A hybrid file goes on with a table (7.5.8.4). A section
// that stands alone is a stream where a table cannot say it.
func (l *linter) checkKind() {
	want := slices.ContainsFunc(l.section.entries, func(e entry) bool { return e.kind == compressedEntry })
	if offset, ok := l.oldStartxref(); !l.rebuilt() {
		if !ok || !l.sound() {
			return // judged by checkPrev
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
			l.fault(Offset, "%d for %s does not lead to it", e.offset, e.ref)
		}
		if at < len(l.base) && !l.rebuilt() {
			l.fault(Offset, "%s is listed and was not written", e.ref)
		}
		l.checkGeneration(e.ref)
	default:
		l.fault(ObjectFlow, "object %d is listed with type %d", e.ref.Num, e.kind)
	}
}

// checkGeneration: an object that existed has to be known under the same generation as
// before; references to it name that one. New objects have generation 0.
func (l *linter) checkGeneration(ref pdf.Ref) {
	if old, _ := l.old.Object(ref); old == nil && ref.Gen != 0 && !l.rebuilt() { // which lists what stands in the file
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

// checkEverything: without Prev, what the section does not list is gone. What can be read
// of the file as it was has to be readable still.
func (l *linter) checkEverything() {
	if !l.rebuilt() {
		return
	}
	refs := make(map[pdf.Ref]bool)
	for _, m := range anyObject.FindAllSubmatch(l.base, -1) {
		refs[pdf.Ref{Num: uint32(number(m[1])), Gen: uint16(number(m[2]))}] = true
	}
	size, _ := l.old.Trailer()["Size"].(pdf.Integer)
	for num := range uint32(min(max(size, 0), 1<<20)) { // those in object streams too
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
