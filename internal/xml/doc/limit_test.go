package doc_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// nested is a document of that depth.
func nested(depth int) string { return strings.Repeat("<a>", depth) + strings.Repeat("</a>", depth) }

// attributes are numbered, from the first up to the last.
func attributes(first, last int) string {
	var b strings.Builder
	for i := first; i <= last; i++ {
		fmt.Fprintf(&b, " a%d=''", i)
	}
	return b.String()
}

// many is elements with ten thousand attributes each, of different names.
func many(elements int) string {
	var b strings.Builder
	b.WriteString("<r>")
	for i := range elements {
		b.WriteString("<e" + attributes(i*10_000, i*10_000+9_999) + "/>")
	}
	return b.String() + "</r>"
}

// attributed is so many attributes, at most ten thousand of an element.
func attributed(all int) string {
	element := "<e" + attributes(1, 10_000) + "/>"
	return "<r>" + strings.Repeat(element, all/10_000) + "<e" + attributes(1, all%10_000) + "/></r>"
}

func TestLimits(t *testing.T) {
	type limit struct {
		name, source string
		want         error
	}
	limits := []limit{
		{"the greatest depth", nested(257), nil},
		{"an empty element one deeper", strings.Repeat("<a>", 257) + "<a/>" + strings.Repeat("</a>", 257), xmldoc.ErrLimit},
		{"one deeper", nested(258), xmldoc.ErrLimit},
		{"as many attributes as an element can have", "<a" + attributes(1, 10_000) + "/>", nil},
		{"one more", "<a" + attributes(0, 10_000) + "/>", xmldoc.ErrLimit},
		{"as many names as a document can have", "<a>" + many(6) + "<e" + attributes(100_000, 105_532) + "/></a>", nil},
		{"one name more", "<a>" + many(6) + "<e" + attributes(100_000, 105_533) + "/></a>", xmldoc.ErrLimit},
	}
	if testenv.Full() {
		elements := strings.Repeat("<e/>", 1<<22-1)
		limits = append(limits,
			limit{"as many nodes as a document can have", "<r>" + elements + "</r>", nil},
			limit{"one node more", "<r>" + elements + "x</r>", xmldoc.ErrLimit},
			limit{"as many attributes as a document can have", attributed(1 << 22), nil},
			limit{"one attribute more", attributed(1<<22 + 1), xmldoc.ErrLimit})
	}
	for _, tc := range limits {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := xmldoc.Parse([]byte(tc.source)); !errors.Is(err, tc.want) || tc.want == nil && err != nil {
				t.Errorf("%v, want %v", err, tc.want)
			}
		})
	}
}

// TestDepthIsThatOfLibXML2 holds the limit to the reason that it has.
func TestDepthIsThatOfLibXML2(t *testing.T) {
	folder := t.TempDir()
	files := []string{filepath.Join(folder, "a.xml"), filepath.Join(folder, "b.xml")}
	for i, file := range files {
		if err := os.WriteFile(file, []byte(nested(257+i)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	refused := xmllintRefuses(t, files)
	if refused[files[0]] != "" || refused[files[1]] == "" {
		t.Errorf("xmllint says %q at 257 and %q at 258", refused[files[0]], refused[files[1]])
	}
}

// bombs are made to take long, or much. The size is that of most of them, in bytes.
func bombs(size int) map[string]string {
	inside := func(content string, times int) string { return "<r>" + strings.Repeat(content, times) + "</r>" }
	return map[string]string{
		"elements in each other":            nested(size / 7),
		"attributes of one element":         "<a" + attributes(1, size/30) + "/>",
		"attributes of all elements":        inside("<e"+attributes(1, 10_000)+"/>", size/300_000),
		"different names":                   many(size / 300_000),
		"one identifier":                    inside("<e Id='a'/>", size/30),
		"different identifiers":             identified(size / 30),
		"several identifiers of an element": inside("<e Id='a' ID='a' id='a' xml:id='a'/>", size/36),
		"elements alone":                    inside("<e/>", size/4),
		"a prefix bound anew":               inside("<e xmlns:a='u:a'/><e xmlns:a='u:b'/>", size/36),
		"what may end a CDATA section":      inside("]]]", size/3),
		"quotes":                            inside("'", size),
		"what may open a tag":               strings.Repeat("<", size),
		"references":                        inside("&#9;", size/4),
		"what may end a comment":            "<r><!--" + strings.Repeat("- ", size/2) + "--></r>",
		"CDATA sections":                    inside("<![CDATA[\r]]>", size/13),
		"line ends in a CDATA section":      "<r><![CDATA[" + strings.Repeat("\r", size) + "]]></r>",
		"line ends in a value":              "<r a='" + strings.Repeat("\r", size) + "'/>",
		"a long name":                       "<" + strings.Repeat("a", size/2) + "></" + strings.Repeat("a", size/2) + ">",
		"an entity that grows":              "<!DOCTYPE a [<!ENTITY b 'bb'><!ENTITY c '&b;&b;&b;'>]><a>&c;</a>",
		"an entity that is somebody else's": "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/hostname'>]><a>&b;</a>",
	}
}

// TestBombs: what is not refused has to answer questions that look everything up. BenchmarkBombs says how long that
// may take.
func TestBombs(t *testing.T) {
	for name, source := range bombs(1 << 20) {
		t.Run(name, func(t *testing.T) {
			var err error
			content := []byte(source)
			used := testenv.Allocated(func() { err = examine(content) })
			if used > mostAllocated*uint64(len(content))+mostForNames {
				t.Errorf("%v with %d KB for %d KB", err, used>>10, len(source)>>10)
			}
		})
	}
}

const (
	mostAllocated = 7        // times the length of a document may be allocated to read it,
	mostForNames  = 32 << 20 // and this for its names, whatever its length
)

// examine reads a document and looks everything up.
func examine(source []byte) error {
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

// BenchmarkBombs reads bombs of 30 MB, and makes each canonical form of each and of its innermost element. Nothing
// takes more than two seconds or 200 MB.
func BenchmarkBombs(b *testing.B) {
	const size, most, room = 30 << 20, 2 * time.Second, 200 << 20
	for name, source := range bombs(size) {
		content := []byte(source)
		b.Run("read/"+name, func(b *testing.B) {
			testenv.Bounded(b, most, room, func() { _ = examine(content) })
		})
	}
	eachCanonicalBomb(b, size, func(name string, form func() error) {
		b.Run("canonical/"+name, func(b *testing.B) {
			testenv.Bounded(b, most, room, func() { _ = form() })
		})
	})
}

func identified(elements int) string {
	var b strings.Builder
	b.WriteString("<r>")
	for i := range elements {
		fmt.Fprintf(&b, "<e Id='a%d'/>", i)
	}
	return b.String() + "</r>"
}

// TestMemory holds the tree of an ordinary document to less than twice the source, all that Parse
// allocates for it included.
func TestMemory(t *testing.T) {
	source := invoices(10 << 20)
	used := testenv.Allocated(func() {
		if _, err := xmldoc.Parse(source); err != nil {
			t.Fatal(err)
		}
	})
	if times := float64(used) / float64(len(source)); times > 2 {
		t.Errorf("%.1f times the source", times)
	}
}
