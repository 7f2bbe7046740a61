package pdf

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// sectionWriter writes the objects of an update and the cross-reference section that lists them.
type sectionWriter struct {
	file   *File
	out    []byte
	size   uint32        // Size of the trailer: the highest object number plus 1
	next   uint32        // number for a cross-reference stream, size or higher
	listed []listedEntry // in ascending order of numbers
}

// listedEntry is an entry of the new section. Its offset is relative to offsetBase, as in the file.
type listedEntry struct {
	num uint32
	xrefEntry
}

// offset returns the offset of the next byte that is written, relative to offsetBase.
func (w *sectionWriter) offset() int64 {
	return w.file.size - w.file.offsetBase + int64(len(w.out))
}

// object writes an indirect object and returns the offset of its body in out.
func (w *sectionWriter) object(ref Ref, body []byte) int64 {
	w.list(ref.Num, xrefEntry{kind: uncompressedEntry, offset: w.offset(), gen: ref.Gen})
	w.out = fmt.Appendf(w.out, "%s obj\n", ref.identity())
	start := int64(len(w.out))
	w.out = append(w.out, body...)
	w.out = append(w.out, "\nendobj\n"...)
	return start
}

func (w *sectionWriter) list(num uint32, e xrefEntry) {
	w.listed = append(w.listed, listedEntry{num, e})
}

// section writes a section of the same kind as the last section of the file. For a hybrid-reference
// file this is a table, without the XRefStm of the old one. No section of a rebuilt file is used:
// the new section lists all objects, and is a stream if the file has compressed objects.
func (w *sectionWriter) section() error {
	stream := w.file.sections[0].isStream
	if w.file.rebuilt {
		stream = w.listAll()
	}
	if stream {
		return w.stream()
	}
	return w.table()
}

// listAll adds the objects of the file that the update does not change. All numbers are in one
// range, as in a first revision (7.5.4); a number without an object is free and is never used
// again. compressed reports whether some object is compressed.
func (w *sectionWriter) listAll() (compressed bool) {
	w.size = w.next
	all := make([]listedEntry, w.size)
	for num := range all {
		all[num] = listedEntry{uint32(num), xrefEntry{kind: freeEntry, gen: math.MaxUint16}}
	}
	for num, e := range w.file.entries.all() {
		switch e.kind {
		case uncompressedEntry:
			e.offset -= w.file.offsetBase
		case compressedEntry:
			compressed = true
		}
		all[num].xrefEntry = e
	}
	for _, l := range w.listed {
		all[l.num] = l
	}
	w.listed = all
	return compressed
}

// ranges returns the listed entries in ranges of consecutive numbers.
func (w *sectionWriter) ranges() [][]listedEntry {
	var runs [][]listedEntry
	start := 0
	for i := 1; i <= len(w.listed); i++ {
		if i == len(w.listed) || w.listed[i].num != w.listed[i-1].num+1 {
			runs = append(runs, w.listed[start:i])
			start = i
		}
	}
	return runs
}

// maxTableOffset is the largest offset that fits in the ten digits of an entry.
const maxTableOffset = 9_999_999_999

// table writes a cross-reference table, with entries of exactly 20 bytes, and a trailer.
func (w *sectionWriter) table() error {
	at := w.offset()
	if at > maxTableOffset {
		return fmt.Errorf("%w: offset %d in a cross-reference table", ErrLimit, at)
	}
	w.out = append(w.out, "xref\n"...)
	for _, run := range w.ranges() {
		w.out = fmt.Appendf(w.out, "%d %d\n", run[0].num, len(run))
		for _, l := range run {
			w.out = fmt.Appendf(w.out, "%010d %05d %c \n", l.offset, l.gen, "fn"[l.kind])
		}
	}
	w.out = append(w.out, "trailer\n<<"...)
	if err := w.trailerEntries(); err != nil {
		return err
	}
	w.out = fmt.Appendf(w.out, " >>\nstartxref\n%d\n%%%%EOF\n", at)
	return nil
}

