// Package pdf makes well-formed PDF files of any size for tests, with each kind of cross-reference. Only tests import it.
package pdf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Kind is the kind of a file's cross-reference (ISO 32000-2 7.5.4, 7.5.8).
type Kind string

const (
	Table  Kind = "table"
	Stream Kind = "stream" // all objects but streams are in object streams
	Hybrid Kind = "hybrid" // a table, and a stream with the entries of Options.Objects (7.5.8.4)
)

// Kinds has the kinds that every program reads.
var Kinds = []Kind{Table, Stream}

// Options has the parts of a file. The zero value is one empty A4 page with a cross-reference table.
type Options struct {
	Kind    Kind
	Pages   int      // 0: one
	Payload int      // bytes of an additional stream
	Catalog string   // further entries of the catalog
	Page    string   // further entries of the first page
	Objects []string // further objects, numbered from 100
	Many    int      // number of additional objects, numbered from 1000: strings of 350 bytes
	Trailer string   // further entries of the trailer
}

// Build makes the file.
func Build(o Options) []byte {
	b := builder{options: o, offsets: make(map[int]int)}
	b.out.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	pages := max(1, o.Pages)
	objects := map[int]string{1: "<< /Type /Catalog /Pages 2 0 R " + o.Catalog + " >>"}
	kids := ""
	for i := range pages {
		kids += fmt.Sprintf("%d 0 R ", 10+i)
		entries := ""
		if i == 0 {
			entries = o.Page
		}
		objects[10+i] = "<< /Type /Page /Parent 2 0 R /Contents 3 0 R " + entries + " >>"
	}
	objects[2] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d /MediaBox [0 0 595 842] /Resources << >> >>", kids, pages)
	b.stream(3, "", []byte("0 0 m 10 10 l S"))
	if o.Payload > 0 {
		b.stream(4, "", bytes.Repeat([]byte{0x5a}, o.Payload))
	}
	for i, object := range o.Objects {
		objects[100+i] = object
	}
	for i := range o.Many {
		objects[1000+i] = "(" + strings.Repeat("x", 350) + ")"
	}
	switch o.Kind {
	case Stream:
		return b.finishStream(objects)
	case Hybrid:
		return b.finishHybrid(objects)
	}
	return b.finishTable(objects)
}

type builder struct {
	options Options
	out     bytes.Buffer
	offsets map[int]int
}

func (b *builder) object(n int, body string) {
	b.offsets[n] = b.out.Len()
	fmt.Fprintf(&b.out, "%d 0 obj\n%s\nendobj\n", n, body)
}

func (b *builder) stream(n int, entries string, payload []byte) {
	b.offsets[n] = b.out.Len()
	fmt.Fprintf(&b.out, "%d 0 obj\n<< %s /Length %d >>\nstream\n", n, entries, len(payload))
	b.out.Write(payload)
	b.out.WriteString("\nendstream\nendobj\n")
}

func (b *builder) size() int {
	last := 0
	for n := range b.offsets {
		last = max(last, n)
	}
	return last + 1
}

func (b *builder) finishTable(objects map[int]string) []byte {
	for _, n := range slices.Sorted(maps.Keys(objects)) {
		b.object(n, objects[n])
	}
	start, size := b.out.Len(), b.size()
	fmt.Fprintf(&b.out, "xref\n0 %d\n0000000000 65535 f \n", size)
	for n := 1; n < size; n++ {
		if offset, ok := b.offsets[n]; ok {
			fmt.Fprintf(&b.out, "%010d 00000 n \n", offset)
		} else {
			b.out.WriteString("0000000000 65535 f \n")
		}
	}
	fmt.Fprintf(&b.out, "trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", size, b.options.Trailer, start)
	return b.out.Bytes()
}

// place is the place of a compressed object.
type place struct{ container, index int }

func (b *builder) objectStream(container int, numbers []int, objects map[int]string) {
	var header, bodies bytes.Buffer
	for _, n := range numbers {
		fmt.Fprintf(&header, "%d %d ", n, bodies.Len())
		bodies.WriteString(objects[n] + " ")
	}
	b.stream(container, fmt.Sprintf("/Type /ObjStm /N %d /First %d", len(numbers), header.Len()), append(header.Bytes(), bodies.Bytes()...))
}

func (b *builder) finishStream(objects map[int]string) []byte {
	next := max(900, slices.Max(slices.Collect(maps.Keys(objects)))+1)
	places := make(map[int]place)
	for numbers := range slices.Chunk(slices.Sorted(maps.Keys(objects)), 200) {
		b.objectStream(next, numbers, objects)
		for i, n := range numbers {
			places[n] = place{next, i}
		}
		next++
	}
	section := next
	b.offsets[section] = b.out.Len()
	var rows bytes.Buffer
	for n := range section + 1 {
		kind, field, last := byte(0), uint32(0), uint16(0)
		if p, ok := places[n]; ok {
			kind, field, last = 2, uint32(p.container), uint16(p.index)
		} else if offset, ok := b.offsets[n]; ok {
			kind, field = 1, uint32(offset)
		}
		rows.WriteByte(kind)
		rows.Write(binary.BigEndian.AppendUint32(nil, field))
		rows.Write(binary.BigEndian.AppendUint16(nil, last))
	}
	start := b.offsets[section]
	b.stream(section, fmt.Sprintf("/Type /XRef /Size %d /W [1 4 2] /Root 1 0 R %s", section+1, b.options.Trailer), rows.Bytes())
	fmt.Fprintf(&b.out, "startxref\n%d\n%%%%EOF\n", start)
	return b.out.Bytes()
}

// firstFurther is the object number of Options.Objects[0].
const firstFurther = 100

// finishHybrid writes a hybrid-reference file with Options.Objects in an object stream. The table calls them free, and
// XRefStm in its trailer names the stream with their entries.
func (b *builder) finishHybrid(objects map[int]string) []byte {
	hidden := slices.DeleteFunc(slices.Sorted(maps.Keys(objects)), func(n int) bool { return n < firstFurther })
	container := firstFurther
	if len(hidden) > 0 {
		container = slices.Max(hidden) + 1
	}
	b.objectStream(container, hidden, objects)
	section := container + 1
	at := b.out.Len()
	index := ""
	for _, n := range hidden {
		index += fmt.Sprintf("%d 1 ", n)
	}
	b.stream(section, fmt.Sprintf("/Type /XRef /Size %d /W [1 2 2] /Index [%s]", section+1, index), compressedRows(container, len(hidden)))
	maps.DeleteFunc(objects, func(n int, _ string) bool { return n >= firstFurther })
	b.options.Trailer += fmt.Sprintf(" /XRefStm %d", at)
	return b.finishTable(objects)
}

// compressedRows returns the entries of type 2 (Table 18) of all objects in an object stream.
func compressedRows(container, n int) []byte {
	var rows bytes.Buffer
	for i := range n {
		rows.WriteByte(2)
		rows.Write(binary.BigEndian.AppendUint16(nil, uint16(container)))
		rows.Write(binary.BigEndian.AppendUint16(nil, uint16(i)))
	}
	return rows.Bytes()
}
