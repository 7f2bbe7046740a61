package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// a4 is page 1 of tableFile and streamFile.
var a4 = &Page{
	Ref:      Ref{Num: 3},
	Dict:     Dict{"Type": Name("Page"), "Parent": Ref{Num: 2}},
	MediaBox: Rect{URX: 595, URY: 842},
	CropBox:  Rect{URX: 595, URY: 842},
}

// junked returns a file behind some bytes; offsets count from the header.
func junked(junk string) []byte {
	b := &builder{shift: len(junk)}
	b.WriteString(junk + "%PDF-1.4\n")
	b.begin()
	b.object(1, "<< /Type /Catalog /Pages 2 0 R >>")
	b.object(2, "<< /Type /Pages /Kids [3 0 R] /MediaBox [0 0 595 842] >>")
	b.object(3, "<< /Type /Page /Parent 2 0 R >>")
	return b.table(4, "/Root 1 0 R")
}

func TestOpenReads(t *testing.T) {
	tests := map[string][]byte{
		"7.5.4 table":                            tableFile(),
		"7.5.8 cross-reference stream":           streamFile(),
		"header behind other bytes":              junked(strings.Repeat("x", 19)),
		"header behind the most bytes":           junked(strings.Repeat("x", headerWindow-len("%PDF-"))),
		"offsets that count from the first byte": offsetsFromStart("junk\n"),
		"other bytes at the end":                 append(tableFile(), bytes.Repeat([]byte("junk\n"), 10<<10)...),
		"carriage returns for line feeds":        bytes.ReplaceAll(tableFile(), []byte{'\n'}, []byte{'\r'}),
		"no end of line at the end":              bytes.TrimSpace(tableFile()),
	}
	for name, content := range tests {
		t.Run(name, func(t *testing.T) {
			page, err := mustOpen(t, content).Page(1)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(a4, page); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// offsetsFromStart returns a file whose writer knew of the bytes before the header.
func offsetsFromStart(junk string) []byte {
	b := &builder{}
	b.WriteString(junk + "%PDF-1.4\n")
	b.begin()
	b.object(1, "<< /Type /Catalog /Pages 2 0 R >>")
	b.object(2, "<< /Type /Pages /Kids [3 0 R] /MediaBox [0 0 595 842] >>")
	b.object(3, "<< /Type /Page /Parent 2 0 R >>")
	return b.table(4, "/Root 1 0 R")
}

func TestOpenRefuses(t *testing.T) {
	table := string(tableFile())
	circle := strings.Replace(table, "/Size 4", fmt.Sprintf("/Size 4 /Prev %d", strings.LastIndex(table, "xref\n0")), 1)
	tests := map[string]struct {
		content string
		want    error
	}{
		"nothing":                        {"", ErrNotPDF},
		"another format":                 {"PK\x03\x04 and more", ErrNotPDF},
		"header too far away":            {strings.Repeat(" ", headerWindow) + table, ErrNotPDF},
		"only a header":                  {"%PDF-1.7\n", ErrDamaged},
		"cut off":                        {table[:len(table)/2], ErrDamaged},
		"startxref without an offset":    {"%PDF-1.7\nstartxref\n%%EOF", ErrDamaged},
		"startxref 0":                    {"%PDF-1.7\nstartxref\n0\n%%EOF", ErrDamaged},
		"startxref behind the end":       {"%PDF-1.7\nstartxref\n4000000000\n%%EOF", ErrDamaged},
		"startxref at no section":        {strings.Replace(table, "startxref\n", "startxref\n1", 1), ErrDamaged},
		"startxref too far from the end": {table + strings.Repeat(" ", maxTrailingBytes), ErrDamaged},
		"sections in a circle":           {circle, ErrDamaged},
		"Prev that is no offset":         {strings.Replace(table, "/Size 4", "/Size 4 /Prev (1)", 1), ErrDamaged},
		"no Size":                        {strings.Replace(table, "/Size 4", "", 1), ErrDamaged},
		"Size above all object numbers":  {strings.Replace(table, "/Size 4", "/Size 8388609", 1), ErrDamaged},
		"object number out of bounds":    {strings.Replace(table, "\n3 1\n", "\n8388608 1\n", 1), ErrLimit},
		"subsection of too many":         {strings.Replace(table, "\n3 1\n", "\n3 99999999999\n", 1), ErrDamaged},
		"encrypted":                      {strings.Replace(table, "/Size 4", "/Size 4 /Encrypt 9 0 R", 1), ErrEncrypted},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Open(strings.NewReader(test.content), int64(len(test.content)))
			if !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
		})
	}
}

func TestOpenPassesOnReadErrors(t *testing.T) {
	content := tableFile()
	_, err := Open(bytes.NewReader(content), int64(len(content))+1)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v, want %v", err, io.ErrUnexpectedEOF)
	}
}

func TestXRefStreamRefuses(t *testing.T) {
	stream := func(dict string, payload string) []byte {
		b := newBuilder()
		at := b.here()
		b.stream(1, "/Type /XRef /Size 1 "+dict, []byte(payload))
		return b.finish(at)
	}
	tests := map[string]struct {
		content []byte
		want    error
	}{
		"no W":                    {stream("", ""), ErrDamaged},
		"W of two":                {stream("/W [1 2]", ""), ErrDamaged},
		"W of four":               {stream("/W [1 2 1 1]", ""), ErrUnsupported},
		"W of nothing":            {stream("/W [0 0 0]", ""), ErrUnsupported},
		"W below 0":               {stream("/W [1 -2 1]", ""), ErrDamaged},
		"W above 8":               {stream("/W [1 9 1]", ""), ErrDamaged},
		"too few entries":         {stream("/W [1 2 1] /Index [0 2]", "\x00\x00\x00\x00\x00"), ErrDamaged},
		"Index below 0":           {stream("/W [1 2 1] /Index [-1 1]", ""), ErrDamaged},
		"Index with a huge count": {stream("/W [1 2 1] /Index [0 9223372036854775807]", ""), ErrLimit},
		"Index with huge counts":  {stream("/W [1 2 1] /Index [0 4000000 0 4000000]", ""), ErrLimit},
		"Index with a huge first": {stream("/W [1 2 1] /Index [9223372036854775807 1]", ""), ErrLimit},
		"unknown filter":          {stream("/W [1 2 1] /Filter /JPXDecode", ""), ErrUnsupported},
		"wrong Length":            {bytes.Replace(stream("/W [1 2 1]", "\x00\x00\x00\x00"), []byte("/Length 4"), []byte("/Length 3"), 1), ErrDamaged},
		"indirect Length":         {bytes.Replace(stream("/W [1 2 1]", "\x00\x00\x00\x00"), []byte("/Length 4"), []byte("/Length 4 0 R"), 1), ErrDamaged},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := Open(bytes.NewReader(test.content), int64(len(test.content))); !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
		})
	}
}

