package doc_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// distinct are numbered elements.
func distinct(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<n%d/>", i)
	}
	return b.String()
}

// targets are those of instructions, numbered.
func targets(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<?t%d?>", i)
	}
	return b.String()
}

// namespaces are numbered, those of an element each.
func namespaces(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<n xmlns='u:%d'/>", i)
	}
	return b.String()
}

// TestRoom fills it up, and exceeds it. That some namespaces are always there makes a difference of a few.
func TestRoom(t *testing.T) {
	t.Parallel()
	fills := map[string]func(nodes, attributes, names int) (int, func(int) string){
		"names":      func(_, _, names int) (int, func(int) string) { return names, targets },
		"namespaces": func(_, _, names int) (int, func(int) string) { return names - len([]string{"xmlns"}), namespaces },
	}
	if testenv.Full() {
		fills["nodes"] = func(nodes, _, _ int) (int, func(int) string) {
			return nodes, func(n int) string { return strings.Repeat("<a/>", n) }
		}
		fills["attributes"] = func(_, attributes, _ int) (int, func(int) string) {
			return attributes, func(n int) string {
				const tag = "<e a='' b='' c='' d='' e=''/>"
				return strings.Repeat(tag, n/5) + "<e" + tag[len("<e"):len("<e")+n%5*len(" a=''")] + "/>"
			}
		}
	}
	for name, fill := range fills {
		for _, content := range []string{"", identified(50_000), distinct(60_000)} {
			more, add := fill(parse(t, []byte("<a>"+content+"</a>")).RemainingLimits())
			for _, beyond := range []int{0, 4} {
				_, err := xmldoc.Parse([]byte("<a>" + content + add(more+beyond) + "</a>"))
				if beyond == 0 && err != nil || beyond > 0 && !errors.Is(err, xmldoc.ErrLimit) {
					t.Errorf("%s, %.40s, %d more: %v", name, content, more+beyond, err)
				}
			}
		}
	}
}
