package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTableEntries checks the entries of a cross-reference table, with any white space between the fields. An offset
// outside of the file is an error only when the object is read.
func TestTableEntries(t *testing.T) {
	for name, test := range map[string]textCase{
		"7.5.4 in use":            {"0000000009 00000 n \n", uncompressedEntry},
		"7.5.4 free":              {"0000000009 00001 f \n", freeEntry},
		"19 bytes":                {"0000000009 00000 n\n", uncompressedEntry},
		"tabs and short numbers":  {"9\t0\tn\r", uncompressedEntry},
		"offset 0":                {"0000000000 00000 n \n", freeEntry},
		"generation above 65535":  {"0000000009 65536 n \n", freeEntry},
		"offset outside the file": {"9223372036854775807 00000 n \n", uncompressedEntry},
		"offset of 64 bits":       {"9223372036854775808 00000 n \n", ErrDamaged},
		"neither n nor f":         {"0000000009 00000 x \n", ErrDamaged},
		"offset is negative":      {"-000000009 00000 n \n", ErrDamaged},
	} {
		f, err := open(xrefTableFile("1 1\n"+test.text, "/Size 2"))
		if err != nil {
			f = &File{}
		}
		expect(t, name, test.want)(f.entries.get(1).kind, err)
	}
}

// xrefTableFile returns a file with two objects and a cross-reference table of the given text.
func xrefTableFile(subsections, trailer string) []byte {
	b := newBuilder("<< /Pages 2 0 R >>", "<< /Kids [1 0 R] >>")
	at := b.Len()
	b.WriteString("xref\n" + subsections + "trailer\n<< " + trailer + " >>\n")
	return b.finish(at)
}

// TestXRefStreamRefuses checks which cross-reference streams are refused (7.5.8.2).
func TestXRefStreamRefuses(t *testing.T) {
	const widths = "/W [1 2 1] "
	fourZeros := xrefStreamFile(widths+"/Index [0 1]", "\x00\x00\x00\x00")
	for name, test := range map[string]textCase{
		"no W":                      {xrefStreamFile("", ""), ErrDamaged},
		"W of two widths":           {xrefStreamFile("/W [1 2]", ""), ErrDamaged},
		"W of four widths":          {xrefStreamFile("/W [1 2 1 1]", ""), ErrUnsupported},
		"W of zeros":                {xrefStreamFile("/W [0 0 0]", ""), ErrUnsupported},
		"W with a negative width":   {xrefStreamFile("/W [1 -2 1]", ""), ErrDamaged},
		"W with a width above 8":    {xrefStreamFile("/W [1 9 1]", ""), ErrDamaged},
		"too few entries":           {xrefStreamFile(widths+"/Index [0 2]", "\x00\x00\x00\x00\x00"), ErrDamaged},
		"negative number in Index":  {xrefStreamFile(widths+"/Index [-1 1]", ""), ErrDamaged},
		"count of 64 bits in Index": {xrefStreamFile(widths+"/Index [0 9223372036854775807]", ""), ErrLimit},
		"large counts in Index":     {xrefStreamFile(widths+"/Index [0 65000 0 65000]", ""), ErrLimit},
		"large number in Index":     {xrefStreamFile(widths+"/Index [9223372036854775807 1]", ""), ErrLimit},
		"large Size without Index":  {xrefStreamFile("/W [1 0 0] /Size 4000000", "0000"), ErrLimit},
		"object stream number":      {xrefStreamFile("/W [1 4 1] /Index [0 1]", "\x02\xff\xff\xff\xff\x00"), ErrLimit},
		"image filter":              {xrefStreamFile(widths+"/Filter /JPXDecode", ""), ErrUnsupported},
		"Length is wrong":           {strings.Replace(fourZeros, "/Length 4", "/Length 3", 1), ErrDamaged},
		"Length is indirect":        {strings.Replace(fourZeros, "/Length 4", "/Length 4 0 R", 1), ErrDamaged},
		"Index is indirect":         {xrefStreamFile(widths+"/Size 1 /Index 9 0 R", "\x00\x00\x00\x00"), ErrDamaged},
		"Filter is indirect":        {strings.Replace(fourZeros, "/Index", "/Filter 9 0 R /Index", 1), ErrDamaged},
		"a filter is indirect":      {strings.Replace(fourZeros, "/Index", "/Filter [9 0 R] /Index", 1), ErrDamaged},
		"DecodeParms is indirect":   {strings.Replace(fourZeros, "/Index", "/DecodeParms 9 0 R /Index", 1), ErrDamaged},
		"a parameter is indirect":   {strings.Replace(fourZeros, "/Index", "/DecodeParms [<< /Predictor 9 0 R >>] /Index", 1), ErrDamaged},
	} {
		expect(t, name, test.want)(open([]byte(test.text)))
	}
}

