package pdf

import (
	"fmt"
	"strings"
	"testing"
)

// TestIsStrictIncrement checks updates of a file that has two revisions. This reader accepts all of them, but in those
// that are not strict, other readers may find other objects.
func TestIsStrictIncrement(t *testing.T) {
	type step = func(*builder)
	var table, stream step = func(b *builder) { b.table("") }, func(b *builder) { b.xrefStream("") }
	object := func(num int, body string) step { return func(b *builder) { b.object(num, body) } }
	entry := func(num, kind, second, third int) step { return func(b *builder) { b.row(num, kind, second, third) } }
	compressed := func(objects map[int]string) step { return func(b *builder) { b.objectStream(9, objects) } }
	base := newBuilder(catalogText, "<< /Type /Pages /Kids [] /Count 0 >>", "(old)")
	catalogAt, oldAt := base.rows[1][1], base.rows[3][1]
	base.table("")
	first := base.last
	base.object(3, "7")
	content := base.table("")
	for name, test := range map[string]struct {
		want  bool
		steps []step
	}{
		"no update":                         {true, nil},
		"table":                             {true, []step{object(9, "7"), table}},
		"cross-reference stream":            {true, []step{object(9, "7"), stream}},
		"object stream":                     {true, []step{compressed(map[int]string{1: catalogText, 8: "7"}), stream}},
		"two updates of an object":          {true, []step{object(1, catalogText), table, object(1, catalogText), table}},
		"entry of the first revision":       {false, []step{entry(3, 1, oldAt, 0), table}},
		"entry from before another update":  {false, []step{object(1, catalogText), table, entry(1, 1, catalogAt, 0), table}},
		"object freed by a later update":    {false, []step{object(9, "7"), stream, entry(9, 0, 0, 1), stream}},
		"generation changed later":          {false, []step{func(b *builder) { b.objectGen(9, 1, "7") }, table, object(9, "7"), table}},
		"object in a stream is not listed":  {false, []step{compressed(map[int]string{1: catalogText, 8: "7"}), entry(8, 0, 0, 0), stream}},
		"wrong indexes in an object stream": {false, []step{compressed(map[int]string{7: "7", 8: "7"}), entry(7, 2, 9, 1), entry(8, 2, 9, 0), stream}},
		"Prev passes over the last section": {false, []step{object(9, "7"), func(b *builder) { b.last = first }, table}},
		"XRefStm names the table itself":    {false, []step{object(9, "7"), func(b *builder) { b.table(fmt.Sprintf("/XRefStm %d", b.Len())) }}},
		"XRefStm names a stream": {false, []step{
			func(b *builder) { b.xrefObject(9, "/Size 10") },
			func(b *builder) { b.table(fmt.Sprintf("/XRefStm %d", len(content))) },
		}},
		"Root of an update between":        {false, []step{object(9, catalogText), func(b *builder) { b.table("/Root 9 0 R") }, table}},
		"wrong end-of-file marker between": {false, []step{object(9, "7"), table, func(b *builder) { b.Bytes()[b.Len()-len("%%EOF\n")] = ' ' }, table}},
	} {
		b := &builder{rows: map[int][3]int{}, max: base.max, last: base.last}
		b.Write(content)
		for _, step := range test.steps {
			step(b)
		}
		expect(t, name, test.want)(mustOpen(t, b.Bytes()).IsStrictIncrement(mustOpen(t, content)))
	}
}

