package pdf

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

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

// A cross-reference table and its trailer may say anything.
func FuzzXRefTable(f *testing.F) {
	f.Add("0 3\n0000000000 65535 f \n0000000009 00000 n \n0000000056 00000 n \n", "/Size 3 /Root 1 0 R")
	f.Add("1 2\n0000000000 65535 f\r\n0000000009 00000 n\r\n", "/Size 2.0 /Root 1 0 R /Prev 9 /XRefStm 9")
	f.Add("0 1\n0 0 f 8388607 1\n9 65535 n ", "/Size 8388608 /Root 8388607 65535 R")
	f.Fuzz(func(t *testing.T, entries, trailer string) {
		b := newBuilder()
		b.object(1, "<< /Pages 2 0 R >>")
		b.object(2, "<< /Kids [1 0 R] >>")
		at := b.here()
		b.WriteString("xref\n" + entries + "trailer\n<< " + trailer + " >>\n")
		if err := readEverything(b.finish(at)); err != nil && sentinelOf(err) == nil {
			t.Fatalf("error of no kind: %v", err)
		}
	})
}

// An object stream may hold anything, whatever its dictionary says of it.
func FuzzObjectStream(f *testing.F) {
	f.Add("/N 2 /First 8", []byte("5 0 6 9 << /A 1 >> [5 0 R]"))
	f.Add("/N 6 0 R /First 4", []byte("6 0 1"))
	f.Add("/N 1 /First 4 /Extends 4 0 R /Filter /FlateDecode", deflate([]byte("5 0 (x)")))
	f.Fuzz(func(t *testing.T, dict string, payload []byte) {
		b := newBuilder()
		b.object(1, "<< /Pages 5 0 R >>")
		b.stream(4, "/Type /ObjStm "+dict, payload)
		content := b.xrefStream(9, 10, map[int][3]int{5: {2, 4, 0}, 6: {2, 4, 1}, 7: {2, 4, 1}}, "/Root 1 0 R")
		if err := readEverything(content); err != nil && sentinelOf(err) == nil {
			t.Fatalf("error of no kind: %v", err)
		}
	})
}

// Rebuilding the cross-reference of any bytes ends, and what is listed behind them leads
// where the scan found it.
func FuzzRebuild(f *testing.F) {
	for _, content := range brokenFiles() {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		file, err := Rebuild(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			if sentinelOf(err) == nil {
				t.Fatalf("error of no kind: %v", err)
			}
			return
		}
		updated, err := resetCatalog(file, slices.Clone(content))
		if err != nil {
			return // what cannot be patched is refused
		}
		again := mustOpen(t, updated)
		catalog, _, err := file.Catalog()
		if err != nil {
			t.Fatal(err)
		}
		for num, e := range file.entries.all() {
			if got := again.entries.get(num); got.kind != e.kind && num != catalog.Num {
				t.Fatalf("object %d: %+v instead of %+v", num, got, e)
			}
		}
	})
}