// In a hybrid file the table wins over its XRefStm, and that over Prev (7.5.8.4).
func TestHybridFile(t *testing.T) {
	f := mustOpen(t, hybridFile())
	if n, err := f.PageCount(); n != 1 || err != nil {
		t.Errorf("%d pages, error %v; want 1", n, err)
	}
	if f.sections[0].stream {
		t.Error("the last section counts as a stream")
	}
}

func TestObject(t *testing.T) {
	b := newBuilder()
	b.object(1, "(first)")
	b.objectGen(2, 3, "(generation 3)")
	b.object(3, "7 0 R")
	b.stream(4, "/Filter /ASCIIHexDecode", []byte("4869>"))
	b.object(5, "<< /Length 6 0 R >>\nstream\r\nabc\r\nendstream")
	b.object(6, "3")
	b.offsets[8] = b.offsets[1] // object 1 stands in its place
	b.offsets[9] = b.here() + 100_000
	b.object(10, "10 0 R")
	b.object(11, "<< /Length 5 0 R >>\nstream\nabc\nendstream")
	b.table(12, "")
	b.object(1, "(second)")
	f := mustOpen(t, b.table(12, ""))
	tests := map[string]struct {
		ref  Ref
		want Object
		err  error
	}{
		"7.5.6 the newest section counts":        {Ref{1, 0}, String("second"), nil},
		"7.3.10 generation":                      {Ref{2, 3}, String("generation 3"), nil},
		"7.3.10 other generation is null":        {Ref{2, 0}, nil, nil},
		"7.3.10 reference to nothing is null":    {Ref{3, 0}, nil, nil},
		"7.3.10 missing object is null":          {Ref{7, 0}, nil, nil},
		"7.3.10 number beyond all":               {Ref{4_000_000_000, 9}, nil, nil},
		"7.5.4 free object is null":              {Ref{0, 65535}, nil, nil},
		"7.3.8 stream":                           {Ref{4, 0}, String("Hi"), nil},
		"7.3.8.2 stream with an indirect length": {Ref{5, 0}, String("abc"), nil},
		"7.3.8.2 a stream for a length":          {Ref{11, 0}, nil, ErrDamaged},
		"another object in its place":            {Ref{8, 0}, nil, ErrDamaged},
		"outside of the file":                    {Ref{9, 0}, nil, ErrDamaged},
		"reference to itself":                    {Ref{10, 0}, nil, ErrLimit},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := f.Resolve(test.ref)
			if s, ok := got.(*Stream); ok {
				var content []byte
				content, err = f.Stream(s, 10)
				got = String(content)
			}
			if diff := cmp.Diff(test.want, got); diff != "" || !errors.Is(err, test.err) {
				t.Errorf("error %v, want %v\n%s", err, test.err, diff)
			}
		})
	}
}

