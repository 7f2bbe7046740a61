package pdf

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// Objects 1, 2 and 3 of most files.
const (
	catalogText = "<< /Type /Catalog /Pages 2 0 R >>"
	pagesText   = "<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 595 842] >>"
	pageText    = "<< /Type /Page /Parent 2 0 R >>"
)

// A builder writes a file of one or more revisions.
type builder struct {
	bytes.Buffer
	rows map[int][3]int // entries of the next cross-reference section, with the fields of Table 18
	max  int            // highest object number
	last int            // offset of the last section; 0: none
}

// newBuilder returns a builder that has written the header and objects with the numbers 1, 2 and so on.
func newBuilder(objects ...string) *builder { return newBuilderAfter("", objects...) }

// newBuilderAfter does the same for a file with other bytes before the header.
func newBuilderAfter(prefix string, objects ...string) *builder {
	b := &builder{rows: map[int][3]int{}}
	b.WriteString(prefix + "%PDF-1.7\n")
	for i, body := range objects {
		b.object(i+1, body)
	}
	return b
}

func (b *builder) row(num, kind, second, third int) {
	b.rows[num] = [3]int{kind, second, third}
	b.max = max(b.max, num)
}

func (b *builder) object(num int, body string) { b.objectGen(num, 0, body) }

func (b *builder) objectGen(num, gen int, body string) {
	b.row(num, 1, b.Len(), gen)
	fmt.Fprintf(b, "%d %d obj\n%s\nendobj\n", num, gen, body)
}

func streamBody(dict, payload string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", dict, len(payload), payload)
}

// objectStream writes an object stream with objects of ascending numbers.
func (b *builder) objectStream(num int, objects map[int]string) {
	var head, bodies strings.Builder
	for i, n := range slices.Sorted(maps.Keys(objects)) {
		fmt.Fprintf(&head, "%d %d ", n, bodies.Len())
		bodies.WriteString(objects[n] + " ")
		b.row(n, 2, num, i)
	}
	dict := fmt.Sprintf("/Type /ObjStm /N %d /First %d /Filter /FlateDecode", len(objects), head.Len())
	b.object(num, streamBody(dict, deflate(head.String()+bodies.String())))
}

// table ends a revision with a cross-reference table, which does not list compressed objects.
func (b *builder) table(trailer string) []byte {
	if b.last == 0 {
		b.row(0, 0, 0, 65535)
	}
	maps.DeleteFunc(b.rows, func(_ int, row [3]int) bool { return row[0] == 2 })
	at := b.Len()
	b.WriteString("xref\n")
	for _, run := range b.runs() {
		fmt.Fprintf(b, "%d %d\n", run[0], len(run))
		for _, num := range run {
			row := b.rows[num]
			fmt.Fprintf(b, "%010d %05d %c \n", row[1], row[2], "fn"[row[0]])
		}
	}
	fmt.Fprintf(b, "trailer\n<< %s >>\n", b.trailer(trailer))
	return b.finish(at)
}

// xrefStream ends a revision with a cross-reference stream, which gets the next object number.
func (b *builder) xrefStream(trailer string) []byte {
	at, num := b.Len(), b.max+1
	b.row(num, 1, at, 0)
	b.xrefObject(num, b.trailer(trailer))
	return b.finish(at)
}

// xrefObject writes a cross-reference stream that lists all objects of the revision.
func (b *builder) xrefObject(num int, entries string) {
	b.row(num, 1, b.Len(), 0)
	var index, payload strings.Builder
	for _, run := range b.runs() {
		fmt.Fprintf(&index, "%d %d ", run[0], len(run))
		for _, num := range run {
			row := b.rows[num]
			fields := binary.BigEndian.AppendUint32([]byte{byte(row[0])}, uint32(row[1]))
			payload.Write(binary.BigEndian.AppendUint16(fields, uint16(row[2])))
		}
	}
	dict := fmt.Sprintf("/Type /XRef /W [1 4 2] /Index [%s] /Filter /FlateDecode %s", index.String(), entries)
	b.object(num, streamBody(dict, deflate(payload.String())))
}

// runs returns the listed object numbers in runs of consecutive numbers.
func (b *builder) runs() (runs [][]int) {
	for _, num := range slices.Sorted(maps.Keys(b.rows)) {
		if n := len(runs); n > 0 && runs[n-1][len(runs[n-1])-1] == num-1 {
			runs[n-1] = append(runs[n-1], num)
		} else {
			runs = append(runs, []int{num})
		}
	}
	return runs
}

// trailer adds Size, Prev and Root to entries, unless entries has them.
func (b *builder) trailer(entries string) string {
	if b.last > 0 {
		entries = fmt.Sprintf("/Prev %d %s", b.last, entries)
	}
	if !strings.Contains(entries, "/Size") {
		entries = fmt.Sprintf("/Size %d %s", b.max+1, entries)
	}
	if !strings.Contains(entries, "/Root") {
		entries += " /Root 1 0 R"
	}
	return entries
}

// finish ends a revision whose section is at an offset, and returns the file so far.
func (b *builder) finish(at int) []byte {
	fmt.Fprintf(b, "startxref\n%d\n%%%%EOF\n", at)
	b.last, b.rows = at, map[int][3]int{}
	return bytes.Clone(b.Bytes())
}

func deflate(content string) string {
	var b strings.Builder
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(content)) // a strings.Builder returns no errors
	_ = w.Close()
	return b.String()
}

