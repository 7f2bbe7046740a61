package pdf

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
		"7.3.8.2 a stream for a length":          {Ref{11, 0}, String("abc"), nil},
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
		"First behind the end":       {streamBody("/Type /ObjStm /N 1 /First 40", []byte("9 0 1")), entry(1, 0)},
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

// What is wrong about an object stream and yet leaves no doubt is passed over.
func TestObjectStreamWithErrors(t *testing.T) {
	tests := map[string]struct {
		body  string
		index int
	}{
		"index out of bounds":        {streamBody("/Type /ObjStm /N 1 /First 4", []byte("9 0 7")), 1},
		"index of another object":    {streamBody("/Type /ObjStm /N 2 /First 8", []byte("8 0 9 2 1 7")), 0},
		"more objects than fit":      {streamBody("/Type /ObjStm /N 9999999999 /First 4", []byte("9 0 7")), 0},
		"head that ends in a letter": {streamBody("/Type /ObjStm /N 2 /First 6", []byte("9 0 x 7")), 0},
		"wrong checksum":             {streamBody("/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode", withoutChecksum("9 0 7")), 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBuilder()
			b.object(1, test.body)
			f := mustOpen(t, b.xrefStream(10, 11, map[int][3]int{9: {2, 1, test.index}}, ""))
			if n, err := f.Int(Ref{Num: 9}); n != 7 || err != nil {
				t.Errorf("%d, error %v", n, err)
			}
		})
	}
}

func withoutChecksum(text string) []byte {
	deflated := deflate([]byte(text))
	return append(deflated[:len(deflated)-4], 0, 0, 0, 0)
}

// Object streams that do not all fit into the cache are read again.
func TestObjectStreamCache(t *testing.T) {
	b := newBuilder()
	entries := map[int][3]int{}
	for i := range 4 {
		large := "(" + strings.Repeat("x", maxCachedStreams/3) + ")"
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
			if f.streams.bytes > maxCachedStreams || len(f.streams.byNum) != len(f.streams.order) {
				t.Errorf("%d bytes of %d streams kept, in order %v", f.streams.bytes, len(f.streams.byNum), f.streams.order)
			}
		}
	}
}
