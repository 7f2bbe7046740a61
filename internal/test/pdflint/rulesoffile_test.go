package pdflint_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/innsigli/innsigli/internal/test/pdflint"
)

const catalog, page, acroForm = `/Lang \(en\) {61}`, `/Rotate 90 {61}`, `/NeedAppearances false {61}`

// rulesOfFile are about how an increment is written.
var rulesOfFile = []row{
	{pdflint.Prefix, "does not begin", objects, func(i *increment) { i.whole[20] ^= 1 }},
	{pdflint.LineEnd, "between the file", noEnd, func(i *increment) { i.whole[len(i.base)] = ' ' }},
	{pdflint.Readable, "the file as it was", objects, func(i *increment) { i.both("startxref\n6", "startxref\n9") }},
	{pdflint.Readable, "pdf: opening", objects, func(i *increment) { i.swap(`/Size \d+`, "/Size 0") }},
	{pdflint.Startxref, "leads to no section", objects, func(i *increment) {
		i.replace(`startxref\n\d+`, fmt.Sprintf("startxref\n%d", i.number(`startxref\n(\d+)`)+1))
	}},
	{pdflint.Startxref, "does not end with", objects, func(i *increment) { i.replace(`%%EOF\n$`, "") }},
	{pdflint.Startxref, "no dictionary", objects, func(i *increment) { i.swap(`trailer\n<<`, "trailer\n[[") }},
	{pdflint.Startxref, "no cross-reference stream", stream, func(i *increment) { i.swap(`endobj\nstartxref`, "endobx\nstartxref") }},
	{pdflint.SectionKind, "is a stream: false", objects, func(i *increment) { i.base, i.whole = behindStream(i.base, i.whole) }},
	{pdflint.EntrySize, "entry of object", objects, func(i *increment) { i.replace(`n \ntrailer`, "n\ntrailer") }},
	{pdflint.EntrySize, "between entries and trailer", objects, func(i *increment) { i.replace(`trailer\n`, "more\ntrailer\n") }},
	{pdflint.EntrySize, "W [2", stream, func(i *increment) { i.swap(`/W \[1`, "/W [2") }},
	{pdflint.EntrySize, "ends before object 906", stream, func(i *increment) { i.swap(`902 4\]`, "902 5]") }},
	{pdflint.EntrySize, "behind the last entry", stream, func(i *increment) { i.swap(`902 4\]`, "902 3]") }},
	{pdflint.Offset, "entry of 100 0 R leads to", objects, func(i *increment) {
		i.swap(`\n100 1\n\d{10}`, fmt.Sprintf("\n100 1\n%010d", i.number(`\n100 1\n0*(\d+)`)+1))
	}},
	{pdflint.Offset, "was not written", objects, func(i *increment) {
		i.swap(`\n102 4\n(?s).{20}`, fmt.Sprintf("\n102 4\n%010d 00000 n \n", bytes.Index(i.base, []byte("102 0 obj"))))
	}},
	{pdflint.Offset, "does not lead to it", objects, func(i *increment) { i.swap(`\n102 4\n\d{10}`, "\n102 4\n0000000005") }},
	{pdflint.Offset, "listed twice", objects, func(i *increment) { i.replace(`trailer\n`, "100 1\n0000000005 00000 n \ntrailer\n") }},
	{pdflint.Offset, "does not list itself", stream, func(i *increment) { i.row(true)[0] = 0 }},
	{pdflint.Unlisted, "is not one object", objects, func(i *increment) {
		i.swap(`\n102 4\n`, "\n102 3\n")
		i.replace(`\d{10} 00000 n \ntrailer`, "trailer")
	}},
	{pdflint.Unlisted, "no object of the increment", objects, func(i *increment) { i.replace(`(?s)xref\n100 1\n.*trailer\n`, "xref\n0 0\ntrailer\n") }},
	{pdflint.Unlisted, "before the first object", objects, func(i *increment) { i.replace(`(?s)100 1\n.{20}102 4`, "102 4") }},
	{pdflint.Unlisted, "behind 100 0 R stands", objects, func(i *increment) { i.swap(`endobj\n102 0 obj`, "endobx\n102 0 obj") }},
	{pdflint.Generation, "100 1 R was 100 0 R", objects, func(i *increment) {
		i.swap(`^100 0 obj`, "100 1 obj")
		i.swap(`\n100 1\n\d{10} 00000`, fmt.Sprintf("\n100 1\n%010d 00001", i.number(`\n100 1\n0*(\d+)`)))
	}},
	{pdflint.Generation, "105 1 R is new", objects, func(i *increment) {
		i.swap(`\n105 0 obj`, "\n105 1 obj")
		i.swap(`/N 105 0 R`, "/N 105 1 R")
		i.swap(`00000 n \ntrailer`, "00001 n \ntrailer")
	}},
	{pdflint.Generation, "100 1 R was 100 0 R", stream, func(i *increment) {
		i.swap(`^100 0 obj`, "100 1 obj")
		row := i.row(false)
		row[len(row)-1] = 1
	}},
	{pdflint.ObjectFlow, "of object stream", stream, func(i *increment) { i.row(false)[0] = 2 }},
	{pdflint.ObjectFlow, "with type 3", stream, func(i *increment) { i.row(false)[0] = 3 }},
	{pdflint.ObjectFlow, "is an object stream", objects, func(i *increment) { i.swap(`/Type /XObject`, "/Type /ObjStm") }},
	{pdflint.Prev, "instead of", objects, func(i *increment) { i.swap(`/Prev \d+`, "/Prev 15") }},
	{pdflint.Prev, "leads to no section", objects, func(i *increment) { i.swap(`/Prev \d+`, "/Prev 15") }},
	{pdflint.Prev, "missing", objects, func(i *increment) { i.swap(`/Prev \d+`, "") }},
	{pdflint.Everything, "is gone", objects, func(i *increment) { i.swap(`/Prev \d+`, "") }},
	{pdflint.Size, "where the highest", objects, func(i *increment) { i.swap(`/Size \d+`, "/Size 999") }},
	{pdflint.Size, "and it was", objects, func(i *increment) { i.swap(`/Size \d+`, "/Size 50") }},
	{pdflint.Leftovers, "XRefStm", objects, func(i *increment) { i.swap(`/Info 101 0 R`, "/XRefStm 1") }},
	{pdflint.Leftovers, "W in the trailer", objects, func(i *increment) { i.swap(`/Info 101 0 R`, "/W [1 2 2]") }},
	{pdflint.Leftovers, "Filter in a stream", stream, func(i *increment) { i.swap(`/Info 101 0 R`, "/Filter []") }},
	{pdflint.Carried, "Info is <nil>", objects, func(i *increment) { i.swap(`/Info 101 0 R`, "") }},
	{pdflint.Carried, "Info is 100 0 R", stream, func(i *increment) { i.swap(`/Info 101 0 R`, "/Info 100 0 R") }},
	{pdflint.ID, "<nil>", objects, func(i *increment) { i.swap(`/ID \[.*\]`, "") }},
	{pdflint.ID, "first part has changed", objects, func(i *increment) { i.swap(`<00112233`, "<99112233") }},
	{pdflint.ID, "second part is not new", objects, func(i *increment) {
		i.swap(`eeff> <[0-9a-f]+>`, "eeff> <00112233445566778899aabbccddeeff>")
	}},
	{pdflint.ID, "that had none", noID, func(i *increment) { i.replace(`/Prev`, "/ID [(a) (b)] /Prev") }},
	{pdflint.ByteRange, "it ends at", objects, func(i *increment) {
		i.swap(`\d+\] *\S*/Contents`, fmt.Sprintf("%d]/Contents", i.number(`(\d+)\] */Contents`)-1))
	}},
	{pdflint.ByteRange, "not in the dictionary", objects, func(i *increment) { i.swap(`ByteRange \[0 \d{4}`, "ByteRange [0 0001") }},
	{pdflint.ByteRange, "and its delimiters", objects, func(i *increment) {
		i.swap(`ByteRange \[0 \d+`, fmt.Sprintf("ByteRange [0 %d", i.number(`ByteRange \[0 (\d+)`)-1))
	}},
	{pdflint.ByteRange, "not the value of Contents", objects, func(i *increment) { i.swap(`/Contents <`, "/Contentz <") }},
	{pdflint.ByteRange, "not one signature", objects, func(i *increment) { i.swap(`/ByteRange`, "/ByteRangs") }},
	{pdflint.Contents, "invalid byte", objects, func(i *increment) { i.swap(`/Contents <30`, "/Contents <zz") }},
	{pdflint.Contents, "no CMS", objects, func(i *increment) { i.swap(`/Contents <3082....`, "/Contents <30829999") }},
	{pdflint.Contents, "not all zero", objects, func(i *increment) { i.swap(`0> /M`, "1> /M") }},
	{pdflint.Comment, `" 7 0 obj"`, objects, func(i *increment) { i.swap(acroForm, "/NeedAppearances false % 7 0 obj\n") }},
	{pdflint.Comment, `\x00`, objects, func(i *increment) { i.swap(acroForm, "/NeedAppearances false % \x00\n") }},
	{pdflint.PayloadSize, "cross-reference stream", stream, func(i *increment) { i.swap(`/Length [1-9]\d*`, "/Length 7") }},
	{pdflint.PayloadSize, "105 0 R has 0 bytes", objects, func(i *increment) { i.swap(`/Length 0`, "/Length 1") }},
	{pdflint.Plaintext, "D:2026", aes, func(i *increment) { i.swap(`/M <[0-9A-Fa-f]{50,}>`, "/M (D:20261121145000+00'00')") }},
	{pdflint.Payload, "decrypted is", aes, func(i *increment) { i.payload(strings.Repeat(" ", 32)) }},
	{pdflint.Payload, "no vector and blocks", aes, func(i *increment) {
		i.payload(strings.Repeat(" ", 31) + "\n")
		i.swap(`/Length 32 >>\nstream\n {31}\n\nendstream`, "/Length 31  >>\nstream\n"+strings.Repeat(" ", 31)+"\nendstream")
	}},
	{pdflint.Payload, "pdf: object", aes, func(i *increment) { i.swap(`/Resources << >>`, "/Resources << <<") }},
	{pdflint.Payload, "q /Page Do Q", rc4File, func(i *increment) { i.payload("q /Page Do Q") }},
}

// payload puts another payload of the same length into the only stream of that length.
func (i *increment) payload(text string) {
	i.t.Helper()
	part := i.whole[len(i.base):]
	head := fmt.Appendf(nil, "/Length %d >>\nstream\n", len(text))
	if bytes.Count(part, head) != 1 {
		i.t.Fatalf("no stream of %d bytes in\n%q", len(text), part)
	}
	copy(part[bytes.Index(part, head)+len(head):], text)
	i.whole = slices.Concat(i.base, part)
}
