package doc_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// TestLimits checks documents at a limit, and beyond it by one.
func TestLimits(t *testing.T) {
	type limit struct {
		name           string
		inside, beyond string
	}
	limits := []limit{
		{"attributes of an element", "<a" + attributes(1, 10_000) + "/>", "<a" + attributes(0, 10_000) + "/>"},
		{
			"names", "<a>" + manyNames(6) + "<e" + attributes(100_000, 105_532) + "/></a>",
			"<a>" + manyNames(6) + "<e" + attributes(100_000, 105_533) + "/></a>",
		},
	}
	if testenv.Full() {
		elements := strings.Repeat("<e/>", 1<<22-1)
		attributed := "<r>" + strings.Repeat("<e"+attributes(1, 10_000)+"/>", (1<<22)/10_000) + "<e"
		limits = append(limits,
			limit{"nodes", "<r>" + elements + "</r>", "<r>" + elements + "x</r>"},
			limit{"attributes", attributed + attributes(1, 1<<22%10_000) + "/></r>", attributed + attributes(0, 1<<22%10_000) + "/></r>"})
	}
	for _, tc := range limits {
		if _, err := xmldoc.Parse([]byte(tc.inside)); err != nil {
			t.Errorf("greatest number of %s: %v", tc.name, err)
		}
		if _, err := xmldoc.Parse([]byte(tc.beyond)); !errors.Is(err, xmldoc.ErrLimit) {
			t.Errorf("one more of %s: got %v, want %v", tc.name, err, xmldoc.ErrLimit)
		}
	}
}

// TestRemainingLimits adds as many nodes, attributes, names or namespaces as RemainingLimits returns,
// and then four more, because some namespaces are predefined.
func TestRemainingLimits(t *testing.T) {
	t.Parallel()
	type fill struct {
		name    string
		count   func(nodes, attributes, names int) int
		content func(n int) string
	}
	fills := []fill{
		{"names", func(_, _, names int) int { return names }, func(n int) string { return numbered("<?t%d?>", 1, n) }},
		{"namespaces", func(_, _, names int) int { return names - 1 }, func(n int) string { return numbered("<n xmlns='u:%d'/>", 1, n) }},
	}
	if testenv.Full() {
		fills = append(fills,
			fill{"nodes", func(nodes, _, _ int) int { return nodes }, func(n int) string { return strings.Repeat("<a/>", n) }},
			fill{"attributes", func(_, attributes, _ int) int { return attributes }, func(n int) string { return strings.Repeat("<e a='' b='' c='' d=''/>", n/4) }})
	}
	for _, tc := range fills {
		for _, content := range []string{"", numbered("<e Id='a%d'/>", 1, 50_000), numbered("<n%d/>", 1, 60_000)} {
			n := tc.count(parse(t, "<a>"+content+"</a>").RemainingLimits())
			for more, want := range map[int]error{0: nil, 4: xmldoc.ErrLimit} {
				if _, err := xmldoc.Parse([]byte("<a>" + content + tc.content(n+more) + "</a>")); !errors.Is(err, want) {
					t.Errorf("%d %s after %.40q: got %v, want %v", n+more, tc.name, content, err, want)
				}
			}
		}
	}
}

// TestCanonicalLimits checks the limits of a canonical form: its length, which grows where a long
// namespace is declared for each of many elements, and the length of the xml:base values to join.
func TestCanonicalLimits(t *testing.T) {
	repeated := parse(t, "<a xmlns:p='urn:"+strings.Repeat("a", 1<<20)+"'>"+strings.Repeat("<p:b/>", 500_000)+"</a>")
	bases := parse(t, strings.Repeat("<a xml:base='"+strings.Repeat("b/", 100)+"'>", 50)+strings.Repeat("</a>", 50))
	for _, tc := range []struct {
		name     string
		document *xmldoc.Document
		form     validators.CanonicalForm
		want     error
	}{
		{"namespace declared 500,000 times", repeated, form("exclusive", 0), xmldoc.ErrLimit},
		{"namespace declared once", repeated, form("1.0", 0), nil},
		{"50 values of xml:base", bases, form("1.1", 50), xmldoc.ErrLimit},
		{"20 values of xml:base", bases, form("1.1", 20), nil},
	} {
		if _, err := canonical(tc.document, tc.form); !errors.Is(err, tc.want) {
			t.Errorf("%s: got %v, want %v", tc.name, err, tc.want)
		}
	}
}