func TestTypedAccess(t *testing.T) {
	b := newBuilder()
	b.object(1, "[(text) /Name 7 -1.5 true << >> null]")
	f := mustOpen(t, b.table(2, ""))
	items, err := f.Array(Ref{Num: 1})
	if err != nil {
		t.Fatal(err)
	}
	read := []func(Object) (Object, error){
		func(o Object) (Object, error) { v, err := f.Bytes(o); return String(v), err },
		func(o Object) (Object, error) { return f.Name(o) },
		func(o Object) (Object, error) { v, err := f.Int(o); return Integer(v), err },
		func(o Object) (Object, error) { v, err := f.Number(o); return Real(v), err },
		func(o Object) (Object, error) { return f.Bool(o) },
		func(o Object) (Object, error) { return f.Dict(o) },
	}
	for i, read := range read {
		if got, err := read(items[i]); err != nil || !cmp.Equal(got, items[i]) {
			t.Errorf("item %d: %v, error %v; want %v", i, got, err, items[i])
		}
		if _, err := read(nil); err != nil {
			t.Errorf("item %d: null: %v", i, err)
		}
		if _, err := read(Array{}); !errors.Is(err, ErrDamaged) {
			t.Errorf("item %d: array: error %v, want ErrDamaged", i, err)
		}
	}
	if x, err := f.Number(Integer(7)); x != 7 || err != nil {
		t.Errorf("Number(7): %v, error %v", x, err)
	}
}

func TestSource(t *testing.T) {
	b := newBuilder()
	b.object(1, "%c\n<< /A#20 [ 1  2 ] % kept\n>> % dropped")
	b.stream(2, "", []byte("abc"))
	compressed := b.objectStream(4, map[int]string{5: "<</Compressed  true>>", 6: "(next)"})
	f := mustOpen(t, b.xrefStream(7, 8, compressed, ""))
	for num, want := range map[uint32]string{
		1: "<< /A#20 [ 1  2 ] % kept\n>>",
		3: "null",
		5: "<</Compressed  true>>",
		6: "(next)",
	} {
		if got, err := f.Source(Ref{Num: num}); err != nil || string(got) != want {
			t.Errorf("object %d: %q, error %v; want %q", num, got, err, want)
		}
	}
	if _, err := f.Source(Ref{Num: 2}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("stream: error %v, want ErrUnsupported", err)
	}
}

