package pdf

import (
	"fmt"
	"strings"
	"testing"
)

// TestImport checks the source texts of imported objects.
func TestImport(t *testing.T) {
	for name, test := range map[string]struct {
		objects      map[int]string
		source, want string
		copies       map[Ref]string
	}{
		// Text is copied unchanged, each object is copied once, cycles end, and the Length of a stream becomes direct.
		"objects and streams": {
			map[int]string{
				9:  "[ 10  0\nR/A%6 0 R\n(11 0 R) 10 0 R]",
				10: "<</A 9 0 R/B<</Length 12 0 R>>/C 1.50 >>",
				11: "<< /Length 12 0 R /Of [10 0 R] >>\nstream\n9 0 R\nendstream",
				12: "5",
			}, "<</X 9 0 R/Y 11 0 R>>", "<</X 5 0 R/Y 6 0 R>>",
			map[Ref]string{
				{Num: 5}: "[ 7 0 R/A%6 0 R\n(11 0 R) 7 0 R]",
				{Num: 6}: "<< /Length 5 /Of [7 0 R] >>\nstream\n9 0 R\nendstream",
				{Num: 7}: "<</A 5 0 R/B<</Length 8 0 R>>/C 1.50 >>",
				{Num: 8}: "5",
			},
		},
		// References to the catalog, to nodes of the page tree and to missing objects become null.
		"references that are not followed": {
			map[int]string{
				9:  "[1 0 R 2 0 R 3 0 R 4 0 R 6 0 R 10 0 R]",
				10: "<< /Parent 6 0 R /StructParents 0 /StructParent 1 /Gone 99 0 R /Wrong 9 1 R >>",
			}, "9 0 R", "5 0 R",
			map[Ref]string{
				{Num: 5}: "[null null null null null 6 0 R]",
				{Num: 6}: "<< /Parent null /StructParents null /StructParent null /Gone null /Wrong null >>",
			},
		},
		"object streams": {
			nil, "7 0 R", "5 0 R",
			map[Ref]string{{Num: 5}: "<< /A 6 0 R >>", {Num: 6}: "(compressed)"},
		},
	} {
		got, copies, err := importFrom(t, test.objects, test.source)
		expect(t, name, test.want)(got, err)
		expect(t, name, test.copies)(copies, err)
	}
}

// TestImportRefuses checks what Import does not copy.
func TestImportRefuses(t *testing.T) {
	many, all := map[int]string{}, "["
	for i := range maxImported + 1 {
		many[10+i] = "null"
		all += fmt.Sprintf("%d 0 R ", 10+i)
	}
	large := strings.Repeat("x", maxImportedBytes*2/3)
	stream := streamBody("", large)
	for name, test := range map[string]struct {
		objects map[int]string
		source  string
		want    error
	}{
		"too many objects":           {many, all + "]", ErrLimit},
		"too many bytes of text":     {map[int]string{10: "(" + large + ")", 11: "(" + large + ")"}, "[10 0 R 11 0 R]", ErrLimit},
		"too many bytes of streams":  {map[int]string{10: stream, 11: stream}, "[10 0 R 11 0 R]", ErrLimit},
		"stream that is too long":    {map[int]string{10: streamBody("", large+large)}, "10 0 R", ErrLimit},
		"payload in another file":    {map[int]string{10: streamBody("/F (/etc/passwd)", "")}, "10 0 R", ErrUnsupported},
		"stream without an end":      {map[int]string{10: "<< /Length 3 >>\nstream\n12345678901234567890\n"}, "10 0 R", ErrDamaged},
		"source text is not correct": {nil, "<< /A >>", ErrDamaged},
	} {
		got, _, err := importFrom(t, test.objects, test.source)
		expect(t, name, test.want)(got, err)
	}
	encrypted := mustOpen(t, streamFile())
	encrypted.Trailer()["Encrypt"] = Dict{}
	expect(t, "encrypted file", ErrEncrypted)(mustOpen(t, streamFile()).NewUpdate().Import(encrypted, []byte("1 0 R")))
}

// importFrom imports source from a file with objects into an update of another file. The first new number is 5.
// It returns the imported source and the copies of the objects. The file has two pages, the objects 4 and 6. If objects
// is nil, it has an object stream with the objects 7 and 8.
func importFrom(t testing.TB, objects map[int]string, source string) (string, map[Ref]string, error) {
	t.Helper()
	b := newBuilder(catalogText, "<< /Kids [3 0 R 4 0 R] >>", "<< /Kids [6 0 R] >>", "<< /Resources 9 0 R >>")
	b.object(6, "<< /Resources 9 0 R >>")
	for num, body := range objects {
		b.object(num, body)
	}
	file := b.table
	if objects == nil {
		b.objectStream(9, map[int]string{7: "<< /A 8 0 R >>", 8: "(compressed)"})
		file = b.xrefStream
	}
	u := mustOpen(t, newBuilder("<< /Type /Catalog >>").table("/Size 5")).NewUpdate()
	imported, err := u.Import(mustOpen(t, file("")), []byte(source))
	copies := map[Ref]string{}
	for ref, body := range u.bodies {
		copies[ref] = string(body)
	}
	return string(imported), copies, err
}

// FuzzImport imports any objects, and checks that the copies can be read.
func FuzzImport(f *testing.F) {
	for _, seed := range [][]string{
		{"<< /Kids [3 0 R] >>", "<< >>", "<< /StructParents 0 /A [3 0 R 5 0 R] >>", streamBody("/Of 4 0 R /Length 6 0 R", "x")},
		{"[1 0 R 2 0 R", "3 0 R", "<</A 5 0 R/A(5 0 R)>>", "6 0 R%5 0 R\n"},
	} {
		f.Add(strings.Join(seed, fuzzSeparator))
	}
	f.Fuzz(func(t *testing.T, bodies string) {
		source, err := open(treeFile(strings.Split(bodies, fuzzSeparator)...))
		if err != nil {
			return
		}
		u := mustOpen(t, tableFile()).NewUpdate()
		imported, err := u.Import(source, []byte("[1 0 R 2 0 R 3 0 R 4 0 R 5 0 R 6 0 R]"))
		if checkError(t, err); err != nil {
			return
		}
		u.Add(imported)
		appended, offsets, err := u.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		whole := mustOpen(t, append(tableFile(), appended...))
		for ref := range offsets {
			if _, err := whole.Object(ref); err != nil {
				t.Errorf("object %s: %v", ref, err)
			}
		}
	})
}