// xrefStreamFile returns a file with two objects and a cross-reference stream with the given entries and payload.
func xrefStreamFile(dict, payload string) string {
	b := newBuilder("<< /Pages 2 0 R >>", "<< /Kids [1 0 R] >>")
	at := b.Len()
	b.object(3, streamBody("/Type /XRef /Root 1 0 R /Size 4 "+dict, payload))
	return string(b.finish(at))
}

// TestHybrid checks hybrid-reference files (7.5.8.4): which entry of an object counts, whether readers that ignore
// XRefStm find the same objects, and where the last table with an XRefStm is.
func TestHybrid(t *testing.T) {
	b := newBuilder("<< /Type /Catalog >>")
	b.objectStream(4, map[int]string{2: "(hidden)"})
	at := b.Len()
	b.xrefObject(5, "/Size 6")
	delete(b.rows, 5)
	b.row(2, 0, 0, 1) // the table calls the hidden object free
	withXRefStm := fmt.Sprintf("/XRefStm %d", at)
	first := b.table(withXRefStm)
	update := func(trailer string, change func(b *builder)) []byte {
		updated := &builder{rows: map[int][3]int{}, max: b.max, last: b.last}
		updated.Write(first)
		change(updated)
		return updated.table(trailer)
	}
	table := int64(bytes.LastIndex(first, []byte("\nxref\n")) + 1)
	end := int64(len(first))
	for name, test := range map[string]struct {
		content       []byte
		want          Object // object 2
		from          int64
		agree, hybrid bool // for readers of the bytes appended from this offset on
	}{
		"one revision":               {first, String("hidden"), 1, false, true},
		"from the table on":          {first, String("hidden"), table, false, true},
		"after the table":            {first, String("hidden"), table + 1, true, false},
		"object replaced":            {update("", func(b *builder) { b.object(2, "(new)") }), String("new"), end, true, false},
		"object freed":               {update("", func(b *builder) { b.row(2, 0, 0, 1) }), nil, end, true, false},
		"XRefStm copied to update":   {update(withXRefStm, func(b *builder) { b.object(2, "(new)") }), String("new"), end, true, true},
		"file without hybrid tables": {newBuilder("<< >>", "(table)").table(""), String("table"), 1, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := mustOpen(t, test.content)
			expect(t, "object", test.want)(f.Object(Ref{Num: 2}))
			expect(t, "missing object", nil)(f.Object(Ref{Num: 50}))
			expect(t, "ReadersAgree", test.agree)(f.ReadersAgree(test.from))
			expect(t, "Hybrid", test.hybrid)(f.HasXRefStm(test.from), nil)
		})
	}
	for name, value := range map[string]string{
		"a name": "/x", "negative": "-1", "the offset of an object": "9", "outside of the file": "99999",
	} {
		expect(t, "XRefStm is "+name, ErrDamaged)(open(regexp.MustCompile(`/XRefStm \d+`).ReplaceAll(first, []byte("/XRefStm "+value))))
	}
	other := update(fmt.Sprintf("/XRefStm %d", table), func(*builder) {})
	expect(t, "XRefStm is the offset of a table", ErrDamaged)(open(other))
}