// TestLeadsStrictlyTo checks an update without objects, of a file with another object. Readers that take the trailer
// or startxref of the update for damaged search the whole file, and may find a hidden object in that object.
func TestLeadsStrictlyTo(t *testing.T) {
	for name, test := range map[string]struct {
		object, trailer, startxref string
		want                       bool
	}{
		"exact syntax":                         {"<< >>", "/Prev PREV", "\nAT", true},
		"exact syntax, hidden object":          {"(1 0 obj)", "/Prev PREV", "\nAT", true},
		"Prev is a real number":                {"<< >>", "/Prev PREV.0", "\nAT", true},
		"Prev is a real number, hidden object": {"(1 0 obj)", "/Prev PREV.0", "\nAT", false},
		"real number, hidden trailer":          {"(trailer << /Root 1 0 R >>)", "/Prev PREV.0", "\nAT", false},
		"real number, word like trailer":       {"(trailers)", "/Prev PREV.0", "\nAT", true},
		"startxref with a comment":             {"<< >>", "/Prev PREV", " % x\nAT", true},
		"comment, hidden object":               {"(1 0 obj)", "/Prev PREV", " % x\nAT", false},
		"startxref with a sign, hidden object": {"(1 0 obj)", "/Prev PREV", "\n+AT", false},
		"two different values of Prev":         {"<< >>", "/Prev 5 /Prev PREV", "\nAT", false},
		"two different values of another key":  {"<< >>", "/Prev PREV /X 1 /X 2", "\nAT", false},
	} {
		t.Run(name, func(t *testing.T) {
			content := newBuilder(catalogText, pagesText, pageText, test.object).table("")
			before := mustOpen(t, content)
			update := "xref\n0 0\ntrailer\n<< /Size 500 /Root 1 0 R " + test.trailer + " >>\nstartxref" + test.startxref + "\n%%EOF\n"
			update = strings.NewReplacer("PREV", fmt.Sprint(before.startxref), "AT", fmt.Sprint(len(content))).Replace(update)
			expect(t, name, test.want)(mustOpen(t, append(content, update...)).LeadsStrictlyTo(before))
		})
	}
}

// TestListsAllObjects checks whether an update has text that looks like the head of an object which it does not list.
func TestListsAllObjects(t *testing.T) {
	for _, content := range [][]byte{tableFile(), streamFile()} {
		for body, want := range map[string]bool{
			"<< >>": true, "(an obj)": true, "(3 0 obj)": false, "<< >> % 3 0 obj": false,
		} {
			got, err := mustOpen(t, withObjects(t, content, map[uint32]string{99: body})).ListsAllObjects(int64(len(content)))
			if got != want || err != nil {
				t.Errorf("object %s: got %t, error %v; want %t", body, got, err, want)
			}
		}
	}
}

// TestEachHead checks what counts as the head of an object. Each "|" in a row marks the end of a head.
func TestEachHead(t *testing.T) {
	const start = "%PDF-1.7 "
	for _, marked := range []string{
		"1 0 obj| << >> endobj 2 0 obj|", "12 0 obj|<<", "1 0obj|", "1\n0\robj|ects", "endobj1 0 obj|", "(1 0 obj|)",
		"1 % one\n0 obj|", "1%\r\n %0 obj\n0 % 5 \robj|", "1 0%obj\nobj|", "1 (%) 0 obj", "1\v0\xa0obj|", "1\x0000\x85obj|",
		"+1 -0 obj|", "1.0 0 obj|", "x1 0 obj|", "1 0 0 obj|", "1 x 0 obj", "1 0 xobj", "1 0 endobj", "1 0 ob j", "10obj", "1obj 0 Obj",
		"1 % obj", "1 0 % obj", strings.Repeat(" ", 256<<10-3) + "1 0 obj|",
	} {
		var want, got []int64
		content := start + "x"
		for i, part := range strings.Split(marked, "|") {
			if i > 0 {
				want = append(want, int64(len(content)))
			}
			content += part
		}
		f := &File{r: strings.NewReader(content), size: int64(len(content))}
		all, err := f.eachHead(int64(len(start)), func(end int64) bool { got = append(got, end); return true })
		if expect(t, marked, want)(got, err); !all {
			t.Errorf("%.40q: not all heads visited", marked)
		}
	}
	// The numbers of the first head may be before the offset, after startxref.
	for _, content := range []string{"0 obj", "obj", "%\n0 obj"} {
		f := &File{r: strings.NewReader(content), size: int64(len(content))}
		if all, err := f.eachHead(0, func(int64) bool { return false }); all || err != nil {
			t.Errorf("%q: no head found, error %v", content, err)
		}
	}
}

// TestRepeated checks how many equal bytes are skipped, for runs of all lengths around the size of a word.
func TestRepeated(t *testing.T) {
	for n := range 40 {
		for _, after := range []string{"", "b", "ba", strings.Repeat("b", 20)} {
			if got := repeated([]byte("a" + strings.Repeat("a", n) + after)); got != n {
				t.Errorf("%d repetitions and %q: got %d", n, after, got)
			}
		}
	}
}
