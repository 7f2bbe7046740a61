package pdf

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

func opened(t *testing.T, b []byte) *File {
	t.Helper()
	f, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// updated appends objects to a file.
func updated(t *testing.T, b []byte, bodies map[uint32]string) []byte {
	t.Helper()
	u := opened(t, b).NewUpdate()
	for num, body := range bodies {
		u.Set(Ref{Num: num}, []byte(body))
	}
	appended, _, err := u.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return append(bytes.Clone(b), appended...)
}

// An object may be another one because it is elsewhere, or because what it is in is.
func TestChangedSince(t *testing.T) {
	compressed := pdftest.Build(pdftest.Options{Kind: pdftest.Stream})
	tests := map[string]struct {
		b      []byte
		bodies map[uint32]string
		want   []uint32
	}{
		"nothing":           {pdftest.Build(pdftest.Options{}), nil, nil},
		"an object":         {pdftest.Build(pdftest.Options{}), map[uint32]string{10: "<< >>"}, []uint32{10}},
		"a new object":      {pdftest.Build(pdftest.Options{}), map[uint32]string{99: "<< >>"}, []uint32{99}},
		"out of a stream":   {compressed, map[uint32]string{10: "<< >>"}, []uint32{10, 902}},
		"the object stream": {compressed, map[uint32]string{900: "<< /Type /ObjStm /N 0 /First 0 /Length 0 >>\nstream\n\nendstream"}, []uint32{1, 2, 10, 900, 902}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			now := opened(t, updated(t, tt.b, tt.bodies))
			if diff := cmp.Diff(tt.want, now.ChangedSince(opened(t, tt.b))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// An object stream whose length is an object of its own is another one when that is.
func TestChangedSinceByLength(t *testing.T) {
	build := func(length int) []byte {
		b := newBuilder()
		b.object(1, "<< /Type /Catalog /Pages 2 0 R >>")
		b.object(2, "<< /Type /Pages /Kids [] /Count 0 >>")
		b.object(3, "<< /Type /ObjStm /N 1 /First 4 /Length 4 0 R >>\nstream\n7 0 (a)\nendstream")
		b.object(4, fmt.Sprint(length))
		b.table(5, "/Root 1 0 R")
		return b.Bytes()
	}
	before := opened(t, build(7))
	now := opened(t, updated(t, build(7), map[uint32]string{4: "6"}))
	for _, f := range []*File{before, now} {
		f.entries.set(7, xrefEntry{kind: compressedEntry, offset: 3})
	}
	if diff := cmp.Diff([]uint32{4}, now.ChangedSince(before)); diff != "" {
		t.Errorf("a length that is not that of the stream: %s", diff)
	}
	long := []byte("<< /Type /ObjStm /N 1 /First 4 /Length 4 0 R >>\nstream\n7 0 (a) endstream (b)\nendstream")
	content := bytes.Replace(build(7), []byte("<< /Type /ObjStm /N 1 /First 4 /Length 4 0 R >>\nstream\n7 0 (a)\nendstream"), long, 1)
	at := bytes.LastIndex(content, []byte("\nxref\n")) + 1
	content = fmt.Appendf(content[:bytes.LastIndex(content, []byte("startxref"))], "startxref\n%d\n%%%%EOF\n", at)
	content = bytes.Replace(content, []byte(fmt.Sprintf("%010d", bytes.Index(build(7), []byte("4 0 obj")))), []byte(fmt.Sprintf("%010d", bytes.Index(content, []byte("4 0 obj")))), 1)
	before = opened(t, content)
	now = opened(t, updated(t, content, map[uint32]string{4: "21"}))
	for _, f := range []*File{before, now} {
		f.entries.set(7, xrefEntry{kind: compressedEntry, offset: 3})
	}
	if diff := cmp.Diff([]uint32{4, 7}, now.ChangedSince(before)); diff != "" {
		t.Error(diff)
	}
}

// Objects that no cross-reference lists are there for those who look for objects.
func TestLists(t *testing.T) {
	for _, kind := range pdftest.Kinds {
		b := pdftest.Build(pdftest.Options{Kind: kind})
		for body, want := range map[string]bool{
			"<< >>": true, "(an obj)": true, "(3 0 obj)": false, "<< >> % 3 0 obj": false,
		} {
			now := opened(t, updated(t, b, map[uint32]string{99: body}))
			if got, err := now.ListsAllObjects(int64(len(b))); got != want || err != nil {
				t.Errorf("%s, %s: %t, %v", kind, body, got, err)
			}
		}
	}
}

// A stream beside a table may say what the table says, or what it hides.
func TestUnanimous(t *testing.T) {
	b := pdftest.Build(pdftest.Options{Kind: pdftest.Hybrid, Objects: []string{"(hidden)"}})
	f := opened(t, b)
	if same, err := f.ReadersAgree(1); same || err != nil {
		t.Errorf("a table that hides an object: %t, %v", same, err)
	}
	if same, err := f.ReadersAgree(int64(len(b))); !same || err != nil {
		t.Errorf("behind the file: %t, %v", same, err)
	}
	now := opened(t, updated(t, b, map[uint32]string{100: "(seen)"}))
	if same, err := now.ReadersAgree(int64(len(b))); !same || err != nil {
		t.Errorf("an update with a table: %t, %v", same, err)
	}
	stated := bytes.Replace(updated(t, b, map[uint32]string{100: "(seen)"})[len(b):], []byte("trailer\n<<"),
		fmt.Appendf(nil, "trailer\n<< /XRefStm %d", bytes.LastIndex(b[:bytes.Index(b, []byte("/XRef"))], []byte("\n10"))+1), 1)
	copied := opened(t, append(bytes.Clone(b), stated...))
	if same, err := copied.ReadersAgree(int64(len(b))); !same || err != nil || !copied.Hybrid(int64(len(b))) {
		t.Errorf("a copy of the reference to the stream: %t, %v", same, err)
	}
}

// An object without endobj ends where something else begins; but for an integer, which may be the beginning of a
// reference, and for what the file ends with.
func TestEndedObject(t *testing.T) {
	for name, test := range map[string]struct {
		object string
		want   bool
	}{
		"endobj":                    {"<< >>\nendobj\n", true},
		"endobj behind an integer":  {"33endobj\n", true},
		"another object":            {"<< >>\n99 0 obj null endobj\n", true},
		"a delimiter":               {"<< >>\n>>\nendobj\n", true},
		"a comment, and the table":  {"<< >>\n%endobj\n", true},
		"an integer, and the table": {"33\n", false},
		"an integer, and a number":  {"33 0\n", false},
		"at the end":                {"<< >>", false},
		"a keyword at the end":      {"<< >>\nstre", false},
		"a comment at the end":      {"<< >>\n%endobj", false},
		"white space at the end":    {"<< >> \n", false},
		"an integer at the end":     {"33", false},
	} {
		b := newBuilder()
		b.object(1, "<< /Type /Catalog >>")
		before := b.Len()
		if strings.HasSuffix(name, "at the end") {
			b.offsets[2] = 1 << 16 // behind the trailer
		} else {
			b.offsets[2] = before
			b.WriteString("2 0 obj\n" + test.object)
		}
		b.gens[2] = 0
		content := b.table(3, "/Root 1 0 R")
		if strings.HasSuffix(name, "at the end") {
			content = bytes.Replace(content, []byte("0000065536"), fmt.Appendf(nil, "%010d", len(content)), 1)
			content = append(content, "2 0 obj\n"+test.object...)
		}
		_, ended, err := opened(t, content).ObjectWithEnd(Ref{Num: 2})
		if ended != test.want || err != nil {
			t.Errorf("%s: %v, error %v", name, ended, err)
		}
	}
}
