package pdf

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestResolve checks which object a reference names, in a file of two revisions.
func TestResolve(t *testing.T) {
	b := newBuilder("(first)")
	b.objectGen(2, 3, "(generation 3)")
	b.object(3, "7 0 R")
	b.object(4, streamBody("/Filter /ASCIIHexDecode", "4869>"))
	b.object(5, "<< /Length 6 0 R >>\nstream\r\nabc\r\nendstream")
	b.object(6, "3")
	b.rows[8] = b.rows[1]
	b.row(9, 1, b.Len()+100_000, 0)
	b.object(10, "10 0 R")
	b.object(11, "<< /Length 5 0 R >>\nstream\nabc\nendstream")
	b.table("")
	b.object(1, "(second)")
	f := mustOpen(t, b.table(""))
	for name, test := range map[string]struct {
		ref  Ref
		want any
	}{
		"7.5.6 updated object":                 {Ref{1, 0}, String("second")},
		"7.3.10 generation":                    {Ref{2, 3}, String("generation 3")},
		"7.3.10 wrong generation":              {Ref{2, 0}, nil},
		"7.3.10 reference to a missing object": {Ref{3, 0}, nil},
		"7.3.10 number above all others":       {Ref{4_000_000_000, 9}, nil},
		"7.5.4 free object":                    {Ref{0, 65535}, nil},
		"7.3.8 stream":                         {Ref{4, 0}, "Hi"},
		"7.3.8.2 indirect Length":              {Ref{5, 0}, "abc"},
		"7.3.8.2 Length that is a stream":      {Ref{11, 0}, "abc"},
		"offset of another object":             {Ref{8, 0}, ErrMisplaced},
		"offset outside of the file":           {Ref{9, 0}, ErrMisplaced},
		"reference to itself":                  {Ref{10, 0}, ErrLimit},
	} {
		got, err := f.Resolve(test.ref)
		if s, ok := got.(*Stream); ok {
			got, err = f.Stream(s, 10)
		}
		expect(t, name, test.want)(got, err)
	}
}

// TestTypedAccess checks that each accessor returns an object of its type, accepts null, and refuses other types.
func TestTypedAccess(t *testing.T) {
	f := mustOpen(t, newBuilder("[(text) /Name 7 -1.5 true << >> [7]]").table(""))
	items := must(f.Array(Ref{Num: 1}))
	for i, read := range []func(Object) (Object, error){
		func(o Object) (Object, error) { v, err := f.Bytes(o); return String(v), err },
		func(o Object) (Object, error) { return f.Name(o) },
		func(o Object) (Object, error) { v, err := f.Int(o); return Integer(v), err },
		func(o Object) (Object, error) { v, err := f.Number(o); return Real(v), err },
		func(o Object) (Object, error) { return f.Bool(o) },
		func(o Object) (Object, error) { return f.Dict(o) },
	} {
		expect(t, items[i], items[i])(read(items[i]))
		if _, err := read(nil); err != nil {
			t.Errorf("item %d: null: %v", i, err)
		}
		expect(t, "another type", ErrDamaged)(read(items[len(items)-1]))
	}
	expect(t, "integer as a number", 7.0)(f.Number(Integer(7)))
}

// TestSource checks the source text of objects, and the place of this text in the file.
func TestSource(t *testing.T) {
	long := "<< /A (" + strings.Repeat("x", 5000) + ") >>" // longer than the first window
	b := newBuilder("%c\n<< /A#20 [ 1  2 ] % kept\n>> % dropped", streamBody("", "abc"), long)
	b.objectStream(4, map[int]string{5: "<</Compressed  true>>", 6: "(next)"})
	content := b.xrefStream("")
	f := mustOpen(t, content)
	for num, test := range map[uint32]struct {
		want any
		span bool
	}{
		1: {"<< /A#20 [ 1  2 ] % kept\n>>", true},
		2: {ErrUnsupported, true}, // a stream
		3: {long, true},
		5: {"<</Compressed  true>>", false},
		6: {"(next)", false},
		9: {"null", false},
	} {
		expect(t, num, test.want)(f.Source(Ref{Num: num}))
		start, end, ok, err := f.Span(Ref{Num: num})
		if want, isText := test.want.(string); err != nil || ok != test.span || ok && isText && string(content[start:end]) != want {
			t.Errorf("object %d: span %d to %d, %t, error %v; want %t", num, start, end, ok, err, test.span)
		}
	}
}

// TestObjectWithEnd checks whether bytes that are appended to a file could become part of an object: they cannot if
// endobj or other text follows. An integer without endobj could become a reference.
func TestObjectWithEnd(t *testing.T) {
	for name, test := range map[string]struct {
		body, after string // text of the object, and of the file after it
		want        bool
	}{
		"endobj":                                   {"<< >>\nendobj\n", "x\n", true},
		"endobj directly after an integer":         {"33endobj\n", "x\n", true},
		"head of another object":                   {"<< >>\n99 0 obj null endobj\n", "x\n", true},
		"delimiter":                                {"<< >>\n>>\nendobj\n", "x\n", true},
		"comment, and text on the next line":       {"<< >>\n%endobj\n", "x\n", true},
		"stream with all of its payload":           {"<< /Length 1 >>\nstream\n1\nendstream", "", true},
		"stream whose payload goes beyond the end": {"<< /Length 20 >>\nstream\n1\nendstream", "", false},
		"integer, and a word":                      {"33\n", "x\n", false},
		"integer, and a number":                    {"33 0\n", "x\n", false},
		"end of the file":                          {"<< >>", "", false},
		"keyword at the end of the file":           {"<< >>\nstre", "", false},
		"comment at the end of the file":           {"<< >>\n%endobj", "", false},
		"white space at the end of the file":       {"<< >> \n", "", false},
		"integer at the end of the file":           {"33", "", false},
	} {
		b := newBuilder("<< /Type /Catalog >>")
		b.row(2, 1, 1<<16, 0)
		content := b.table("")
		content = bytes.Replace(content, []byte("0000065536"), fmt.Appendf(nil, "%010d", len(content)), 1)
		content = append(content, "2 0 obj\n"+test.body+test.after...)
		if _, got, err := mustOpen(t, content).ObjectWithEnd(Ref{Num: 2}); got != test.want || err != nil {
			t.Errorf("%s: got %t, error %v; want %t", name, got, err, test.want)
		}
	}
}

