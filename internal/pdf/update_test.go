package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// update appends what change does to content, and opens the result.
func update(t testing.TB, content []byte, change func(*Update)) (appended []byte, offsets map[Ref]int64, f *File) {
	t.Helper()
	u := mustOpen(t, content).NewUpdate()
	change(u)
	appended, offsets, err := u.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return appended, offsets, mustOpen(t, slices.Concat(content, appended))
}

// normalised replaces what is random in an appended section.
func normalised(appended []byte) string {
	return regexp.MustCompile(`> <[0-9a-f]{32}>\]`).ReplaceAllString(string(appended), "> <new>]")
}

func TestUpdateAppendsTable(t *testing.T) {
	b := newBuilder()
	b.object(1, "<< /Type /Catalog >>")
	b.objectGen(4, 2, "(old)")
	content := b.table(9, "/Root 1 0 R /Info 4 2 R /ID [(\x01) (\x02)] /Extra [ 1 %c\n ] /XRefStm_ 1")
	appended, offsets, f := update(t, bytes.TrimSuffix(content, []byte("\n")), func(u *Update) {
		u.Set(Ref{Num: 4, Gen: 2}, []byte("(new)"))
		u.Set(Ref{Num: 5}, []byte("(freed before)"))
		u.Add([]byte("[9]"))
	})
	at := len(content)
	want := "\n4 2 obj\n(new)\nendobj\n5 0 obj\n(freed before)\nendobj\n9 0 obj\n[9]\nendobj\n" +
		"xref\n4 2\n" + fmt.Sprintf("%010d 00002 n \n%010d 00000 n \n9 1\n%010d 00000 n \n", at, at+21, at+51) +
		fmt.Sprintf("trailer\n<< /Size 10 /Prev %d /Root 1 0 R /Info 4 2 R /Extra [ 1 %%c\n ] /XRefStm_ 1 /ID [<01> <new>] >>\n", b.last) +
		fmt.Sprintf("startxref\n%d\n%%%%EOF\n", at+70)
	if diff := cmp.Diff(want, normalised(appended)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[Ref]int64{{4, 2}: 9, {5, 0}: 30, {9, 0}: 60}, offsets); diff != "" {
		t.Error(diff)
	}
	if o, err := f.Object(Ref{Num: 4, Gen: 2}); o != String("new") || err != nil {
		t.Errorf("object 4: %v, error %v", o, err)
	}
}

// The section is a stream where the last one was, and objects from object streams become
// plain ones.
func TestUpdateAppendsStream(t *testing.T) {
	content := streamFile()
	appended, offsets, f := update(t, content, func(u *Update) {
		source, err := u.Source(Ref{Num: 1})
		if err != nil {
			t.Fatal(err)
		}
		u.Set(Ref{Num: 1}, source)
		u.Add([]byte("(added)"))
	})
	last := f.sections[0]
	want := Dict{
		"Type": Name("XRef"), "Size": Integer(8), "Prev": Integer(bytes.LastIndex(content, []byte("5 0 obj"))), "Root": Ref{Num: 1},
		"W": Array{Integer(1), Integer(2), Integer(2)}, "Index": Array{Integer(1), Integer(1), Integer(6), Integer(2)},
		"Length": Integer(15), "ID": last.trailer["ID"],
	}
	if diff := cmp.Diff(want, last.trailer); diff != "" || !last.stream {
		t.Errorf("stream: %v\n%s", last.stream, diff)
	}
	for ref, want := range map[Ref]string{{1, 0}: "<< /Type /Catalog /Pages 2 0 R >>", {6, 0}: "(added)"} {
		if e := f.entries.get(ref.Num); e.kind != uncompressedEntry || !bytes.HasPrefix(appended[offsets[ref]:], []byte(want)) {
			t.Errorf("object %v: entry %+v, body at %d", ref, e, offsets[ref])
		}
	}
	if e, want := f.entries.get(7), last.offset; e.offset != want {
		t.Errorf("the stream lists itself at %d, want %d", e.offset, want)
	}
}

