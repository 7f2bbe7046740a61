package pdf

import (
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
