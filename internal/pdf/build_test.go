package pdf

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// builder writes files for tests, one section after another.
type builder struct {
	bytes.Buffer
	shift   int // bytes before the header
	offsets map[int]int
	gens    map[int]int
	last    int // offset of the last section, 0 before the first
}

func newBuilder() *builder {
	b := &builder{}
	b.WriteString("%PDF-1.7\n")
	b.begin()
	return b
}

// begin starts a section.
func (b *builder) begin() { b.offsets, b.gens = map[int]int{}, map[int]int{} }

func (b *builder) here() int { return b.Len() - b.shift }

func (b *builder) object(num int, body string) { b.objectGen(num, 0, body) }

func (b *builder) objectGen(num, gen int, body string) {
	b.offsets[num], b.gens[num] = b.here(), gen
	fmt.Fprintf(b, "%d %d obj\n%s\nendobj\n", num, gen, body)
}

func (b *builder) stream(num int, dict string, payload []byte) {
	b.object(num, streamBody(dict, payload))
}

func streamBody(dict string, payload []byte) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", dict, len(payload), payload)
}

// objectStream writes an object stream and returns its entries for a cross-reference stream.
func (b *builder) objectStream(num int, objects map[int]string) map[int][3]int {
	var head, bodies bytes.Buffer
	entries := map[int][3]int{}
	for i, n := range sortedKeys(objects) {
		fmt.Fprintf(&head, "%d %d ", n, bodies.Len())
		bodies.WriteString(objects[n] + " ")
		entries[n] = [3]int{2, num, i}
	}
	dict := fmt.Sprintf("/Type /ObjStm /N %d /First %d /Filter /FlateDecode", len(objects), head.Len())
	b.stream(num, dict, deflate(append(head.Bytes(), bodies.Bytes()...)))
	return entries
}

// table ends a section with a table; trailer are entries besides Size and Prev.
func (b *builder) table(size int, trailer string) []byte {
	at := b.here()
	b.WriteString("xref\n")
	var subsection strings.Builder
	first, count := 0, 0
	if b.last == 0 {
		subsection.WriteString("0000000000 65535 f \n")
		count++
	}
	flush := func() {
		if count > 0 {
			fmt.Fprintf(b, "%d %d\n%s", first, count, subsection.String())
		}
		subsection.Reset()
		count = 0
	}
	for _, num := range sortedKeys(b.offsets) {
		if num != first+count {
			flush()
			first = num
		}
		fmt.Fprintf(&subsection, "%010d %05d n \n", b.offsets[num], b.gens[num])
		count++
	}
	flush()
	fmt.Fprintf(b, "trailer\n<< /Size %d%s %s >>\n", size, b.prev(), trailer)
	return b.finish(at)
}

// xrefStream ends a section with a cross-reference stream that is object num.
func (b *builder) xrefStream(num, size int, compressed map[int][3]int, trailer string) []byte {
	at := b.here()
	b.writeXRefStream(num, size, compressed, b.prev()+" "+trailer)
	return b.finish(at)
}

func (b *builder) writeXRefStream(num, size int, compressed map[int][3]int, trailer string) {
	b.offsets[num] = b.here()
	entries := map[int][3]int{}
	for n, offset := range b.offsets {
		entries[n] = [3]int{1, offset, b.gens[n]}
	}
	for n, e := range compressed {
		entries[n] = e
	}
	var index, payload bytes.Buffer
	nums := sortedKeys(entries)
	for i, start := 0, 0; i < len(nums); i++ {
		if i+1 == len(nums) || nums[i+1] != nums[i]+1 {
			fmt.Fprintf(&index, "%d %d ", nums[start], i+1-start)
			start = i + 1
		}
	}
	for _, n := range nums {
		payload.WriteByte(byte(entries[n][0]))
		payload.Write(binary.BigEndian.AppendUint32(nil, uint32(entries[n][1])))
		payload.Write(binary.BigEndian.AppendUint16(nil, uint16(entries[n][2])))
	}
	dict := fmt.Sprintf("/Type /XRef /W [1 4 2] /Index [%s] /Size %d %s /Filter /FlateDecode", &index, size, trailer)
	b.stream(num, dict, deflate(payload.Bytes()))
}

func (b *builder) prev() string {
	if b.last == 0 {
		return ""
	}
	return fmt.Sprintf(" /Prev %d", b.last)
}

func (b *builder) finish(at int) []byte {
	fmt.Fprintf(b, "startxref\n%d\n%%%%EOF\n", at)
	b.last = at
	b.begin()
	return bytes.Clone(b.Bytes())
}

func sortedKeys[V any](m map[int]V) []int {
	keys := make([]int, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func deflate(content []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(content) // a bytes.Buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// tableFile is a file of one page with a table.
func tableFile() []byte {
	b := newBuilder()
	b.object(1, "<< /Type /Catalog /Pages 2 0 R >>")
	b.object(2, "<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 595 842] >>")
	b.object(3, "<< /Type /Page /Parent 2 0 R >>")
	return b.table(4, "/Root 1 0 R /ID [<0102> <0304>]")
}

// streamFile is a file of one page with a cross-reference stream, its catalog and pages
// in an object stream.
func streamFile() []byte {
	b := newBuilder()
	compressed := b.objectStream(4, map[int]string{
		1: "<< /Type /Catalog /Pages 2 0 R >>",
		2: "<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 595 842] >>",
		3: "<< /Type /Page /Parent 2 0 R >>",
	})
	return b.xrefStream(5, 6, compressed, "/Root 1 0 R /ID [<0102> <0304>]")
}

// hybridFile has objects that only its XRefStm knows, and one that both know (7.5.8.4).
func hybridFile() []byte {
	b := newBuilder()
	b.object(1, "<< /Type /Catalog /Pages 2 0 R >>")
	compressed := b.objectStream(4, map[int]string{
		2: "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		3: "<< /Type /Page /Parent 2 0 R >>",
	})
	compressed[1] = [3]int{0, 0, 0} // the table's entry has to win
	at := b.here()
	b.writeXRefStream(5, 6, compressed, "")
	delete(b.offsets, 5)
	return b.table(6, fmt.Sprintf("/Root 1 0 R /XRefStm %d", at))
}

func mustOpen(t testing.TB, content []byte) *File {
	t.Helper()
	f, err := Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}
