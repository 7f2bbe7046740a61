package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// importFrom imports source from a file with the objects into an update of another file,
// whose first free number is 5, and returns what it became and the bodies of the copies.
func importFrom(t testing.TB, objects map[int]string, source string) (string, map[Ref]string, error) {
	t.Helper()
	from := newBuilder()
	from.object(1, "<< /Pages 2 0 R >>")
	from.object(2, "<< /Kids [3 0 R 4 0 R] >>")
	from.object(3, "<< /Kids [5 0 R] >>")
	from.object(4, "<< /Resources 9 0 R >>")
	from.object(5, "<< /Resources 9 0 R >>")
	for _, num := range sortedKeys(objects) {
		from.object(num, objects[num])
	}
	into := newBuilder()
	into.object(1, "<< /Type /Catalog >>")
	u := mustOpen(t, into.table(5, "/Root 1 0 R")).NewUpdate()
	imported, err := u.Import(mustOpen(t, from.table(100, "/Root 1 0 R")), []byte(source))
	bodies := map[Ref]string{}
	for ref, body := range u.bodies {
		bodies[ref] = string(body)
	}
	return string(imported), bodies, err
}

// Text is copied as it stands, objects are copied once, circles end, and Length, which may
// be an object of its own (7.3.8.2), becomes direct.
func TestImport(t *testing.T) {
	got, bodies, err := importFrom(t, map[int]string{
		9:  "[ 10  0\nR/A%6 0 R\n(11 0 R) 10 0 R]",
		10: "<</A 9 0 R/B<</Length 12 0 R>>/C 1.50 >>",
		11: "<< /Length 12 0 R /Of [10 0 R] >>\nstream\n9 0 R\nendstream",
		12: "5",
	}, "<</X 9 0 R/Y 11 0 R>>")
	if err != nil {
		t.Fatal(err)
	}
	if want := "<</X 5 0 R/Y 6 0 R>>"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	want := map[Ref]string{
		{Num: 5}: "[ 7 0 R/A%6 0 R\n(11 0 R) 7 0 R]",
		{Num: 6}: "<< /Length 5 /Of [7 0 R] >>\nstream\n9 0 R\nendstream",
		{Num: 7}: "<</A 5 0 R/B<</Length 8 0 R>>/C 1.50 >>",
		{Num: 8}: "5",
	}
	if diff := cmp.Diff(want, bodies); diff != "" {
		t.Error(diff)
	}
}

// What leads to the rest of the file becomes null, as does what leads nowhere (7.3.10).
func TestImportLeavesTheFileBehind(t *testing.T) {
	got, bodies, err := importFrom(t, map[int]string{
		9:  "[1 0 R 2 0 R 3 0 R 4 0 R 5 0 R 10 0 R]",
		10: "<< /Parent 5 0 R /StructParents 0 /StructParent 1 /Gone 99 0 R /Wrong 9 1 R >>",
	}, "9 0 R")
	if err != nil {
		t.Fatal(err)
	}
	want := map[Ref]string{
		{Num: 5}: "[null null null null null 6 0 R]",
		{Num: 6}: "<< /Parent null /StructParents null /StructParent null /Gone null /Wrong null >>",
	}
	if diff := cmp.Diff(want, bodies); got != "5 0 R" || diff != "" {
		t.Errorf("%s, %s", got, diff)
	}
}

func TestImportIsBounded(t *testing.T) {
	many := map[int]string{}
	var all strings.Builder
	for i := range maxImported + 1 {
		many[10+i] = "null"
		fmt.Fprintf(&all, "%d 0 R ", 10+i)
	}
	large := strings.Repeat("x", maxImportedBytes*2/3)
	for name, test := range map[string]struct {
		objects map[int]string
		source  string
		want    error
	}{
		"objects":         {many, "[" + all.String() + "]", ErrLimit},
		"text":            {map[int]string{10: "(" + large + ")", 11: "(" + large + ")"}, "[10 0 R 11 0 R]", ErrLimit},
		"streams":         {map[int]string{10: streamBody("", []byte(large)), 11: streamBody("", []byte(large))}, "[10 0 R 11 0 R]", ErrLimit},
		"one stream":      {map[int]string{10: streamBody("", []byte(large+large))}, "10 0 R", ErrLimit},
		"external stream": {map[int]string{10: streamBody("/F (/etc/passwd)", nil)}, "10 0 R", ErrUnsupported},
		"length":          {map[int]string{10: "<< /Length 3 >>\nstream\n12345678901234567890\n"}, "10 0 R", ErrDamaged},
		"no object":       {nil, "<< /A >>", ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := importFrom(t, test.objects, test.source); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}

// Payloads are copied as they are encoded, which in an encrypted file is encrypted.
func TestImportRefusesEncryptedFiles(t *testing.T) {
	from := mustOpen(t, streamFile())
	from.Trailer()["Encrypt"] = Dict{}
	if _, err := mustOpen(t, streamFile()).NewUpdate().Import(from, []byte("1 0 R")); !errors.Is(err, ErrEncrypted) {
		t.Error(err)
	}
}

// Objects of object streams are copied too, into files with either kind of section.
func TestImportFromObjectStreams(t *testing.T) {
	from := newBuilder()
	compressed := from.objectStream(4, map[int]string{
		1: "<< /Pages 2 0 R >>", 2: "<< /Kids [3 0 R] >>", 3: "<< >>", 5: "<< /A 6 0 R >>", 6: "(text)",
	})
	content := from.xrefStream(7, 8, compressed, "/Root 1 0 R")
	for name, into := range map[string][]byte{"table": tableFile(), "stream": streamFile()} {
		t.Run(name, func(t *testing.T) {
			var added Ref
			_, _, f := update(t, into, func(u *Update) {
				imported, err := u.Import(mustOpen(t, content), []byte("5 0 R"))
				if err != nil {
					t.Fatal(err)
				}
				added = u.Add(imported)
			})
			dict, err := f.Dict(added)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := f.Bytes(dict["A"]); string(got) != "text" || err != nil {
				t.Errorf("%q, error %v", got, err)
			}
		})
	}
}

// What is imported from any objects can be read where it was imported to.
func FuzzImport(f *testing.F) {
	const separator = "\n--\n"
	for _, seed := range [][]string{
		{"<< /Kids [3 0 R] >>", "<< >>", "<< /StructParents 0 /A [3 0 R 5 0 R] >>", streamBody("/Of 4 0 R /Length 6 0 R", []byte("x"))},
		{"[1 0 R 2 0 R", "3 0 R", "<</A 5 0 R/A(5 0 R)>>", "6 0 R%5 0 R\n"},
	} {
		f.Add(strings.Join(seed, separator))
	}
	f.Fuzz(func(t *testing.T, bodies string) {
		from := treeFile(strings.Split(bodies, separator)...)
		source, err := Open(bytes.NewReader(from), int64(len(from)))
		if err != nil {
			return
		}
		var imported []byte
		into := tableFile()
		u := mustOpen(t, into).NewUpdate()
		if imported, err = u.Import(source, []byte("[1 0 R 2 0 R 3 0 R 4 0 R 5 0 R 6 0 R]")); err != nil {
			if sentinelOf(err) == nil {
				t.Fatalf("error of no kind: %v", err)
			}
			return
		}
		u.Add(imported)
		appended, offsets, err := u.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		whole := mustOpen(t, append(into, appended...))
		for ref := range offsets {
			if _, err := whole.Object(ref); err != nil {
				t.Errorf("object %s: %v", ref, err)
			}
		}
	})
}
