package pdf

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// onePage is page 1 of tableFile, streamFile and hybridFile.
var onePage = Page{
	Ref:      Ref{Num: 3},
	Dict:     Dict{"Type": Name("Page"), "Parent": Ref{Num: 2}},
	MediaBox: Rect{URX: 595, URY: 842},
	CropBox:  Rect{URX: 595, URY: 842},
	UserUnit: 1,
}

// TestOpen checks files of each kind, and deviations from the standard that do not matter.
func TestOpen(t *testing.T) {
	for name, content := range map[string][]byte{
		"7.5.4 table":                            tableFile(),
		"7.5.8 cross-reference stream":           streamFile(),
		"7.5.8.4 hybrid-reference file":          hybridFile(),
		"many other bytes before the header":     append(bytes.Repeat([]byte("x"), headerWindow-len("%PDF-")), tableFile()...),
		"offsets from the first byte":            newBuilderAfter("junk\n", catalogText, pagesText, pageText).table(""),
		"other bytes at the end":                 append(tableFile(), bytes.Repeat([]byte("junk\n"), 10<<10)...),
		"carriage returns instead of line feeds": bytes.ReplaceAll(tableFile(), []byte{'\n'}, []byte{'\r'}),
		"no end of line at the end":              bytes.TrimSpace(tableFile()),
	} {
		expect(t, name, &onePage)(mustOpen(t, content).Page(1))
	}
}

// TestOpenRefuses checks the errors for other formats, damaged files and large numbers.
func TestOpenRefuses(t *testing.T) {
	table := string(tableFile())
	replaced := func(old, new string) string {
		if !strings.Contains(table, old) {
			t.Fatalf("no %q in %q", old, table)
		}
		return strings.Replace(table, old, new, 1)
	}
	for name, test := range map[string]textCase{
		"empty file":                      {"", ErrNotPDF},
		"other format":                    {"PK\x03\x04 and more", ErrNotPDF},
		"header too far from the start":   {strings.Repeat(" ", headerWindow) + table, ErrNotPDF},
		"only a header":                   {"%PDF-1.7\n", ErrDamaged},
		"second half is missing":          {table[:len(table)/2], ErrDamaged},
		"startxref without an offset":     {"%PDF-1.7\nstartxref\n%%EOF", ErrDamaged},
		"startxref 0":                     {"%PDF-1.7\nstartxref\n0\n%%EOF", ErrDamaged},
		"startxref after the end":         {"%PDF-1.7\nstartxref\n4000000000\n%%EOF", ErrDamaged},
		"startxref names no section":      {replaced("startxref\n", "startxref\n1"), ErrDamaged},
		"startxref too far from the end":  {table + strings.Repeat(" ", maxTrailingBytes), ErrDamaged},
		"Prev names the section itself":   {replaced("/Size 4", fmt.Sprintf("/Size 4 /Prev %d", strings.LastIndex(table, "xref\n0"))), ErrDamaged},
		"Prev is a string":                {replaced("/Size 4", "/Size 4 /Prev (1)"), ErrDamaged},
		"Prev is a fraction":              {replaced("/Size 4", "/Size 4 /Prev 116.5"), ErrDamaged},
		"Prev is above all offsets":       {replaced("/Size 4", "/Size 4 /Prev 1"+strings.Repeat("0", 300)), ErrDamaged},
		"Size is missing":                 {replaced("/Size 4", ""), ErrDamaged},
		"Size above all object numbers":   {replaced("/Size 4", "/Size 8388609"), ErrDamaged},
		"object number above the maximum": {replaced("xref\n0 4\n", "xref\n8388605 4\n"), ErrLimit},
		"subsection of too many entries":  {replaced("xref\n0 4\n", "xref\n0 99999999999\n"), ErrDamaged},
		"trailer is too long":             {replaced("/Size 4", "/Size 4 /Junk ("+strings.Repeat("x", 2<<20)+")"), ErrLimit},
		"no encryption dictionary":        {replaced("/Size 4", "/Size 4 /Encrypt 9 0 R"), ErrEncrypted},
	} {
		expect(t, name, test.want)(open([]byte(test.text)))
	}
	expect(t, "error of the reader", io.ErrUnexpectedEOF)(Open(strings.NewReader(table), int64(len(table))+1))
}

