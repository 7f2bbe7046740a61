package pades_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
)

// wrapped move what is signed to where nobody looks.
var wrapped = []attack{
	{wrapping, "the second range moved, with a second ByteRange in the gap", movedRange, failed(ades.FormatFailure)},
	{wrapping, "the dictionary written again, with another reason", rewrittenDictionary(true), failed(ades.FormatFailure)},
	{wrapping, "the dictionary written again as another object", rewrittenDictionary(false), failed(ades.FormatFailure)},
	{wrapping, "one signature in two fields", grown(func(r *revision) {
		field, err := r.file.Dict(pdf.Ref{Num: r.lastField()})
		if err != nil {
			r.Fatal(err)
		}
		r.addField(r.add(fmt.Sprintf("<< /FT /Sig /T (Another) /V %v >>", field["V"])))
	}), failed(ades.FormatFailure)},
	{wrapping, "a field with kids that have each a value", grown(func(r *revision) {
		field, err := r.file.Dict(pdf.Ref{Num: r.lastField()})
		if err != nil {
			r.Fatal(err)
		}
		kid := r.add(fmt.Sprintf("<< /Parent %d 0 R /V << /Type /Sig /Contents <00> /ByteRange [0 1 2 3] >> /Subtype /Widget /Rect [0 0 0 0] >>", r.lastField()))
		other := r.add(fmt.Sprintf("<< /Parent %d 0 R /V %v /Subtype /Widget /Rect [0 0 0 0] >>", r.lastField(), field["V"]))
		r.set(r.lastField(), "Kids", fmt.Sprintf("[%v %v]", kid, other))
	}), listedAsForbidden},
	{structural, "two signatures with one gap", func(s *scene) []byte {
		b := s.twice()
		all := regexp.MustCompile(`/ByteRange \[0 \d+ \d+ \d+\] *`).FindAllIndex(b, -1)
		first, second := all[0], all[1]
		copy(b[second[0]:second[1]], fmt.Appendf(nil, "%-*s", second[1]-second[0], bytes.TrimSpace(b[first[0]:first[1]])))
		return b
	}, oneOfTwo},
	{structural, "ranges of two signatures that overlap", func(s *scene) []byte {
		b := s.twice()
		all := regexp.MustCompile(`/ByteRange \[0 (\d+) (\d+) (\d+)\] *`).FindAllSubmatchIndex(b, -1)
		number := func(m []int, i int) int { n, _ := strconv.Atoi(string(b[m[2*i]:m[2*i+1]])); return n }
		gap, end := number(all[0], 1), number(all[1], 2)+number(all[1], 3)
		overlapping := fmt.Sprintf("/ByteRange [0 %d %d %d]", gap, number(all[1], 2), end-number(all[1], 2))
		copy(b[all[1][0]:all[1][1]], fmt.Sprintf("%-*s", all[1][1]-all[1][0], overlapping))
		return b
	}, oneOfTwo},
}

// oneOfTwo: of two signatures, one is none.
func oneOfTwo(report *ades.Report) bool {
	return len(report.Signatures) == 2 && report.Signatures[0].Passed() != report.Signatures[1].Passed()
}

// movedRange keeps both ranges and puts something else between them, with a cross-reference where startxref in the
// second has it (Mladenov et al. 4.3).
func movedRange(s *scene) []byte {
	b := s.signed()
	gap, gapEnd, end := gapOf(s.T, b)
	table, err := strconv.Atoi(string(regexp.MustCompile(`startxref\s+(\d+)\s+%%EOF\s*$`).FindSubmatch(b)[1]))
	if err != nil {
		s.Fatal(err)
	}
	newGapEnd := table + 4000
	between := bytes.Clone(bytes.TrimRight(b[gap:gapEnd-1], "0"))
	if len(between)%2 == 0 {
		between = append(between, '0')
	}
	between = fmt.Appendf(between, "> /ByteRange [0 %d %d %d] >>\nendobj\n", gap, newGapEnd, end-gapEnd)
	evil := int64(gap + len(between))
	between = fmt.Appendf(between, "%d 0 obj\n%s\nendobj\n", content, stream("", drawing))
	between = s.padded(between, table-gap)
	between = append(between, movedTable(newRevision(s.T, b).file, func(number uint32, at int64) int64 {
		switch {
		case number == content:
			return evil
		case at >= int64(gapEnd):
			return at + int64(newGapEnd-gapEnd)
		}
		return at
	})...)
	between = fmt.Appendf(between, "startxref\n%d\n%%%%EOF\n", table)
	return slices.Concat(b[:gap], s.padded(between, newGapEnd-gap), b[gapEnd:])
}

// padded is with spaces up to a length.
func (s *scene) padded(b []byte, length int) []byte {
	s.Helper()
	if len(b) > length {
		s.Fatalf("no room for %d bytes in %d", len(b), length)
	}
	return append(b, bytes.Repeat([]byte(" "), length-len(b))...)
}