// TestObjectStream checks how object 9 is read from an object stream, object 1. Errors that leave no doubt about the
// object are ignored: the object number is what counts, and the index may be wrong.
func TestObjectStream(t *testing.T) {
	const one = "/Type /ObjStm /N 1 /First 4"
	deflated := deflate("9 0 7")
	for name, test := range map[string]struct {
		body             string
		container, index int // of object 9 by the cross-reference
		want             any
	}{
		"correct":                      {streamBody(one, "9 0 7"), 1, 0, int64(7)},
		"index out of bounds":          {streamBody(one, "9 0 7"), 1, 1, int64(7)},
		"index of another object":      {streamBody("/Type /ObjStm /N 2 /First 8", "8 0 9 2 1 7"), 1, 0, int64(7)},
		"N is too high":                {streamBody("/Type /ObjStm /N 9999999999 /First 4", "9 0 7"), 1, 0, int64(7)},
		"second number is a letter":    {streamBody("/Type /ObjStm /N 2 /First 6", "9 0 x 7"), 1, 0, int64(7)},
		"wrong checksum of deflate":    {streamBody(one+" /Filter /FlateDecode", deflated[:len(deflated)-4]+"0000"), 1, 0, int64(7)},
		"container is missing":         {"null", 7, 0, ErrDamaged},
		"container is a dictionary":    {"<< /Type /ObjStm >>", 1, 0, ErrDamaged},
		"container has no Type":        {streamBody("/N 1 /First 4", "9 0 1"), 1, 0, ErrDamaged},
		"container without the object": {streamBody(one, "8 0 1"), 1, 0, ErrDamaged},
		"First after the end":          {streamBody("/Type /ObjStm /N 1 /First 40", "9 0 1"), 1, 0, ErrDamaged},
		"negative N":                   {streamBody("/Type /ObjStm /N -1 /First 4", "9 0 1"), 1, 0, ErrDamaged},
		"offset after the end":         {streamBody(one, "9 6 1"), 1, 0, ErrDamaged},
		"object is its own container":  {streamBody(one, "9 0 1"), 9, 0, ErrDamaged},
		"object is N of its container": {streamBody("/Type /ObjStm /N 9 0 R /First 4", "9 0 1"), 1, 0, ErrDamaged},
	} {
		b := newBuilder(test.body)
		b.row(9, 2, test.container, test.index)
		expect(t, name, test.want)(mustOpen(t, b.xrefStream("")).Int(Ref{Num: 9}))
	}
}

// TestObjectStreamCache checks that the cache of object streams stays within its limit.
func TestObjectStreamCache(t *testing.T) {
	b := newBuilder()
	large := "(" + strings.Repeat("x", maxCachedStreams/3) + ")"
	for i := range 4 {
		b.objectStream(1+i, map[int]string{10 + i: fmt.Sprint(i), 20 + i: large})
	}
	f := mustOpen(t, b.xrefStream(""))
	for i := range 8 {
		expect(t, i, int64(i%4))(f.Int(Ref{Num: uint32(10 + i%4)}))
		if f.streams.bytes > maxCachedStreams || len(f.streams.byNum) != len(f.streams.order) {
			t.Errorf("the cache has %d bytes of %d streams, and the order %v", f.streams.bytes, len(f.streams.byNum), f.streams.order)
		}
	}
}

// FuzzObjects reads files with any objects and a correct cross-reference.
func FuzzObjects(f *testing.F) {
	for _, seed := range [][]string{
		{"<< /Kids [3 0 R] /Rotate 90 >>", "<< /Type /Page /MediaBox [0 0 4 0 R 1] >>", "7"},
		{"<< /Kids 3 0 R >>", "[2 0 R 4 0 R]", streamBody("/Filter [/A85 /FlateDecode] /DecodeParms 3 0 R", "x")},
		{"<< /Kids [] >>", "<< /Length 4 0 R >>\nstream\nabc\nendstream", "3"},
	} {
		f.Add(strings.Join(seed, fuzzSeparator))
	}
	f.Fuzz(func(t *testing.T, bodies string) {
		checkError(t, readAll(treeFile(strings.Split(bodies, fuzzSeparator)...)))
	})
}

// fuzzSeparator separates the bodies of objects in the input of a fuzz target.
const fuzzSeparator = "\n--\n"

// FuzzObjectStream reads object streams with any dictionary and payload.
func FuzzObjectStream(f *testing.F) {
	f.Add("/N 2 /First 8", []byte("5 0 6 9 << /A 1 >> [5 0 R]"))
	f.Add("/N 6 0 R /First 4", []byte("6 0 1"))
	f.Add("/N 1 /First 4 /Extends 4 0 R /Filter /FlateDecode", []byte(deflate("5 0 (x)")))
	f.Fuzz(func(t *testing.T, dict string, payload []byte) {
		b := newBuilder("<< /Pages 5 0 R >>")
		b.object(4, streamBody("/Type /ObjStm "+dict, string(payload)))
		b.row(5, 2, 4, 0)
		b.row(6, 2, 4, 1)
		b.row(7, 2, 4, 1)
		checkError(t, readAll(b.xrefStream("")))
	})
}