// TestVersion checks that the later of the versions in the header and the catalog counts (7.5.2, Table 29).
func TestVersion(t *testing.T) {
	for name, test := range map[string]struct{ header, catalog, want string }{
		"only the header":                     {"%PDF-2.0", "", "2.0"},
		"catalog has a later minor version":   {"%PDF-1.4", "/Version /1.7", "1.7"},
		"catalog has a later major version":   {"%PDF-1.7", "/Version /2.0", "2.0"},
		"catalog has an earlier version":      {"%PDF-1.7", "/Version /1.4", "1.7"},
		"catalog has a reference":             {"%PDF-1.4", "/Version 2 0 R", "1.6"},
		"catalog has a string":                {"%PDF-1.4", "/Version (1.7)", "1.4"},
		"catalog has another name":            {"%PDF-1.4", "/Version /PDF", "1.4"},
		"catalog has a negative version":      {"%PDF-1.4", "/Version /9.-1", "1.4"},
		"other bytes before the header":       {"HTTP/1.1 200 OK\r\n\r\n%PDF-1.5", "", "1.5"},
		"header without a version":            {"%PDF-x.y", "", "0.0"},
		"header without, catalog with a name": {"%PDF-x.y", "/Version /1.7", "1.7"},
	} {
		content := newBuilder("<< /Type /Catalog "+test.catalog+" >>", "/1.6").table("")
		content = bytes.Replace(content, []byte("%PDF-1.7"), []byte(test.header), 1)
		major, minor := mustOpen(t, content).Version()
		if got := fmt.Sprintf("%d.%d", major, minor); got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}

// FuzzOpen reads any bytes, and checks that a file that can be read can be read after an update.
func FuzzOpen(f *testing.F) {
	for _, seed := range [][]byte{
		tableFile(), streamFile(), hybridFile(), append([]byte("junk"), tableFile()...), mustResetCatalog(f, tableFile()),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		err := readAll(content)
		if checkError(t, err); err != nil {
			return
		}
		updated, err := resetCatalog(mustOpen(t, content), content)
		if err != nil {
			return // the source text of the catalog cannot be patched
		}
		if err := readAll(updated); err != nil {
			t.Errorf("the file can be read before the update, but not after it: %v", err)
		}
	})
}

// TestCorpus reads files of other writers. For a file in which other readers find no fault, it compares the number of
// pages with theirs, and reads the file after an update; 98 of 100 such files have to pass. qpdf checks the updates of
// a sample, or of all files with INNSIGLI_FULL=1, which also limits the time for one file.
func TestCorpus(t *testing.T) {
	const maxTime = 2 * time.Second
	clean, passed := 0, 0
	updates := map[string][]byte{} // for qpdf
	for i, file := range testenv.Expected(t, "pdf") {
		name := filepath.Base(file.Path)
		content := must(os.ReadFile(file.Path))
		began := time.Now()
		err := readAll(content)
		if took := time.Since(began); testenv.Full() && took > maxTime { // time: judged by .ci/full alone
			t.Errorf("%s: reading took %v, more than %v", name, took, maxTime)
		}
		checkError(t, err)
		says := file.Says
		if says["qpdf_check"] != "0" || says["mutool_info"] != "0" || says["pdfinfo"] != "0" || says["encrypted"] != "no" {
			continue
		}
		clean++
		pages, _ := strconv.Atoi(says["pages"])
		updated, err := updateCorpusFile(content, pages)
		if err != nil {
			t.Logf("%s: %v", name, err)
			continue
		}
		if passed++; testenv.Full() || i%8 == 0 {
			updates[name] = updated
		}
	}
	if passed*100 < clean*98 {
		t.Errorf("%d of %d files without faults were read and updated, fewer than 98 %%", passed, clean)
	}
	t.Run("qpdf", func(t *testing.T) {
		faulty := 0
		for name, updated := range updates {
			if output, err := qpdf(t, updated, "--check"); err != nil {
				t.Logf("%s: qpdf --check: %v\n%s", name, err, output)
				faulty++
			}
		}
		if faulty*100 > len(updates)*2 {
			t.Errorf("qpdf finds faults in %d of %d updated files, more than 2 %%", faulty, len(updates))
		}
	})
}