// A table without XRefStm continues a hybrid file; what the old XRefStm lists stays reachable.
func TestUpdateOfHybridFile(t *testing.T) {
	content := hybridFile()
	f := mustOpen(t, updatedCatalog(t, content))
	if _, ok := f.Trailer()["XRefStm"]; ok || f.sections[0].stream {
		t.Errorf("trailer %v", f.Trailer())
	}
	if n, err := f.PageCount(); n != 1 || err != nil {
		t.Errorf("%d pages, error %v", n, err)
	}
}

// Offsets in the update count from the header, as in the file itself.
func TestUpdateBehindOtherBytes(t *testing.T) {
	for name, content := range map[string][]byte{
		"offsets from the header":     junked("some junk\n"),
		"offsets from the first byte": offsetsFromStart("some junk\n"),
	} {
		updated := updatedCatalog(t, content)
		f := mustOpen(t, updated)
		at := bytes.LastIndex(updated, []byte("1 0 obj"))
		if e := f.entries.get(1); e.offset != int64(at) || f.Trailer()["Prev"] == nil {
			t.Errorf("%s: the catalog is at %d, want %d", name, e.offset, at)
		}
		if _, err := f.Page(1); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUpdateFileIdentifier(t *testing.T) {
	tests := map[string]struct {
		id   string
		kept String
	}{
		"14.4 first part stays": {"/ID [<0102> <0304>]", "\x01\x02"},
		"indirect":              {"/ID 2 0 R", "first"},
		"missing":               {"", ""},
		"no pair":               {"/ID [(x)]", ""},
		"no strings":            {"/ID [1 2]", ""},
		"no array":              {"/ID /x", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBuilder()
			b.object(1, "<< /Type /Catalog >>")
			b.object(2, "[(first) 3 0 R]")
			content := b.table(3, "/Root 1 0 R "+test.id)
			first := mustOpen(t, updatedCatalog(t, content)).Trailer()["ID"].(Array)
			second := mustOpen(t, updatedCatalog(t, content)).Trailer()["ID"].(Array)
			if len(first) != 2 || len(first[1].(String)) != 16 || first[1] == second[1] {
				t.Errorf("%q, and then %q", first, second)
			}
			if test.kept == "" {
				test.kept = first[1].(String)
			}
			if first[0] != test.kept {
				t.Errorf("%q, want %q first", first, test.kept)
			}
		})
	}
}

func TestUpdateNumbers(t *testing.T) {
	tests := map[string]struct {
		size int
		used []int
		want uint32
	}{
		"next to the highest":      {4, []int{1, 3}, 4},
		"Size promises more":       {10, []int{1, 3}, 10},
		"Size promises too little": {2, []int{1, 7}, 8},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBuilder()
			for _, num := range test.used {
				b.object(num, "<< /Type /Catalog >>")
			}
			u := mustOpen(t, b.table(test.size, "/Root 1 0 R")).NewUpdate()
			first, second := u.Reserve(), u.Add([]byte("2"))
			if first.Num != test.want || second.Num != test.want+1 || first.Gen != 0 {
				t.Errorf("%v and %v, want %d and the next", first, second, test.want)
			}
			u.Set(Ref{Num: 100}, []byte("100"))
			if ref := u.Reserve(); ref.Num != 101 {
				t.Errorf("%v behind object 100", ref)
			}
		})
	}
}

// What a reference to no object names stays null (7.3.10): neither an object nor the cross-reference stream of
// an update takes its number.
func TestUpdateKeepsDanglingReferencesNull(t *testing.T) {
	dangling := []Ref{{Num: 6}, {Num: 8}, {Num: 9}}
	stream := newBuilder()
	stream.object(1, "<< /Type /Catalog /Pages 2 0 R /Dangling [6\n0 R] >>")
	compressed := stream.objectStream(4, map[int]string{
		2: "<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 595 842] >>",
		3: "<< /Type /Page /Parent 2 0 R /Dangling [0000000008 00000 R 9  0  R (7 R 7 0R)] >>",
	})
	content := stream.xrefStream(5, 6, compressed, "/Root 1 0 R")
	for name, open := range map[string]func() (*File, error){
		"stream":  func() (*File, error) { return Open(bytes.NewReader(content), int64(len(content))) },
		"rebuilt": func() (*File, error) { return Rebuild(bytes.NewReader(content), int64(len(content))) },
	} {
		t.Run(name, func(t *testing.T) {
			f, err := open()
			if err != nil {
				t.Fatal(err)
			}
			u := f.NewUpdate()
			if added := u.Add([]byte("(added)")); added.Num != 7 {
				t.Errorf("object %d is added, want 7", added.Num)
			}
			appended, _, err := u.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			updated := mustOpen(t, slices.Concat(content, appended))
			for _, ref := range dangling {
				if o, err := updated.Object(ref); o != nil || err != nil {
					t.Errorf("object %d was null and is %v, error %v", ref.Num, o, err)
				}
			}
			if e := updated.entries.get(10); e.offset != updated.sections[0].offset {
				t.Errorf("entry of object 10: %+v, and the stream is at %d", e, updated.sections[0].offset)
			}
			if size := updated.Trailer()["Size"]; size != Integer(11) {
				t.Errorf("Size %v, want 11", size)
			}
		})
	}
}

