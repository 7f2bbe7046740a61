package pdf

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// brokenFiles returns files that viewers open although their cross-reference is broken.
func brokenFiles(t testing.TB) map[string][]byte {
	table, stream, hybrid := string(tableFile()), string(streamFile()), string(hybridFile())
	embedded := string(newBuilder(catalogText, pagesText, pageText,
		streamBody("/Type /EmbeddedFile", strings.ReplaceAll(table, "[0 0 595 842]", "[0 0 1 1]"))).table(""))
	replaced := func(content, old, new string) []byte {
		if !strings.Contains(content, old) {
			t.Fatalf("no %q in %q", old, content)
		}
		return []byte(strings.Replace(content, old, new, 1))
	}
	withoutStartxref := func(content string) string { return content[:strings.LastIndex(content, "startxref")] }
	return map[string][]byte{
		"wrong startxref":                     moveStartxref(table),
		"wrong startxref of a stream":         moveStartxref(stream),
		"wrong startxref of a hybrid file":    moveStartxref(hybrid),
		"wrong startxref, embedded file":      moveStartxref(embedded),
		"wrong startxref, Root is missing":    replaced(string(moveStartxref(table)), "/Root", "/Rood"),
		"wrong startxref, Length is wrong":    replaced(string(moveStartxref(stream)), "/Length ", "/Length 1"),
		"startxref 0":                         []byte(withoutStartxref(table) + "startxref\n0\n%%EOF\n"),
		"startxref is missing":                []byte(withoutStartxref(table)),
		"startxref of a stream is missing":    []byte(withoutStartxref(stream)),
		"cut off in the table":                []byte(table[:strings.LastIndex(table, "xref\n0")+12]),
		"count of a subsection is too high":   replaced(table, "xref\n0 4", "xref\n0 9"),
		"count of a subsection is too low":    replaced(table, "xref\n0 4", "xref\n0 2"),
		"subsection begins at 1 instead of 0": replaced(table, "xref\n0 4", "xref\n1 4"),
		"comment added before all objects":    replaced(table, "1 0 obj", "% a comment\n1 0 obj"),
	}
}

// moveStartxref changes the offset after the last startxref.
func moveStartxref(content string) []byte {
	at := strings.LastIndex(content, "startxref\n") + len("startxref\n")
	var offset int
	_, _ = fmt.Sscan(content[at:], &offset)
	return fmt.Appendf(nil, "%s%d\n%%%%EOF\n", content[:at], offset+7)
}

// TestRebuild checks that the objects of a broken file are found, and that an update of the rebuilt file has a section
// with all objects, so that Open and qpdf read the result.
func TestRebuild(t *testing.T) {
	for name, content := range brokenFiles(t) {
		t.Run(name, func(t *testing.T) {
			f, err := open(content)
			if err == nil {
				_, err = f.Page(1)
			}
			expect(t, "before it is rebuilt", ErrDamaged)(f, err)
			f = must(rebuild(content))
			expect(t, "page 1", &onePage)(f.Page(1))
			updated := must(resetCatalog(f, content))
			again := mustOpen(t, updated)
			if len(again.sections) != 1 || again.Trailer()["Prev"] != nil {
				t.Errorf("after an update: %d sections, trailer %v; want one section without Prev", len(again.sections), again.Trailer())
			}
			for num, e := range f.entries.all() {
				if got := again.entries.get(num); num != 1 && (got.kind != e.kind || got.offset != e.offset) {
					t.Errorf("after an update: entry of object %d is %+v, want %+v", num, got, e)
				}
			}
			expect(t, "page 1 after an update", &onePage)(again.Page(1))
			if !strings.Contains(name, "Length") { // the Length stays wrong
				checkWithQPDF(t, updated)
			}
		})
	}
}

