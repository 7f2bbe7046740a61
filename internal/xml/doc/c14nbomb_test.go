package doc_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// canonicalBombs are documents whose canonical form takes long, or much, if anything's does.
func canonicalBombs(size int) map[string]string {
	var unordered, bound, used, wide strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&unordered, " a%d=''", i*7919%9000)
	}
	for i := range 100 {
		fmt.Fprintf(&bound, " xmlns:p%d='u:%d'", i, i)
		fmt.Fprintf(&used, " p%d:a=''", i*37%100)
	}
	for i := range 5000 {
		fmt.Fprintf(&wide, " xmlns:p%d='u:%d'", i, i)
	}
	inside := func(start, content string) string {
		return start + strings.Repeat(content, size/len(content)) + "</r>"
	}
	name := strings.Repeat("n", 1000)
	return map[string]string{
		"attributes in no order":          inside("<r>", "<e"+unordered.String()+"/>"),
		"attributes of 100 namespaces":    inside("<r"+bound.String()+">", "<e"+used.String()+"/>"),
		"declarations that are not used":  inside("<r>", "<e"+bound.String()+"/>"),
		"5,000 declarations at the root":  inside("<r"+wide.String()+">", "<e/>"),
		"a long name, again and again":    inside("<r xmlns:p='u:"+name+"'>", "<p:e/>"),
		"prefixes bound anew":             inside("<r xmlns:a='u:a'>", "<a:e xmlns:a='u:b'><a:e xmlns:a='u:a'/></a:e>"),
		"what is escaped":                 inside("<r>", "&#13;"),
		"what is escaped in values":       inside("<r>", "<e a='&#9;&#10;&#13;'/>"),
		"white space in values":           inside("<r>", "<e a='\t\t\t\t\t\t\t\t'/>"),
		"line ends":                       inside("<r>", "\r\n\r"),
		"instructions":                    inside("<r>", "<?p \r\r?>"),
		"a base for each of 250 elements": strings.Repeat("<e xml:base='"+strings.Repeat("a/", size/500/2)+"'>", 250) + "<e/>" + strings.Repeat("</e>", 250),
	}
}

// eachCanonicalBomb names each canonical form of a bomb, and of its innermost element. [BenchmarkBombs] says how long
// one may take.
func eachCanonicalBomb(t testing.TB, size int, do func(name string, form func() error)) {
	t.Helper()
	all := bombs(size)
	maps.Copy(all, canonicalBombs(size))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		d, err := xmldoc.Parse([]byte(all[name]))
		if err != nil {
			continue
		}
		var innermost xmldoc.Node
		for e := range d.Root().Elements() {
			innermost = e
			for e := range e.Descendants() {
				innermost = e
			}
		}
		for method := range methods {
			for part, apex := range map[string]xmldoc.Node{"all": {}, "innermost": innermost} {
				do(fmt.Sprintf("%s, %s of %s", name, part, method), func() error {
					return d.Canonicalize(io.Discard, xmldoc.Canonicalization{Method: methods[method], Comments: true}, xmldoc.Subset{Apex: apex})
				})
			}
		}
	}
}

// TestCanonicalBombs: each method is done with the whole of a bomb, and with its innermost element.
func TestCanonicalBombs(t *testing.T) {
	const size = 1 << 20
	eachCanonicalBomb(t, size, func(name string, form func() error) {
		var err error
		used := testenv.Allocated(func() { err = form() })
		if used > mostAllocated*size {
			t.Errorf("%s: %v with %d MB", name, err, used>>20)
		}
		if err != nil && !errors.Is(err, xmldoc.ErrLimit) {
			t.Errorf("%s: %v", name, err)
		}
	})
}