func TestObjectStreamRefuses(t *testing.T) {
	entry := func(stream, index int) map[int][3]int { return map[int][3]int{9: {2, stream, index}} }
	tests := map[string]struct {
		body  string
		entry map[int][3]int
	}{
		"missing stream":             {"null", entry(7, 0)},
		"no stream":                  {"<< /Type /ObjStm >>", entry(1, 0)},
		"another stream":             {streamBody("/N 1 /First 4", []byte("9 0 1")), entry(1, 0)},
		"another object":             {streamBody("/Type /ObjStm /N 1 /First 4", []byte("8 0 1")), entry(1, 0)},
		"index out of bounds":        {streamBody("/Type /ObjStm /N 1 /First 4", []byte("9 0 1")), entry(1, 1)},
		"First behind the end":       {streamBody("/Type /ObjStm /N 1 /First 40", []byte("9 0 1")), entry(1, 0)},
		"more objects than fit":      {streamBody("/Type /ObjStm /N 9999999999 /First 4", []byte("9 0 1")), entry(1, 0)},
		"negative number of objects": {streamBody("/Type /ObjStm /N -1 /First 4", []byte("9 0 1")), entry(1, 0)},
		"offset behind the end":      {streamBody("/Type /ObjStm /N 1 /First 4", []byte("9 6 1")), entry(1, 0)},
		"compressed in itself":       {streamBody("/Type /ObjStm /N 1 /First 4", []byte("9 0 1")), entry(9, 0)},
		"described by itself":        {streamBody("/Type /ObjStm /N 9 0 R /First 4", []byte("9 0 1")), entry(1, 0)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBuilder()
			b.object(1, test.body)
			f := mustOpen(t, b.xrefStream(10, 11, test.entry, ""))
			if o, err := f.Object(Ref{Num: 9}); !errors.Is(err, ErrDamaged) {
				t.Errorf("%v, error %v; want ErrDamaged", o, err)
			}
		})
	}
}

// Object streams that do not all fit into the cache are read again.
func TestObjectStreamCache(t *testing.T) {
	b := newBuilder()
	entries := map[int][3]int{}
	for i := range 4 {
		large := "(" + strings.Repeat("x", maxKeptStreams/3) + ")"
		for num, e := range b.objectStream(1+i, map[int]string{10 + i: fmt.Sprint(i), 20 + i: large}) {
			entries[num] = e
		}
	}
	f := mustOpen(t, b.xrefStream(9, 24, entries, ""))
	for range 2 {
		for i := range 4 {
			if n, err := f.Int(Ref{Num: uint32(10 + i)}); n != int64(i) || err != nil {
				t.Errorf("object %d: %d, error %v", 10+i, n, err)
			}
			if f.streams.bytes > maxKeptStreams || len(f.streams.byNum) != len(f.streams.order) {
				t.Errorf("%d bytes of %d streams kept, in order %v", f.streams.bytes, len(f.streams.byNum), f.streams.order)
			}
		}
	}
}

func TestRevisions(t *testing.T) {
	linear := func() []byte { // Annex F: the section at the front is read first
		b := newBuilder()
		b.object(1, "<< >>")
		front := b.here()
		tail := fmt.Sprintf("xref\n1 1\n%010d 00000 n \ntrailer\n<< /Size 3 /Prev %%010d /Root 1 0 R >>\nstartxref\n0\n%%%%%%%%EOF\n", b.offsets[1])
		length := len(fmt.Sprintf(tail, 0))
		second := fmt.Sprintf("2 0 obj\n7\nendobj\n")
		fmt.Fprintf(b, tail, front+length+len(second))
		at := b.here()
		fmt.Fprintf(b, "%sxref\n0 1\n0000000000 65535 f \n2 1\n%010d 00000 n \ntrailer\n<< /Size 3 >>\nstartxref\n%d\n%%%%EOF", second, at, front)
		return bytes.Clone(b.Bytes())
	}()
	table, stream := tableFile(), streamFile()
	twice := updatedCatalog(t, updatedCatalog(t, stream))
	tests := map[string]struct {
		content []byte
		want    []int64
	}{
		"table":                  {table, []int64{int64(len(table) - 1)}},
		"stream":                 {stream, []int64{int64(len(stream) - 1)}},
		"linearized":             {linear, []int64{int64(len(linear))}},
		"other bytes at the end": {append(slices.Clone(table), "\njunk"...), []int64{int64(len(table) - 1)}},
		"no marker":              {bytes.TrimSuffix(table, []byte("%%EOF\n")), nil},
		"two updates": {twice, []int64{int64(len(stream) - 1),
			int64(bytes.Index(twice[len(stream):], []byte("%%EOF")) + len(stream) + len("%%EOF")), int64(len(twice) - 1)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := mustOpen(t, test.content).Revisions()
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("error %v\n%s", err, diff)
			}
		})
	}
}