// TestRebuildRefuses checks files that are not rebuilt: those that other readers may rebuild in another way, signed
// ones, and those that exceed a limit.
func TestRebuildRefuses(t *testing.T) {
	table := string(tableFile())
	inPage := func(entries string) string {
		return strings.Replace(table, "/Type /Page ", "/Type /Page "+entries+" ", 1)
	}
	for name, test := range map[string]textCase{
		"other format":                      {"PK\x03\x04 and more", ErrNotPDF},
		"no objects":                        {"%PDF-1.7\n", ErrDamaged},
		"no catalog":                        {"%PDF-1.7\n1 0 obj\n<< /Type /Page >>\nendobj\n", ErrDamaged},
		"signed":                            {inPage("/V << /ByteRange [0 1 2 3] >>"), ErrDamaged},
		"signed, name with a number sign":   {inPage("/V << /Byte#52ange [0 1 2 3] >>"), ErrDamaged},
		"signature in a stream":             {table + "9 0 obj\n" + streamBody("", "<< /ByteRange [0 1 2 3] >>") + "\nendobj\n", ErrDamaged},
		"Encrypt outside of all trailers":   {table + "% /Encrypt 9 0 R\n", ErrDamaged},
		"two generations of one number":     {table + "3 1 obj\n<< /Type /Page >>\nendobj\n", ErrDamaged},
		"unreadable object":                 {inPage("/X 1.2.3"), ErrDamaged},
		"unreadable update of an object":    {table + "3 0 obj\n<< /Type /Page /X bar >>\nendobj\n", ErrDamaged},
		"unreadable object number":          {table + "3 0%\nobj\n<< >>\nendobj\n", ErrDamaged},
		"unreadable object stream":          {table + "9 0 obj\n" + streamBody("/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode", "none") + "\nendobj\n", ErrDamaged},
		"unreadable trailer":                {strings.Replace(table, "/Size 4", "/Size 4 /Encrypt 9 0 R /X <zz>", 1), ErrDamaged},
		"object numbers far apart":          {strings.Replace(table, "1 0 obj", "8000000 0 obj\nnull\nendobj\n1 0 obj", 1), ErrLimit},
		"objects that begin in one another": {"%PDF-1.7\n" + strings.Repeat("1 0 obj (", 100_000), ErrLimit},
	} {
		expect(t, name, test.want)(rebuild([]byte(test.text)))
	}
}

// TestRebuildForReading checks that signed files and files with unreadable objects can be read. Their revisions are
// not known.
func TestRebuildForReading(t *testing.T) {
	table := string(tableFile())
	for name, content := range map[string]string{
		"signed":            strings.Replace(table, "/Type /Page ", "/ByteRange [0 1 2 3] /Type /Page ", 1),
		"unreadable object": strings.Replace(table, "xref\n0", "77 0 obj\n<< /X 1.2.3 >>\nendobj\nxref\n0", 1),
	} {
		f := must(RebuildForReading(strings.NewReader(content), int64(len(content))))
		if _, err := f.Page(1); err != nil {
			t.Errorf("%s: page 1: %v", name, err)
		}
		expect(t, name, []int64(nil))(f.Revisions())
	}
	expect(t, "other format", ErrNotPDF)(RebuildForReading(strings.NewReader("GIF89a"), 6))
}

// TestRebuildTakesTheLastObject checks that of several objects with one number, the last one in the file counts.
func TestRebuildTakesTheLastObject(t *testing.T) {
	b := newBuilder(catalogText, pagesText, pageText)
	b.object(10, "(first)")
	b.object(11, "(only)")
	b.objectStream(4, map[int]string{10: "(second)", 12: "(compressed)"})
	b.object(12, "(after the stream)")
	f := must(rebuild(b.Bytes()))
	for num, want := range map[uint32]string{10: "second", 11: "only", 12: "after the stream"} {
		expect(t, num, want)(f.Bytes(Ref{Num: num}))
	}
}

// FuzzRebuild rebuilds any bytes, and checks that an update lists the objects that were found.
func FuzzRebuild(f *testing.F) {
	for _, content := range brokenFiles(f) {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		file, err := rebuild(content)
		if checkError(t, err); err != nil {
			return
		}
		updated, err := resetCatalog(file, bytes.Clone(content))
		if err != nil {
			return // the source text of the catalog cannot be patched
		}
		again := mustOpen(t, updated)
		catalog, _, err := file.Catalog()
		if err != nil {
			t.Fatal(err)
		}
		for num, e := range file.entries.all() {
			if got := again.entries.get(num); got.kind != e.kind && num != catalog.Num {
				t.Errorf("entry of object %d is %+v, want %+v", num, got, e)
			}
		}
	})
}
