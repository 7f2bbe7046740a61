package doc

import "testing"

func TestHasComments(t *testing.T) {
	for _, test := range []struct {
		name, document     string
		whole, root, parts bool // in all of it, in the root, and in that without its elements x
	}{
		{"none", `<a><b>1</b><?go?></a>`, false, false, false},
		{"before the root", `<!-- 1 --><a/>`, true, false, false},
		{"behind the root", `<a/><!-- 1 -->`, true, false, false},
		{"in an element", `<a><b>1<!-- 1 --></b></a>`, true, true, true},
		{"in what is left out", `<a><x><b><!-- 1 --></b></x></a>`, true, true, false},
		{"behind what is left out", `<a><x><b><!-- 1 --></b></x><!-- 2 --></a>`, true, true, true},
	} {
		d, err := Parse([]byte(test.document))
		if err != nil {
			t.Fatal(err)
		}
		without := func(n Node) bool { return n.Is("", "x") }
		got := [3]bool{d.HasComments(Subset{}), d.HasComments(Subset{Apex: d.Root()}), d.HasComments(Subset{Apex: d.Root(), Without: without})}
		if want := [3]bool{test.whole, test.root, test.parts}; got != want {
			t.Errorf("%s: %v, want %v", test.name, got, want)
		}
	}
}