// movedTable is a cross-reference table of all objects, with the trailer.
func movedTable(file *pdf.File, moved func(number uint32, at int64) int64) []byte {
	size, _ := file.Trailer()["Size"].(pdf.Integer)
	table := fmt.Appendf(nil, "xref\n0 %d\n", size)
	for number := range uint32(size) {
		start, _, ok, err := file.Span(file.Reference(number))
		if err != nil || !ok {
			table = append(table, "0000000000 65535 f \n"...)
			continue
		}
		table = fmt.Appendf(table, "%010d 00000 n \n", moved(number, start))
	}
	return fmt.Appendf(table, "trailer\n<< /Size %d /Root %d 0 R >>\n", size, catalog)
}

// rewrittenDictionary writes the signature dictionary once more, as the same object or another, where it is not
// covered.
func rewrittenDictionary(same bool) func(*scene) []byte {
	return func(s *scene) []byte {
		b := s.signed()
		number, body := signatureObject(s.T, b)
		other := string(bytes.Replace([]byte(body), []byte("Read and agreed"), []byte("I owe a million"), 1))
		r := newRevision(s.T, b)
		if same {
			r.replace(uint32(number), other)
		} else {
			r.set(r.lastField(), "V", r.add(other).String())
		}
		return r.written()
	}
}

// restructured are written so that readers differ in what they read.
var restructured = []attack{
	{structural, "another catalog", grown(func(r *revision) {
		source, err := r.file.Source(pdf.Ref{Num: catalog})
		if err != nil {
			r.Fatal(err)
		}
		r.rewrite(`/Root 1 0 R`, "/Root "+r.add(string(source)).String())
	}), changed(ades.ChangeCatalog)},
	{structural, "other pages of the catalog", grown(func(r *revision) { r.set(catalog, "Pages", "109 0 R") }), changed(ades.ChangePages)},
	{structural, "another document information dictionary", grown(func(r *revision) {
		r.rewrite(`/Info 100 0 R`, "/Info "+r.add("<< /Title (Another) >>").String())
	}), listed(ades.ChangeMetadata)},
	{structural, "an object of another generation", grown(func(r *revision) {
		r.replace(content, stream("", drawing))
		r.rewrite(`3 0 obj`, "3 1 obj")
		r.rewrite(`\n3 1\n(\d{10}) 00000 n`, "\n3 1\n$1 00001 n")
	}), changed(ades.ChangeContent)},
	{structural, "an object that is free and in use", grown(func(r *revision) {
		r.replace(content, stream("", drawing))
		r.rewrite(`\n(3 1)\n(\d{10}) 00000 n \n`, "\n$1\n0000000000 00001 f \n$1\n$2 00000 n \n")
	}), changed(ades.ChangeContent)},
	{structural, "a table with a stream beside it that shows another page", grown(func(r *revision) {
		at := bytes.Index(r.base, []byte("\n3 0 obj\n"+stream("", drawing))) + 1 // hidden in what was signed
		r.addStream("/Type /XRef /Size 4 /W [1 2 1] /Index [3 1]", string([]byte{1, byte(at >> 8), byte(at), 0}))
		r.rewrite(`trailer\n<<`, fmt.Sprintf("trailer\n<< /XRefStm %d", len(r.base)))
	}), listedAsForbidden},
	{structural, "encryption", grown(func(r *revision) {
		r.add(square)
		r.rewrite(`trailer\n<<`, "trailer\n<< /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O ("+
			"01234567890123456789012345678901) /U (01234567890123456789012345678901) >> /ID [(0123456789012345) (0123456789012345)]")
	}), unreadable},
	{structural, "linearized for another first page", func(s *scene) []byte {
		b := grown(func(r *revision) {
			r.add("<< /Linearized 1 /L 100 /H [0 1] /O 110 /E 100 /N 1 /T 100 >>")
			r.set(2, "Kids", "[110 0 R 10 0 R 11 0 R]")
		})(s)
		return b
	}, changed(ades.ChangePages)},
	{structural, "Prev that leaves the signed revision out", func(s *scene) []byte {
		r := newRevision(s.T, s.signed())
		r.replace(content, stream("", drawing))
		first := regexp.MustCompile(`startxref\n(\d+)`).FindSubmatch(r.base)
		r.rewrite(`/Prev \d+`, "/Prev "+string(first[1]))
		return r.written()
	}, unsigned},
	{structural, "the field removed from the form", grown(func(r *revision) { r.setForm("Fields", "[103 0 R]") }), unsigned},
	{structural, "a content stream of a length that goes on behind the document", grown(func(r *revision) {
		r.replace(content, "<< /Length 1000000 >>\nstream\n"+drawing+"\nendstream")
	}), changed(ades.ChangeContent)},
}