// updatedCatalog returns content with an update that changes nothing.
func updatedCatalog(t testing.TB, content []byte) []byte {
	t.Helper()
	updated, err := resetCatalog(mustOpen(t, content), content)
	if err != nil {
		t.Fatal(err)
	}
	return updated
}

// Opening and reading everything of any bytes ends, with an error of this package or none.
func FuzzOpen(f *testing.F) {
	for _, seed := range [][]byte{
		tableFile(), streamFile(), hybridFile(), junked("junk"), append(tableFile(), updatedTail(f, tableFile())...),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := readEverything(content); err != nil {
			if sentinelOf(err) == nil {
				t.Fatalf("error of no kind: %v", err)
			}
			return
		}
		file := mustOpen(t, content)
		updated, err := resetCatalog(file, slices.Clone(content))
		if err != nil {
			return // what cannot be patched is refused
		}
		if err := readEverything(updated); err != nil {
			t.Fatalf("readable before the update, but not behind it: %v", err)
		}
	})
}

// The objects of a file may be anything while the cross-reference is right: that lets the
// fuzzer reach streams and the page tree.
func FuzzObjects(f *testing.F) {
	const separator = "\n--\n"
	for _, seed := range [][]string{
		{"<< /Kids [3 0 R] /Rotate 90 >>", "<< /Type /Page /MediaBox [0 0 4 0 R 1] >>", "7"},
		{"<< /Kids 3 0 R >>", "[2 0 R 4 0 R]", streamBody("/Filter [/A85 /FlateDecode] /DecodeParms 3 0 R", []byte("x"))},
		{"<< /Kids [] >>", "<< /Length 4 0 R >>\nstream\nabc\nendstream", "3"},
	} {
		f.Add(strings.Join(seed, separator))
	}
	f.Fuzz(func(t *testing.T, bodies string) {
		content := treeFile(strings.Split(bodies, separator)...)
		if err := readEverything(content); err != nil && sentinelOf(err) == nil {
			t.Fatalf("error of no kind: %v", err)
		}
	})
}

// A cross-reference stream may say anything.
func FuzzXRefStream(f *testing.F) {
	f.Add("/W [1 2 1] /Index [0 1 9 1]", []byte("\x00\x00\x00\xff\x01\x00\x09\x00"))
	f.Add("/W [0 1 0]", []byte("\x09"))
	f.Add("/W [1 1 1] /Prev 9", []byte("\x02\x01\x00"))
	f.Fuzz(func(t *testing.T, dict string, payload []byte) {
		b := newBuilder()
		b.object(1, "<< /Pages 2 0 R >>")
		at := b.here()
		b.stream(3, "/Type /XRef /Root 1 0 R /Size 4 "+dict, payload)
		if err := readEverything(b.finish(at)); err != nil && sentinelOf(err) == nil {
			t.Fatalf("error of no kind: %v", err)
		}
	})
}

// updatedTail returns what an update appends.
func updatedTail(t testing.TB, content []byte) []byte {
	return updatedCatalog(t, slices.Clone(content))[len(content):]
}
