package pdf

import (
	"bytes"
	"fmt"
	"testing"
)

const rootOnly = "/Root 1 0 R"

// Further sections of a builder whose last one is before.
func TestIsStrictIncrement(t *testing.T) {
	catalog := "<< /Type /Catalog /Pages 2 0 R >>"
	for _, tt := range []struct {
		name   string
		want   bool
		append func(b *builder, first int) // first is where the first section is
	}{
		{"nothing", true, func(*builder, int) {}},
		{"a table", true, func(b *builder, _ int) { b.object(9, "7"); b.table(10, rootOnly) }},
		{"a stream", true, func(b *builder, _ int) { b.object(9, "7"); b.xrefStream(10, 11, nil, rootOnly) }},
		{"an object stream", true, func(b *builder, _ int) {
			b.xrefStream(10, 11, b.objectStream(9, map[int]string{1: catalog, 8: "7"}), rootOnly)
		}},
		{"two updates of an object", true, func(b *builder, _ int) {
			for range 2 {
				b.object(1, catalog)
				b.table(10, rootOnly)
			}
		}},
		{"an object freed later", false, func(b *builder, _ int) {
			b.object(9, "7")
			b.xrefStream(10, 11, nil, rootOnly)
			b.xrefStream(11, 12, map[int][3]int{9: {0, 0, 1}}, rootOnly)
		}},
		{"an object that came back from before", false, func(b *builder, _ int) {
			old := bytes.Index(b.Bytes(), []byte("1 0 obj"))
			b.object(1, catalog)
			b.table(10, rootOnly)
			b.offsets[1] = old
			b.table(10, rootOnly)
		}},
		{"another generation later", false, func(b *builder, _ int) {
			b.objectGen(9, 1, "7")
			b.table(10, rootOnly)
			b.object(9, "7")
			b.table(10, rootOnly)
		}},
		{"an object stream that is not all in use", false, func(b *builder, _ int) {
			compressed := b.objectStream(9, map[int]string{1: catalog, 8: "7"})
			delete(compressed, 8)
			b.xrefStream(10, 11, compressed, rootOnly)
		}},
		{"an object at a wrong index", false, func(b *builder, _ int) {
			compressed := b.objectStream(9, map[int]string{7: "7", 8: "7"})
			compressed[7], compressed[8] = compressed[8], compressed[7]
			b.xrefStream(10, 11, compressed, rootOnly)
		}},
		{"past the last section", false, func(b *builder, first int) { b.last = first; b.object(9, "7"); b.table(10, rootOnly) }},
		{"a stream beside the table", false, func(b *builder, _ int) {
			at := b.here()
			b.writeXRefStream(9, 10, nil, "")
			b.table(10, fmt.Sprintf("%s /XRefStm %d", rootOnly, at))
		}},
		{"another root in between", false, func(b *builder, _ int) {
			b.object(9, catalog)
			b.table(10, "/Root 9 0 R")
			b.table(10, rootOnly)
		}},
		{"other bytes behind an update", false, func(b *builder, _ int) {
			b.object(9, "7")
			b.table(10, rootOnly)
			b.Truncate(b.Len() - len("%%EOF\n"))
			b.WriteString("%%%EOF\n")
			b.table(10, rootOnly)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBuilder()
			b.object(1, catalog)
			b.object(2, "<< /Type /Pages /Kids [] /Count 0 >>")
			b.table(3, rootOnly)
			first := b.last
			b.object(3, "7")
			before := mustOpen(t, b.table(4, rootOnly))
			tt.append(b, first)
			if got, err := mustOpen(t, b.Bytes()).IsStrictIncrement(before); got != tt.want || err != nil {
				t.Errorf("%t, %v", got, err)
			}
		})
	}
}
