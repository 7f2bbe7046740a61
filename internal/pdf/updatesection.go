package pdf

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"math/bits"
	"slices"
)

// sectionWriter writes objects and the cross-reference section that lists them.
type sectionWriter struct {
	file    *File
	out     []byte
	size    uint32 // of the trailer: the highest object number and 1
	written []writtenObject
}

// writtenObject is an entry to be: in ascending order of numbers.
type writtenObject struct {
	ref    Ref
	offset int64 // as the cross-reference has it, from the header
}

// here returns the offset at which the next byte is going to be, from the header.
func (w *sectionWriter) here() int64 {
	return w.file.size - w.file.shift + int64(len(w.out))
}

// object writes an indirect object and returns where its body begins in out.
func (w *sectionWriter) object(ref Ref, body []byte) int64 {
	w.written = append(w.written, writtenObject{ref, w.here()})
	w.out = fmt.Appendf(w.out, "%s obj\n", ref.identity())
	start := int64(len(w.out))
	w.out = append(w.out, body...)
	w.out = append(w.out, "\nendobj\n"...)
	return start
}

// section writes a section of the kind that the file's last one has. To a hybrid file's
// that is a table, without the XRefStm that belongs to the old one.
func (w *sectionWriter) section() error {
	if w.file.sections[0].stream {
		return w.stream()
	}
	return w.table()
}

// runs returns the written objects in ranges of consecutive numbers.
func (w *sectionWriter) runs() [][]writtenObject {
	var runs [][]writtenObject
	start := 0
	for i := 1; i <= len(w.written); i++ {
		if i == len(w.written) || w.written[i].ref.Num != w.written[i-1].ref.Num+1 {
			runs = append(runs, w.written[start:i])
			start = i
		}
	}
	return runs
}

// maxTableOffset is the largest offset that the ten digits of an entry hold.
const maxTableOffset = 9_999_999_999

// table writes a cross-reference table, in entries of exactly 20 bytes, and a trailer.
func (w *sectionWriter) table() error {
	at := w.here()
	if at > maxTableOffset {
		return fmt.Errorf("%w: offset %d in a cross-reference table", ErrLimit, at)
	}
	w.out = append(w.out, "xref\n"...)
	for _, run := range w.runs() {
		w.out = fmt.Appendf(w.out, "%d %d\n", run[0].ref.Num, len(run))
		for _, o := range run {
			w.out = fmt.Appendf(w.out, "%010d %05d n \n", o.offset, o.ref.Gen)
		}
	}
	w.out = append(w.out, "trailer\n<<"...)
	if err := w.trailerEntries(); err != nil {
		return err
	}
	w.out = fmt.Appendf(w.out, " >>\nstartxref\n%d\n%%%%EOF\n", at)
	return nil
}

// stream writes a cross-reference stream. It lists itself, and has no filter: it is small.
func (w *sectionWriter) stream() error {
	at := w.here()
	self := Ref{Num: w.size}
	w.size++
	w.written = append(w.written, writtenObject{self, at})
	width := (bits.Len64(uint64(at)) + 7) / 8 // no object lies behind the section
	w.out = fmt.Appendf(w.out, "%s obj\n<< /Type /XRef /W [1 %d 2] /Index [", self.identity(), width)
	for i, run := range w.runs() {
		if i > 0 {
			w.out = append(w.out, ' ')
		}
		w.out = fmt.Appendf(w.out, "%d %d", run[0].ref.Num, len(run))
	}
	w.out = fmt.Appendf(w.out, "] /Length %d", len(w.written)*(1+width+2))
	if err := w.trailerEntries(); err != nil {
		return err
	}
	w.out = append(w.out, " >>\nstream\n"...)
	for _, o := range w.written {
		w.out = append(w.out, byte(plainEntry))
		w.out = appendField(w.out, uint64(o.offset), width)
		w.out = appendField(w.out, uint64(o.ref.Gen), 2)
	}
	w.out = fmt.Appendf(w.out, "\nendstream\nendobj\nstartxref\n%d\n%%%%EOF\n", at)
	return nil
}

// appendField appends the lowest bytes of n, highest first.
func appendField(out []byte, n uint64, width int) []byte {
	for i := width - 1; i >= 0; i-- {
		out = append(out, byte(n>>(8*i)))
	}
	return out
}

// notCarried are the trailer's entries that a new section has of its own or that describe
// the old one only: Tables 5, 15, 17 and 19.
var notCarried = []Name{
	"Size", "Prev", "ID", "XRefStm", "Type", "Index", "W",
	"Length", "Filter", "DecodeParms", "F", "FFilter", "FDecodeParms", "DL",
}

// trailerEntries writes Size, Prev, ID and all others of the last trailer as they stand (7.5.6).
func (w *sectionWriter) trailerEntries() error {
	w.out = fmt.Appendf(w.out, " /Size %d /Prev %d", w.size, w.file.startxref)
	source := w.file.sections[0].source
	var carried []entry
	_, err := dictSource(source, func(e entry) {
		carried = slices.DeleteFunc(carried, func(earlier entry) bool { return earlier.key == e.key })
		if !slices.Contains(notCarried, e.key) {
			carried = append(carried, e)
		}
	})
	if err != nil {
		return err
	}
	for _, e := range carried {
		name := NameToken(e.key)
		w.out = slices.Concat(w.out, []byte{' '}, name, []byte{' '}, source[e.start:e.end])
	}
	return w.id()
}

// id writes the file identifier: its first part stays, its second part is new (14.4).
func (w *sectionWriter) id() error {
	changing := make([]byte, 16)
	if _, err := rand.Read(changing); err != nil {
		return fmt.Errorf("file identifier: %w", err)
	}
	permanent := changing
	if id, err := resolveTo[Array](w.file, w.file.Trailer()["ID"]); err == nil && len(id) == 2 {
		if first, err := resolveTo[String](w.file, id[0]); err == nil && len(first) > 0 {
			permanent = []byte(first)
		}
	}
	pair := bytes.Join([][]byte{HexString(permanent), HexString(changing)}, []byte{' '})
	w.out = fmt.Appendf(w.out, " /ID [%s]", pair)
	return nil
}
