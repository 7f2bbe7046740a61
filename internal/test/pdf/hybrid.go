package pdf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// firstFurther is the number of the first of Options.Objects.
const firstFurther = 100

// finishHybrid puts the further objects into an object stream. The table says that they are
// free, and XRefStm of its trailer leads to the stream that says where they are.
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

// compressedRows are the entries of type 2 (table 18) for all objects of an object stream.
func compressedRows(container, n int) []byte {
	var rows bytes.Buffer
	for i := range n {
		rows.WriteByte(2)
		rows.Write(binary.BigEndian.AppendUint16(nil, uint16(container)))
		rows.Write(binary.BigEndian.AppendUint16(nil, uint16(i)))
	}
	return rows.Bytes()
}
