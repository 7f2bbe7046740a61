package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"os/exec"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// brokenFiles are files that viewers open although their cross-reference is wrong.
func brokenFiles() map[string][]byte {
	table, stream, hybrid := string(tableFile()), string(streamFile()), string(hybridFile())
	embedded := newBuilder()
	embedded.object(1, "<< /Type /Catalog /Pages 2 0 R >>")
	embedded.object(2, "<< /Type /Pages /Kids [3 0 R] /Count 1 >>")
	embedded.object(3, "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>")
	embedded.stream(4, "/Type /EmbeddedFile", []byte(strings.ReplaceAll(table, "[0 0 595 842]", "[0 0 1 1]")))
	whole := string(embedded.table(5, "/Root 1 0 R"))
	return map[string][]byte{
		"startxref off by some bytes":    []byte(moved(table, "startxref\n", 7)),
		"startxref 0":                    []byte(table[:strings.LastIndex(table, "startxref")] + "startxref\n0\n%%EOF\n"),
		"no startxref":                   []byte(table[:strings.LastIndex(table, "startxref")]),
		"cut off in the table":           []byte(table[:strings.LastIndex(table, "xref\n0")+12]),
		"subsection count too high":      []byte(strings.Replace(table, "xref\n0 4", "xref\n0 9", 1)),
		"subsection count too low":       []byte(strings.Replace(table, "xref\n0 4", "xref\n0 2", 1)),
		"subsection from 1":              []byte(strings.Replace(table, "xref\n0 4", "xref\n1 4", 1)),
		"bytes added before all objects": []byte(strings.Replace(table, "1 0 obj", "% a comment\n1 0 obj", 1)),
		"stream with a wrong startxref":  []byte(moved(stream, "startxref\n", 9)),
		"stream cut off":                 []byte(stream[:strings.LastIndex(stream, "startxref")]),
		"hybrid with a wrong startxref":  []byte(moved(hybrid, "startxref\n", 9)),
		"embedded file":                  []byte(moved(whole, "startxref\n", 9)),
		"trailer without a Root":         []byte(strings.Replace(moved(table, "startxref\n", 9), "/Root", "/Rood", 1)),
		"wrong Length":                   []byte(strings.Replace(moved(stream, "startxref\n", 9), "/Length ", "/Length 1", 1)),
	}
}

// moved changes the number behind a keyword.
func moved(content, keyword string, by int) string {
	at := strings.LastIndex(content, keyword) + len(keyword)
	end := at + strings.IndexByte(content[at:], '\n')
	var n int
	if _, err := fmt.Sscan(content[at:end], &n); err != nil {
		panic(err)
	}
	return fmt.Sprint(content[:at], n+by, content[end:])
}

func TestRebuild(t *testing.T) {
	for name, content := range brokenFiles() {
		t.Run(name, func(t *testing.T) {
			if f, err := Open(bytes.NewReader(content), int64(len(content))); err == nil {
				if _, err := f.Page(1); err == nil {
					t.Fatal("it is not broken")
				}
			}
			f, err := Rebuild(bytes.NewReader(content), int64(len(content)))
			if err != nil {
				t.Fatal(err)
			}
			page, err := f.Page(1)
			if err != nil {
				t.Fatal(err)
			}
			if page.MediaBox.URX == 1 {
				t.Error("the page is the embedded file's")
			}
			checkRebuilt(t, f, content)
		})
	}
}

// checkRebuilt makes sure that behind an update the file can be opened as it is.
func checkRebuilt(t *testing.T, f *File, content []byte) {
	t.Helper()
	updated, err := resetCatalog(f, bytes.Clone(content))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(updated, content) {
		t.Error("the bytes before the update are not the file's")
	}
	again := mustOpen(t, updated)
	if len(again.sections) != 1 || again.Trailer()["Prev"] != nil {
		t.Errorf("%d sections: %v", len(again.sections), again.Trailer())
	}
	for num, e := range f.entries.all() {
		if got := again.entries.get(num); num != 1 && (got.kind != e.kind || got.offset != e.offset) {
			t.Errorf("object %d: %+v instead of %+v", num, got, e)
		}
	}
	if _, err := again.Page(1); err != nil {
		t.Error(err)
	}
}