// TestSharedChunks checks that a table to which shared tables are added has the entries of all, and that changes to
// it do not change the shared tables.
func TestSharedChunks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	entries := func(t *entryTable) map[uint32]xrefEntry { return maps.Collect(t.all()) }
	unexported := cmp.AllowUnexported(xrefEntry{})
	for range 200 {
		var whole, sum entryTable
		shared := make([]entryTable, 4)
		before := make([]map[uint32]xrefEntry, len(shared))
		for i := range shared {
			for range random.IntN(60) {
				num, e := random.Uint32N(5*chunkSize), xrefEntry{kind: entryKind(random.IntN(3)), offset: random.Int64N(1000)}
				whole.add(num, e)
				shared[i].add(num, e)
			}
			before[i] = entries(&shared[i])
			shared[i].markShared()
			sum.addTable(&shared[i])
		}
		if diff := cmp.Diff(entries(&whole), entries(&sum), unexported); diff != "" || whole.count != sum.count {
			t.Fatalf("%d entries, want %d; -want +got:\n%s", sum.count, whole.count, diff)
		}
		for num := range entries(&sum) {
			sum.set(num, xrefEntry{kind: uncompressedEntry, offset: 5000})
			if num%2 == 0 {
				sum.forget(num)
			}
		}
		for i := range shared {
			if diff := cmp.Diff(before[i], entries(&shared[i]), unexported); diff != "" {
				t.Fatalf("a shared table changed, -before +after:\n%s", diff)
			}
		}
	}
}

// TestEarlierRevisionsInAnyOrder opens each revision after each other one, with the sections of that one in the cache,
// and compares it with the same bytes opened as a file of their own.
func TestEarlierRevisionsInAnyOrder(t *testing.T) {
	for name, revisions := range map[string]func() [][]byte{
		"tables":  func() [][]byte { return updatedTwice(t, tableFile()) },
		"streams": func() [][]byte { return updatedTwice(t, streamFile()) },
		"hybrid":  func() [][]byte { return updatedTwice(t, hybridFile()) },
		"DecodeParms in a later object": func() [][]byte {
			b := newBuilder(catalogText, pagesText, pageText)
			first := b.xrefStream("/DecodeParms 9 0 R")
			b.object(9, "<< /Predictor 99 >>")
			return [][]byte{first, b.table(""), b.table("")}
		},
		"entries outside": func() [][]byte {
			b := newBuilder(catalogText, pagesText, pageText)
			b.row(4, 1, 500, 0)
			b.row(5, 1, 99999, 0)
			first := b.table("")
			b.object(6, "("+strings.Repeat("x", 500)+")")
			return [][]byte{first, b.table("")}
		},
		"ends between payload and the end of endstream": func() [][]byte {
			b := newBuilder(catalogText, pagesText, pageText)
			fmt.Fprintf(b, "startxref\n%d\n%%%%EOF\n", b.Len()+len("startxref\n100\n%%EOF\n"))
			b.xrefObject(4, "/Size 5 /Root 1 0 R")
			content := bytes.Replace(b.Bytes(), []byte("\nendstream"), []byte(strings.Repeat(" ", 20)+"endstream"), 1)
			return [][]byte{content[:bytes.Index(content, []byte("endstream"))], append(content, strings.Repeat("\n", 40)...)}
		},
		"more entries than the first revision may have": func() [][]byte {
			b := newBuilder(catalogText)
			at := b.Len()
			dict := "/Type /XRef /Size 10000 /W [1 1 1] /Root 1 0 R /Filter /FlateDecode /Index [" + strings.Repeat("0 10000 ", 7) + "]"
			b.object(2, streamBody(dict, deflate(strings.Repeat("\x00", 3*70000))))
			first := b.finish(at)
			b.object(2, "("+strings.Repeat("x", 70000)+")")
			return [][]byte{first, b.table("")}
		},
		"trailer too long": func() [][]byte {
			b := newBuilder(catalogText)
			return [][]byte{b.table("/X (" + strings.Repeat("x", maxTrailerBytes) + ")"), b.table("")}
		},
	} {
		all := revisions()
		for _, first := range all {
			for _, second := range all {
				latest := &File{r: bytes.NewReader(all[len(all)-1]), size: int64(len(all[len(all)-1]))}
				_, _ = latest.EarlierRevision(int64(len(first)))
				got, gotErr := latest.EarlierRevision(int64(len(second)))
				want, wantErr := open(second)
				if !sameKind(gotErr, wantErr) {
					t.Errorf("%s: %d bytes after %d: error %v, want %v", name, len(second), len(first), gotErr, wantErr)
				}
				if gotErr != nil || wantErr != nil {
					continue
				}
				unexported := cmp.AllowUnexported(xrefEntry{}, xrefSection{})
				for _, diff := range []string{
					cmp.Diff(maps.Collect(want.entries.all()), maps.Collect(got.entries.all()), unexported),
					cmp.Diff(want.sections, got.sections, unexported),
				} {
					if diff != "" {
						t.Errorf("%s: %d bytes after %d, -want +got:\n%s", name, len(second), len(first), diff)
					}
				}
			}
		}
	}
}

