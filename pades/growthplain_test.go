package pades_test

import (
	"strings"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// hidden is what nobody may find behind a signature: the content of a page.
var hidden = "3 0 obj\n" + stream("", drawing) + "\nendobj\n"

// notPlain are documents with an object behind them that nothing leads to, as it would be
// proof, but written so that some readers rebuild the cross-reference, or would then find
// another document.
var notPlain = []otherGrowth{
	{"Prev with a fraction", pdftest.Options{}, rewritten(`/Prev (\d+)`, "/Prev ${1}.0")},
	{"Prev with a sign", pdftest.Options{}, rewritten(`/Prev (\d+)`, "/Prev +$1")},
	{"Prev with a fraction, of a stream", pdftest.Options{Kind: pdftest.Stream}, rewritten(`/Prev (\d+)`, "/Prev ${1}.0")},
	{"Prev twice", pdftest.Options{}, rewritten(`/Prev (\d+)`, "/Prev 1 /Prev $1")},
	{"Size of less", pdftest.Options{}, rewritten(`/Size \d+`, "/Size 2")},
	{"Size with a sign", pdftest.Options{}, rewritten(`/Size (\d+)`, "/Size +$1")},
	{"startxref with a comment", pdftest.Options{}, rewritten(`startxref\n`, "startxref %5\n")},
	{"startxref with zeros", pdftest.Options{}, rewritten(`startxref\n`, "startxref\n000")},
	{"startxref with white space", pdftest.Options{}, rewritten(`startxref\n`, "startxref\n ")},
	{"a comment behind xref", pdftest.Options{}, rewritten(`\nxref\n`, "\nxref %x\n")},
	{"white space before xref", pdftest.Options{}, rewritten(`\nxref\n`, "\n\nxref\n")},
	{"a comment behind trailer", pdftest.Options{}, rewritten(`\ntrailer\n`, "\ntrailer%x\n")},
	{"an entry of 19 bytes", pdftest.Options{}, rewritten(` 00000 n \n`, " 00000 n\n")},
	{"an entry of few digits", pdftest.Options{}, rewritten(`\n0*(\d+) 00000 n \n`, "\n$1 0 n\n")},
	{"an entry twice", pdftest.Options{}, rewritten(`\n(\d+ 1\n\d{10} 00000 n \n)`, "\n$1$1")},
	{"an entry that leads outside", pdftest.Options{}, rewritten(`\nxref\n`, "\nxref\n900 1\n9999999999 00000 n \n")},
	{"an entry that leads to another object", pdftest.Options{}, rewritten(`\n\d+ 1\n(\d{10} 00000 n \n)`, "\n900 1\n$1")},
	{"an entry that leads to white space", pdftest.Options{}, rewritten(`(\d+ 0 obj)\n<< /Type /Annot`, "\n$1<< /Type /Annot")},
	{"a stream behind a carriage return", pdftest.Options{Kind: pdftest.Stream}, rewritten(`>>\nstream\n`, ">>\nstream\r")},
	{"Index of an odd length", pdftest.Options{Kind: pdftest.Stream}, rewritten(`(/Index \[.*?)\]`, "$1 7]")},
	{"an object that is not listed", pdftest.Options{}, func(r *revision) {
		r.replace(content, stream("", drawing))
		r.rewrite(`\n3 1\n\d{10} 00000 n \n`, "\n0 0\n")
	}},
	{"an object in a stream", pdftest.Options{}, func(r *revision) { r.addStream("", hidden) }},
	{"an object in a comment", pdftest.Options{}, func(r *revision) { r.add("<< >> % 3 0 obj") }},
	{"an object with comments in its head", pdftest.Options{}, func(r *revision) {
		r.addStream("", strings.Replace(hidden, "3 0 obj", "3%%x\r\n0 %obj\n obj", 1))
	}},
	{"an object without white space in its head", pdftest.Options{}, func(r *revision) { r.addStream("", strings.Replace(hidden, "0 obj", "0obj", 1)) }},
	{"an object with other white space in its head", pdftest.Options{}, func(r *revision) { r.addStream("", strings.Replace(hidden, "3 0 ", "3\v0\xa0", 1)) }},
	{"an object stream that nothing leads to", pdftest.Options{}, func(r *revision) { r.addStream("/Type /ObjStm /N 1 /First 4", "3 0 null") }},
	{"a cross-reference stream that nothing leads to", pdftest.Options{}, func(r *revision) {
		r.addStream("/Type /XRef /Size 4 /W [1 2 1] /Root 1 0 R", strings.Repeat("\x00", 16))
	}},
	{"a stream of a type somewhere else", pdftest.Options{}, func(r *revision) { r.addStream("/Type 900 0 R", "") }},
	{"a key with two values", pdftest.Options{}, func(r *revision) { r.add("<< /A << /B 1 /B 2 >> >>") }},
	{"a key with two values, of a stream", pdftest.Options{}, func(r *revision) { r.addStream("/A 1 /A 2", "") }},
	{"a key with two values, in an object stream", pdftest.Options{Kind: pdftest.Stream}, func(r *revision) { r.add("<< /A 1 /A null >>") }},
	{"a trailer in a stream", pdftest.Options{}, func(r *revision) { r.addStream("", "trailer\n<< /Root 10 0 R >>\n") }},
	{"a table in a stream", pdftest.Options{}, func(r *revision) { r.addStream("", "xref\n0 0\n") }},
}

func rewritten(pattern, with string) func(*revision) {
	return func(r *revision) {
		r.add(square)
		r.rewrite(pattern, with)
	}
}