// qpdf finds nothing wrong with rebuilt files any more.
func TestRebuiltFilesAreSound(t *testing.T) {
	qpdf := testenv.Program(t, "qpdf")
	for name, content := range brokenFiles() {
		if name == "wrong Length" { // of an object stream, which an update leaves as it is
			continue
		}
		f, err := Rebuild(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		updated, err := resetCatalog(f, content)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "updated.pdf")
		if err := os.WriteFile(path, updated, 0o600); err != nil {
			t.Fatal(err)
		}
		if output, err := exec.CommandContext(t.Context(), qpdf, "--check", path).CombinedOutput(); err != nil {
			t.Errorf("%s: %s", name, output)
		}
	}
}

func TestRebuildRefuses(t *testing.T) {
	table := string(tableFile())
	tests := map[string]struct {
		content string
		want    error
	}{
		"no PDF":                {"PK\x03\x04 and more", ErrNotPDF},
		"no objects":            {"%PDF-1.7\n", ErrDamaged},
		"no catalog":            {"%PDF-1.7\n1 0 obj\n<< /Type /Page >>\nendobj\n", ErrDamaged},
		"signed":                {strings.Replace(table, "/Type /Page ", "/Type /Page /V << /ByteRange [0 1 2 3] >> ", 1), ErrDamaged},
		"numbers far apart":     {strings.Replace(table, "1 0 obj", "8000000 0 obj\nnull\nendobj\n1 0 obj", 1), ErrLimit},
		"objects in each other": {"%PDF-1.7\n" + strings.Repeat("1 0 obj (", 100_000), ErrLimit},
		// What others may read and we do not must not be lost in the new section.
		"object that cannot be read":         {strings.Replace(table, "/Type /Page ", "/Type /Page /X 1.2.3 ", 1), ErrDamaged},
		"newer object that cannot be read":   {table + "3 0 obj\n<< /Type /Page /X bar >>\nendobj\n", ErrDamaged},
		"object whose number cannot be read": {table + "3 0%\nobj\n<< >>\nendobj\n", ErrDamaged},
		"object stream that cannot be read":  {table + "9 0 obj\n" + streamBody("/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode", []byte("none")) + "\nendobj\n", ErrDamaged},
		"trailer that cannot be read":        {strings.Replace(table, "/Size 4", "/Size 4 /Encrypt 9 0 R /X <zz>", 1), ErrDamaged},
		"encryption nobody leads to":         {table + "% /Encrypt 9 0 R\n", ErrDamaged},
		"signature where nothing is read":    {table + "9 0 obj\n" + streamBody("", []byte("<< /ByteRange [0 1 2 3] >>")) + "\nendobj\n", ErrDamaged},
		"name of a signature with escapes":   {strings.Replace(table, "/Type /Page ", "/Type /Page /V << /Byte#52ange [0 1 2 3] >> ", 1), ErrDamaged},
		"two generations of one number":      {table + "3 1 obj\n<< /Type /Page >>\nendobj\n", ErrDamaged},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := Rebuild(strings.NewReader(test.content), int64(len(test.content))); !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
		})
	}
}

// The object nearest to the end holds, in an object stream or not.
func TestRebuildTakesTheLastObject(t *testing.T) {
	b := newBuilder()
	b.object(1, "<< /Type /Catalog /Pages 2 0 R >>")
	b.object(2, "<< /Type /Pages /Kids [3 0 R] >>")
	b.object(3, "<< /Type /Page >>")
	b.object(10, "(first)")
	b.object(11, "(only)")
	b.objectStream(4, map[int]string{10: "(second)", 12: "(compressed)"})
	b.object(12, "(behind the stream)")
	content := b.Bytes()
	f, err := Rebuild(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	for num, want := range map[uint32]string{10: "second", 11: "only", 12: "behind the stream"} {
		if got, err := f.Bytes(Ref{Num: num}); string(got) != want || err != nil {
			t.Errorf("object %d: %q, error %v; want %q", num, got, err, want)
		}
	}
}