func updatedTwice(t *testing.T, content []byte) [][]byte {
	once := mustResetCatalog(t, content)
	return [][]byte{content, once, mustResetCatalog(t, once)}
}

func sameKind(a, b error) bool {
	for _, kind := range []error{ErrDamaged, ErrUnsupported, ErrLimit} {
		if errors.Is(a, kind) != errors.Is(b, kind) {
			return false
		}
	}
	return (a == nil) == (b == nil)
}

// TestSectionCacheIsBounded fills the cache with sections that have long trailers, and with a trailer that is too long.
func TestSectionCacheIsBounded(t *testing.T) {
	b := newBuilder(catalogText)
	for range 30 {
		b.table("/X (" + strings.Repeat("x", maxTrailerBytes/2) + ")")
	}
	f := mustOpen(t, b.Bytes())
	_ = must(f.EarlierRevision(f.size))
	if n := len(f.sectionCache.byPlace); n == 0 || n > 15 {
		t.Errorf("%d sections of 512 KiB are cached", n)
	}
	b.table("/X (" + strings.Repeat("x", maxTrailerBytes) + ")")
	latest := &File{r: bytes.NewReader(b.Bytes()), size: int64(b.Len())}
	_, err := latest.EarlierRevision(latest.size)
	expect(t, "trailer too long", ErrLimit)(nil, err)
	expect(t, "cached", 0)(len(latest.sectionCache.byPlace), nil)
}

// FuzzXRefTable reads files with any cross-reference table and trailer.
func FuzzXRefTable(f *testing.F) {
	f.Add("0 3\n0000000000 65535 f \n0000000009 00000 n \n0000000056 00000 n \n", "/Size 3 /Root 1 0 R")
	f.Add("1 2\n0000000000 65535 f\r\n0000000009 00000 n\r\n", "/Size 2.0 /Root 1 0 R /Prev 9 /XRefStm 9")
	f.Add("0 1\n0 0 f 8388607 1\n9 65535 n ", "/Size 8388608 /Root 8388607 65535 R")
	f.Fuzz(func(t *testing.T, subsections, trailer string) {
		checkError(t, readAll(xrefTableFile(subsections, trailer)))
	})
}

// FuzzXRefStream reads files with any cross-reference stream.
func FuzzXRefStream(f *testing.F) {
	f.Add("/W [1 2 1] /Index [0 1 9 1]", []byte("\x00\x00\x00\xff\x01\x00\x09\x00"))
	f.Add("/W [0 1 0]", []byte("\x09"))
	f.Add("/W [1 1 1] /Prev 9", []byte("\x02\x01\x00"))
	f.Fuzz(func(t *testing.T, dict string, payload []byte) {
		checkError(t, readAll([]byte(xrefStreamFile(dict, string(payload)))))
	})
}
