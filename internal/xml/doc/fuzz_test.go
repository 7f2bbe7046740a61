package doc_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// FuzzParse reads anything. Of what is a document, nodes stand in the source as they stand in the
// tree, and the root is the same when it is cut out of what is around it.
func FuzzParse(f *testing.F) {
	for _, tc := range append(append(documents, namespaced...), encoded...) {
		f.Add([]byte(tc.source))
	}
	for seed := range uint64(20) {
		document, _ := generate(seed)
		f.Add([]byte(document))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		if len(source) > 1<<12 {
			t.Skip("longer than what there is to find")
		}
		d, err := xmldoc.Parse(source)
		if err != nil {
			return
		}
		start, end := d.Root().Span()
		if d.Declaration() > start || end > int64(len(source)) {
			t.Fatalf("a root from %d to %d of %d", start, end, len(source))
		}
		checkNesting(t, d.Root())
		head := source[:d.Declaration():d.Declaration()]
		if diff := cmp.Diff(outline(d.Root()), outline(parse(t, append(head, source[start:end]...)).Root())); diff != "" {
			t.Error(diff)
		}
		if id, found := d.DuplicateID(); found {
			if _, ok := d.ByID(id); ok {
				t.Error("an identifier of several elements is taken")
			}
		}
	})
}

// checkNesting: children fill their parent, one after the other.
func checkNesting(t *testing.T, n xmldoc.Node) {
	at, end, ok := n.Inside()
	for child := range n.Children() {
		childStart, childEnd := child.Span()
		if !ok || childStart != at || childEnd <= childStart || child.Parent() != n {
			t.Fatalf("a child from %d to %d where %d is the next", childStart, childEnd, at)
		}
		at = childEnd
		checkNesting(t, child)
	}
	if ok && at != end {
		t.Fatalf("nothing from %d to %d", at, end)
	}
}

// outline is what a node is, with what is in it.
func outline(n xmldoc.Node) (lines []string) {
	lines = append(lines, string('0'+rune(n.Kind()))+n.Name().Space+" "+n.Name().Local+" "+n.Prefix())
	for name, value := range n.Attributes() {
		lines = append(lines, name.Space+" "+name.Local+"="+value)
	}
	if n.Kind() == xmldoc.Text {
		lines = append(lines, n.Text())
	}
	for child := range n.Children() {
		lines = append(lines, outline(child)...)
	}
	return lines
}