// TestMemory checks that Parse allocates less than twice the source for a typical document.
func TestMemory(t *testing.T) {
	source := []byte(invoices(10 << 20))
	used := testenv.Allocated(func() {
		if _, err := xmldoc.Parse(source); err != nil {
			t.Error(err)
		}
	})
	if times := float64(used) / float64(len(source)); times > 2 {
		t.Errorf("allocated %.1f times the source, want at most 2", times)
	}
}

const (
	maxAllocated = 7        // times the length of a document may be allocated to parse it,
	maxForNames  = 32 << 20 // and this for its names, whatever its length
)

// TestBombs parses hostile documents, looks up all that has an index, and canonicalizes them. It
// bounds the memory; [BenchmarkBombs] bounds the time.
func TestBombs(t *testing.T) {
	const size = 1 << 20
	eachBomb(size, func(name string, length, allowance int, do func() error) {
		var err error
		used := testenv.Allocated(func() { err = do() })
		if used > uint64(maxAllocated*length+allowance) {
			t.Errorf("%s: allocated %d KB for %d KB (%v)", name, used>>10, length>>10, err)
		}
		if strings.HasPrefix(name, "canonical/") && err != nil && !errors.Is(err, xmldoc.ErrLimit) {
			t.Errorf("%s: %v", name, err)
		}
	})
}

// BenchmarkBombs does the same with documents of 30 MB. Nothing takes more than two seconds or 200 MB.
func BenchmarkBombs(b *testing.B) {
	eachBomb(30<<20, func(name string, _, _ int, do func() error) {
		b.Run(name, func(b *testing.B) {
			testenv.Bounded(b, 2*time.Second, 200<<20, func() { _ = do() })
		})
	})
}

// eachBomb calls do with a function that parses a bomb, and with one that canonicalizes it, for each
// method and for the whole document and its innermost element. The memory may be proportional to
// length, with an allowance.
func eachBomb(size int, do func(name string, length, allowance int, operation func() error)) {
	all := bombs(size)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		source := []byte(all[name])
		do("read/"+name, len(source), maxForNames, func() error { return parseAndLookUp(source) })
		d, err := xmldoc.Parse(source)
		if err != nil {
			continue
		}
		elements := elementsOf(d)
		for method := range methods {
			for part, apex := range map[string]xmldoc.Node{"all": {}, "innermost": elements[len(elements)-1]} {
				c := xmldoc.Canonicalization{Method: methods[method], Comments: true}
				do(fmt.Sprintf("canonical/%s, %s of %s", name, part, method), size, 0, func() error {
					return d.Canonicalize(io.Discard, c, xmldoc.Subset{Apex: apex})
				})
			}
		}
	}
}

func parseAndLookUp(source []byte) error {
	d, err := xmldoc.Parse(source)
	if err != nil {
		return err
	}
	d.DuplicateID()
	d.ByID("a")
	d.Root().Text()
	d.Root().Attr("", "a")
	d.Root().Namespace("x")
	return nil
}