// updateCorpusFile returns a file with an update. It compares the number of pages before and after the update.
func updateCorpusFile(content []byte, pages int) ([]byte, error) {
	f, err := open(content)
	if err != nil {
		return nil, err
	}
	updated, err := resetCatalog(f, content)
	if err != nil {
		return nil, err
	}
	again, err := open(updated)
	if err != nil {
		return nil, err
	}
	for _, file := range []*File{f, again} {
		if got, err := file.PageCount(); err != nil || got != pages {
			return nil, fmt.Errorf("%d pages instead of %d, error %w", got, pages, err)
		}
	}
	return updated, nil
}

const manyObjects = 50_000

// manyObjectFiles returns files of 50,000 objects: a table and 20 MB of strings, and a stream with object streams.
func manyObjectFiles() map[string][]byte {
	table, compressed := newBuilder(catalogText, pagesText, pageText), newBuilder()
	content := "(" + strings.Repeat("x", 350) + ")"
	for num := 4; num < manyObjects; num++ {
		table.object(num, content)
	}
	const perStream = 100
	for first := 0; first < manyObjects; first += perStream {
		objects := map[int]string{}
		for num := max(first, 1); num < first+perStream; num++ {
			objects[num] = fmt.Sprintf("<< /Type /Annot /Contents (object %d) /Parent 3 0 R >>", num)
		}
		if first == 0 {
			objects[1], objects[2], objects[3] = catalogText, pagesText, pageText
		}
		compressed.objectStream(manyObjects+first/perStream, objects)
	}
	return map[string][]byte{"table": table.table(""), "objectstreams": compressed.xrefStream("")}
}

// openAndUpdate opens a file and writes an update of its page.
func openAndUpdate(t testing.TB, content []byte) {
	f := mustOpen(t, content)
	page := must(f.Page(1))
	u := f.NewUpdate()
	u.Set(page.Ref, must(u.Source(page.Ref)))
	if _, _, err := u.Bytes(); err != nil {
		t.Fatal(err)
	}
}

// TestOpenIsLazy checks by the allocated memory that a file is opened and updated without reading its objects.
func TestOpenIsLazy(t *testing.T) {
	const most = 4 << 20 // more than the entries of 50,000 objects take, and less than the objects do
	for name, content := range manyObjectFiles() {
		opened := testenv.Allocated(func() { mustOpen(t, content) })
		updated := testenv.Allocated(func() { openAndUpdate(t, content) })
		if opened > most || updated > most {
			t.Errorf("%s: %d bytes allocated to open the file, %d with an update; want at most %d", name, opened, updated, most)
		}
	}
}

// BenchmarkOpen opens files of 50,000 objects and updates a page. "kept-B" is the memory that an open file takes.
func BenchmarkOpen(b *testing.B) {
	for name, content := range manyObjectFiles() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				openAndUpdate(b, content)
			}
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			f := mustOpen(b, content)
			runtime.GC()
			runtime.ReadMemStats(&after)
			runtime.KeepAlive(f)
			kept := after.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc)
			if b.ReportMetric(float64(kept), "kept-B"); kept > 12<<20 {
				b.Errorf("an open file takes %d bytes, more than 12 MiB", kept)
			}
		})
	}
}