// tableFile returns a file of one page with a cross-reference table.
func tableFile() []byte {
	return newBuilder(catalogText, pagesText, pageText).table("/Root 1 0 R /ID [<0102> <0304>]")
}

// streamFile returns a file of one page with a cross-reference stream and an object stream.
func streamFile() []byte {
	b := newBuilder()
	b.objectStream(4, map[int]string{1: catalogText, 2: pagesText, 3: pageText})
	return b.xrefStream("/Root 1 0 R /ID [<0102> <0304>]")
}

// hybridFile returns a hybrid-reference file of one page (7.5.8.4). Its XRefStm has the entries of the objects 2 and
// 3; object 1 has an entry in both sections, and that of the table counts.
func hybridFile() []byte {
	b := newBuilder()
	b.objectStream(4, map[int]string{2: pagesText, 3: pageText})
	b.row(1, 0, 0, 0)
	at := b.Len()
	b.xrefObject(5, "/Size 6")
	delete(b.rows, 5)
	b.object(1, catalogText)
	return b.table(fmt.Sprintf("/Root 1 0 R /XRefStm %d", at))
}

// treeFile returns a file whose page tree has its root in object 2, the first of the objects.
func treeFile(objects ...string) []byte {
	return newBuilder(append([]string{catalogText}, objects...)...).table("")
}

func open(content []byte) (*File, error) {
	return Open(bytes.NewReader(content), int64(len(content)))
}

func rebuild(content []byte) (*File, error) {
	return Rebuild(bytes.NewReader(content), int64(len(content)))
}

// must returns the value of a call that has to succeed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func mustOpen(t testing.TB, content []byte) *File {
	t.Helper()
	f, err := open(content)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// withObjects returns a file with an update that sets objects.
func withObjects(t testing.TB, content []byte, bodies map[uint32]string) []byte {
	t.Helper()
	u := mustOpen(t, content).NewUpdate()
	for num, body := range bodies {
		u.Set(Ref{Num: num}, []byte(body))
	}
	return apply(t, content, u)
}

// apply returns a file with an update.
func apply(t testing.TB, content []byte, u *Update) []byte {
	t.Helper()
	appended, _, err := u.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(content, appended)
}

// resetCatalog returns content, the bytes of f, with an update that sets the catalog to its present source text.
func resetCatalog(f *File, content []byte) ([]byte, error) {
	ref, _, err := f.Catalog()
	if err != nil {
		return nil, err
	}
	u := f.NewUpdate()
	source, err := u.Source(ref)
	if err != nil {
		return nil, err
	}
	u.Set(ref, source)
	appended, _, err := u.Bytes()
	return slices.Concat(content, appended), err
}

func mustResetCatalog(t testing.TB, content []byte) []byte {
	t.Helper()
	return must(resetCatalog(mustOpen(t, content), content))
}

// A textCase is an input with the result that is wanted: a value or an error, as for expect.
type textCase struct {
	text string
	want any
}

// expect returns a function that compares the result of a call with want: a value, or an error that the error of the
// call has to wrap. Bytes are compared as a string. name is the name of the test case.
func expect(t testing.TB, name, want any) func(got any, err error) {
	return func(got any, err error) {
		t.Helper()
		if sentinel, ok := want.(error); ok {
			if !errors.Is(err, sentinel) {
				t.Errorf("%v: error %v, want %v", name, err, sentinel)
			}
			return
		}
		if b, ok := got.([]byte); ok {
			got = string(b)
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v: error %v, -want +got:\n%s", name, err, diff)
		}
	}
}

// checkError fails the test if err is an error that does not wrap one of this package.
func checkError(t testing.TB, err error) {
	t.Helper()
	sentinels := []error{ErrNotPDF, ErrDamaged, ErrEncrypted, ErrNoPages, ErrNoPage, ErrLimit, ErrUnsupported}
	if err != nil && !slices.ContainsFunc(sentinels, func(sentinel error) bool { return errors.Is(err, sentinel) }) {
		t.Errorf("error %v wraps no error of this package", err)
	}
}

// readAll opens a file and reads its objects, streams, revisions and pages. It ignores objects that cannot be read:
// it is called to find panics and long loops.
func readAll(content []byte) error {
	f, err := open(content)
	if err != nil {
		return err
	}
	for num, e := range f.entries.all() {
		o, err := f.Object(Ref{Num: num, Gen: e.gen})
		if stream, ok := o.(*Stream); err == nil && ok {
			_, _ = f.Stream(stream, 1<<20)
		}
	}
	if _, err := f.Revisions(); err != nil {
		return err
	}
	if _, err := f.Page(1); err != nil {
		return err
	}
	_, err = f.PageCount()
	return err
}

// qpdf returns the output of qpdf for a file. It skips the test if qpdf is not installed.
func qpdf(t testing.TB, content []byte, options ...string) ([]byte, error) {
	t.Helper()
	program := testenv.Program(t, "qpdf")
	path := filepath.Join(t.TempDir(), "file.pdf")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return exec.CommandContext(t.Context(), program, append([]string{path}, options...)...).CombinedOutput()
}

// checkWithQPDF fails the test if qpdf finds a fault in a file.
func checkWithQPDF(t testing.TB, content []byte) {
	t.Helper()
	if output, err := qpdf(t, content, "--check"); err != nil {
		t.Errorf("qpdf --check: %v\n%s", err, output)
	}
}