// bombs are documents of about a size in bytes, made to take much time or memory to parse, to look
// things up in, or to canonicalize.
func bombs(size int) map[string]string {
	inside := func(start, content string) string {
		return start + strings.Repeat(content, size/len(content)) + "</r>"
	}
	var unordered, used strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&unordered, " a%d=''", i*7919%9000)
	}
	for i := range 100 {
		fmt.Fprintf(&used, " p%d:a=''", i*37%100)
	}
	bound := numbered(" xmlns:p%[1]d='u:%[1]d'", 0, 99)
	return map[string]string{
		"nested elements":                   nested(size / 7),
		"attributes of one element":         "<a" + attributes(1, size/30) + "/>",
		"attributes of all elements":        inside("<r>", "<e"+attributes(1, 10_000)+"/>"),
		"different names":                   manyNames(size / 300_000),
		"one identifier":                    inside("<r>", "<e Id='a'/>"),
		"different identifiers":             "<r>" + numbered("<e Id='a%d'/>", 0, size/30) + "</r>",
		"several identifiers of an element": inside("<r>", "<e Id='a' ID='a' id='a' xml:id='a'/>"),
		"elements":                          inside("<r>", "<e/>"),
		"prefix declared twice":             inside("<r>", "<e xmlns:a='u:a'/><e xmlns:a='u:b'/>"),
		"prefix declared in turns":          inside("<r xmlns:a='u:a'>", "<a:e xmlns:a='u:b'><a:e xmlns:a='u:a'/></a:e>"),
		"brackets":                          inside("<r>", "]]]"),
		"quotes":                            inside("<r>", "'"),
		"beginnings of tags":                strings.Repeat("<", size),
		"references in text":                inside("<r>", "&#9;&#13;"),
		"references in values":              inside("<r>", "<e a='&#9;&#10;&#13;'/>"),
		"hyphens in a comment":              "<r><!--" + strings.Repeat("- ", size/2) + "--></r>",
		"CDATA sections":                    inside("<r>", "<![CDATA[\r]]>"),
		"line ends in a CDATA section":      "<r><![CDATA[" + strings.Repeat("\r", size) + "]]></r>",
		"line ends in a value":              "<r a='" + strings.Repeat("\r", size) + "'/>",
		"line ends in text":                 inside("<r>", "\r\n\r"),
		"white space in values":             inside("<r>", "<e a='\t\t\t\t\t\t\t\t'/>"),
		"processing instructions":           inside("<r>", "<?p \r\r?>"),
		"long name":                         "<" + strings.Repeat("a", size/2) + "></" + strings.Repeat("a", size/2) + ">",
		"long namespace of many elements":   inside("<r xmlns:p='u:"+strings.Repeat("n", 1000)+"'>", "<p:e/>"),
		"entities":                          "<!DOCTYPE a [<!ENTITY b 'bb'><!ENTITY c '&b;&b;&b;'>]><a>&c;</a>",
		"unordered attributes":              inside("<r>", "<e"+unordered.String()+"/>"),
		"attributes of 100 namespaces":      inside("<r"+bound+">", "<e"+used.String()+"/>"),
		"unused declarations":               inside("<r>", "<e"+bound+"/>"),
		"5,000 declarations of the root":    inside("<r"+numbered(" xmlns:p%[1]d='u:%[1]d'", 0, 4999)+">", "<e/>"),
		"xml:base of 250 nested elements":   strings.Repeat("<e xml:base='"+strings.Repeat("a/", size/500/2)+"'>", 250) + "<e/>" + strings.Repeat("</e>", 250),
	}
}

// nested is a document of nested elements.
func nested(depth int) string { return strings.Repeat("<a>", depth) + strings.Repeat("</a>", depth) }

// numbered repeats a format with the numbers from first to last.
func numbered(format string, first, last int) string {
	var b strings.Builder
	for i := first; i <= last; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func attributes(first, last int) string { return numbered(" a%d=''", first, last) }

// manyNames is an element with children that have 10,000 attributes each, all of different names.
func manyNames(elements int) string {
	var b strings.Builder
	for i := range elements {
		b.WriteString("<e" + attributes(i*10_000, i*10_000+9_999) + "/>")
	}
	return "<r>" + b.String() + "</r>"
}
