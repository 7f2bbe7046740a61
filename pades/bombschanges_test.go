package pades_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"regexp"
	"strings"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

var anySection = regexp.MustCompile(`startxref\s+(\d+)`)

// appendedSection is a document with what a cross-reference stream makes of it: of width [1 4 2], with entries for the
// objects that it lists.
func appendedSection(b []byte, index, entries string) []byte {
	all := anySection.FindAllSubmatch(b, -1)
	at := len(b)
	b = fmt.Appendf(bytes.Clone(b), "990 0 obj\n%s\nendobj\n", stream(fmt.Sprintf(
		"/Type /XRef /Size 1000 /Root 1 0 R /Prev %s /W [1 4 2] /Index [%s]", all[len(all)-1][1], index), entries))
	return fmt.Appendf(b, "startxref\n%d\n%%%%EOF\n", at)
}

func xrefEntry(kind byte, where uint32, index uint16) string {
	return string([]byte{kind, byte(where >> 24), byte(where >> 16), byte(where >> 8), byte(where), byte(index >> 8), byte(index)})
}

// packed is a document with objects in object streams, which follow one another from the number 100 on, signed as it
// seems, and then the second of each pair for the first.
func packed(catalog, page string, signed, later string) []byte {
	messages := fmt.Sprintf("<<%s/Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/Contents<00>>>", rangeToCome)
	b := pdftest.Build(pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R] >> " + catalog, Page: page,
		Objects: []string{"<</FT/Sig/T(a)/V 101 0 R>>", messages, packedIn(signed)},
	})
	b = withRanges(appendedSection(b, "400 1", xrefEntry(2, 102, 0)))
	at := len(b)
	b = fmt.Appendf(b, "402 0 obj\n%s\nendobj\n", packedIn(later))
	return appendedSection(b, "400 1 402 1", xrefEntry(2, 402, 0)+xrefEntry(1, uint32(at), 0))
}

// packedIn is an object stream with the object 400 in it.
func packedIn(object string) string { return deflated("/Type /ObjStm /N 1 /First 6", "400 0 "+object) }

func deflated(entries, payload string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(payload))
	_ = w.Close()
	return stream(entries+" /Filter /FlateDecode", b.String())
}

// pointedBack is a document with further revisions, in which an object is now here and now there.
func pointedBack(b []byte, number int, places []int, revisions int) []byte {
	for i := range revisions {
		b = appendedSection(b, fmt.Sprintf("%d 1", number), xrefEntry(1, uint32(places[i%len(places)]), 0))
	}
	return b
}

// saysMuch is a document whose metadata says much, and is other metadata in each revision.
func saysMuch(different, revisions int) []byte {
	const elements = 200_000
	objects := []string{
		"<</FT/Sig/T(a)/V 101 0 R>>",
		fmt.Sprintf("<<%s/Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/Contents<00>>>", rangeToCome),
	}
	for i := range different {
		objects = append(objects, deflated(fmt.Sprintf("/Type /Metadata /X %d", i), "<a>"+strings.Repeat("<b/>", elements)+"</a>"))
	}
	b := withRanges(pdftest.Build(pdftest.Options{Catalog: "/AcroForm << /Fields [100 0 R] >> /Metadata 102 0 R", Objects: objects}))
	var places []int
	for i := range different {
		at := bytes.Index(b, fmt.Appendf(nil, "\n%d 0 obj", 102+i)) + 1
		copy(b[at:], "102")
		places = append(places, at)
	}
	return pointedBack(withRanges(b), 102, places, revisions)
}

// bombsOfChanges are documents in which it takes long to find out what changed.
func bombsOfChanges(part int) []bomb {
	many := func(references int) string {
		var b strings.Builder
		for i := range references {
			fmt.Fprintf(&b, "%d 0 R ", 100_000+i)
		}
		return b.String()
	}
	references := many(100_000 / part)
	square := "<</Subtype/Square>>"
	return []bomb{
		{"100,000 annotations and one", packed("", "/Annots 400 0 R", "["+references+"]", "[1 0 R "+references+"]")},
		{"100,000 annotations and none", packed("", "/Annots 400 0 R", "["+references+"]", "["+strings.Repeat(square, 40_000/part)+"]")},
		{"40,000 annotations of no object, and one", packed("", "/Annots 400 0 R", "["+strings.Repeat(square, 40_000/part)+"]", "[<<>>"+strings.Repeat(square, 40_000/part)+"]")},
		{"250,000 references in four places", packed("/X 400 0 R /StructTreeRoot 400 0 R /Extensions 400 0 R /Perms 400 0 R", "", "["+many(250_000/part)+"]", "[]")},
		{"two streams of metadata in 40 revisions", saysMuch(2, 40/part)},
		{"20 streams of metadata in 40 revisions", saysMuch(20, 40/part)},
	}
}