func TestUpdateSource(t *testing.T) {
	u := mustOpen(t, tableFile()).NewUpdate()
	u.Set(Ref{Num: 2}, []byte("(changed)"))
	for num, want := range map[uint32]string{1: "<< /Type /Catalog /Pages 2 0 R >>", 2: "(changed)", 9: "null"} {
		if got, err := u.Source(Ref{Num: num}); string(got) != want || err != nil {
			t.Errorf("object %d: %s, error %v; want %s", num, got, err, want)
		}
	}
}

func TestUpdateOfNothing(t *testing.T) {
	u := mustOpen(t, tableFile()).NewUpdate()
	u.Reserve()
	if appended, offsets, err := u.Bytes(); len(appended) != 0 || len(offsets) != 0 || err != nil {
		t.Errorf("%q, %v, error %v", appended, offsets, err)
	}
}

func TestUpdateRefuses(t *testing.T) {
	tests := map[string]struct {
		ref  Ref
		want error
	}{
		"other generation": {Ref{1, 1}, ErrDamaged},
		"object 0":         {Ref{0, 0}, ErrDamaged},
		"number too high":  {Ref{maxObjectNumber, 0}, ErrLimit},
		"highest number":   {Ref{math.MaxUint32, 0}, ErrLimit},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			u := mustOpen(t, tableFile()).NewUpdate()
			u.Set(test.ref, []byte("null"))
			if _, _, err := u.Bytes(); !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
		})
	}
	u := mustOpen(t, tableFile()).NewUpdate()
	u.Set(Ref{9, 0}, []byte("1"))
	u.Set(Ref{9, 1}, []byte("2"))
	if _, _, err := u.Bytes(); !errors.Is(err, ErrDamaged) {
		t.Errorf("two generations of one number: error %v, want ErrDamaged", err)
	}
}

// Offsets beyond ten digits do not fit into a table, but into a stream.
func TestUpdateOfHugeFile(t *testing.T) {
	const size = 20_000_000_000
	for name, test := range map[string]struct {
		content []byte
		want    error
	}{
		"table": {tableFile(), ErrLimit}, "stream": {streamFile(), nil},
	} {
		f := mustOpen(t, test.content)
		f.r, f.size = endless{}, size
		u := f.NewUpdate()
		u.Add([]byte("1"))
		appended, _, err := u.Bytes()
		if !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", name, err, test.want)
		}
		if err == nil && !strings.Contains(string(appended), "/W [1 5 2]") {
			t.Errorf("%s: %q", name, appended)
		}
	}
}

// endless has zeros at every offset.
type endless struct{}

func (endless) ReadAt(b []byte, _ int64) (int, error) { clear(b); return len(b), nil }

// Many updates on each kind of file, checked by a foreign reader.
func TestUpdatesAreCleanForQPDF(t *testing.T) {
	qpdf := testenv.Program(t, "qpdf")
	for name, content := range map[string][]byte{"table": tableFile(), "stream": streamFile(), "hybrid": hybridFile()} {
		for range 20 {
			content = updatedCatalog(t, content)
		}
		path := filepath.Join(t.TempDir(), name+".pdf")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if output, err := exec.CommandContext(t.Context(), qpdf, "--check", path).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, output)
		}
		if revisions, err := mustOpen(t, content).Revisions(); len(revisions) != 21 || err != nil {
			t.Errorf("%s: revisions %v, error %v", name, revisions, err)
		}
	}
}