// stream writes a cross-reference stream. The stream lists itself. It has no filter, because it is
// small.
func (w *sectionWriter) stream() error {
	at := w.offset()
	self := Ref{Num: w.next}
	w.size = self.Num + 1
	w.list(self.Num, xrefEntry{kind: uncompressedEntry, offset: at})
	widths := w.widths()
	w.out = fmt.Appendf(w.out, "%s obj\n<< /Type /XRef /W [%d %d %d] /Index [", self.identity(), widths[0], widths[1], widths[2])
	for i, run := range w.ranges() {
		if i > 0 {
			w.out = append(w.out, ' ')
		}
		w.out = fmt.Appendf(w.out, "%d %d", run[0].num, len(run))
	}
	w.out = fmt.Appendf(w.out, "] /Length %d", len(w.listed)*widths.entry())
	if err := w.trailerEntries(); err != nil {
		return err
	}
	w.out = append(w.out, " >>\nstream\n"...)
	for _, l := range w.listed {
		w.out = append(w.out, byte(l.kind))
		w.out = appendField(w.out, uint64(l.offset), widths[1])
		w.out = appendField(w.out, l.thirdField(), widths[2])
	}
	w.out = fmt.Appendf(w.out, "\nendstream\nendobj\nstartxref\n%d\n%%%%EOF\n", at)
	return nil
}

// thirdField returns the third field of an entry (Table 18).
func (e xrefEntry) thirdField() uint64 {
	if e.kind == compressedEntry {
		return uint64(e.index)
	}
	return uint64(e.gen)
}

// widths returns field widths that are sufficient for every entry: one byte for the type, and at
// least two for the third field.
func (w *sectionWriter) widths() widths {
	second, third := uint64(1), uint64(math.MaxUint16)
	for _, l := range w.listed {
		second, third = max(second, uint64(l.offset)), max(third, l.thirdField())
	}
	return widths{1, (bits.Len64(second) + 7) / 8, (bits.Len64(third) + 7) / 8}
}

// appendField appends the width lowest bytes of n, the highest one first.
func appendField(out []byte, n uint64, width int) []byte {
	for i := width - 1; i >= 0; i-- {
		out = append(out, byte(n>>(8*i)))
	}
	return out
}

// ownTrailerKeys has the keys that trailerEntries does not copy from the old trailer: the new
// section has its own values, or the values describe only the old section (Tables 5, 15, 17 and
// 19).
var ownTrailerKeys = []Name{
	"Size", "Prev", "ID", "XRefStm", "Type", "Index", "W",
	"Length", "Filter", "DecodeParms", "F", "FFilter", "FDecodeParms", "DL",
}

// trailerEntries writes Size, Prev and ID, and copies the source text of all other entries of the
// last trailer (7.5.6).
func (w *sectionWriter) trailerEntries() error {
	w.out = fmt.Appendf(w.out, " /Size %d", w.size)
	if !w.file.rebuilt {
		w.out = fmt.Appendf(w.out, " /Prev %d", w.file.startxref)
	}
	source := w.file.sections[0].source
	var copied []entry
	last := map[Name]int{} // index in copied of the last value of each key
	_, err := dictSource(source, func(e entry) {
		last[e.key] = len(copied)
		copied = append(copied, e)
	})
	if err != nil {
		return err
	}
	for i, e := range copied {
		if last[e.key] != i || slices.Contains(ownTrailerKeys, e.key) {
			continue
		}
		w.out = fmt.Appendf(w.out, " %s %s", NameToken(e.key), source[e.start:e.end])
	}
	return w.id()
}

// id writes the file identifier. Its first part stays, and its second part is new (14.4).
func (w *sectionWriter) id() error {
	changing := make([]byte, 16)
	if _, err := rand.Read(changing); err != nil {
		return fmt.Errorf("file identifier: %w", err)
	}
	permanent := changing
	if e := w.file.encryption; e != nil && e.version < 5 { // the key depends on the first part
		if permanent = e.id; w.file.Trailer()["ID"] == nil {
			return nil
		}
	} else if id, err := resolveTo[Array](w.file, w.file.Trailer()["ID"]); err == nil && len(id) == 2 {
		if first, err := resolveTo[String](w.file, id[0]); err == nil && len(first) > 0 {
			permanent = []byte(first)
		}
	}
	pair := bytes.Join([][]byte{HexString(permanent), HexString(changing)}, []byte{' '})
	w.out = fmt.Appendf(w.out, " /ID [%s]", pair)
	return nil
}
