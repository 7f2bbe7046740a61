package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestUpdateTable compares the text of an update of a file with a cross-reference table.
func TestUpdateTable(t *testing.T) {
	b := newBuilder("<< /Type /Catalog >>")
	b.objectGen(4, 2, "(old)")
	content := b.table("/Size 9 /Root 1 0 R /Info 4 2 R /ID [(\x01) (\x02)] /Extra [ 1 %c\n ] /XRefStm_ 1")
	u := mustOpen(t, bytes.TrimSuffix(content, []byte("\n"))).NewUpdate()
	u.Set(Ref{Num: 4, Gen: 2}, []byte("(new)"))
	u.Set(Ref{Num: 5}, []byte("(free before)"))
	u.Add([]byte("[9]"))
	appended, offsets, err := u.Bytes()
	at := len(content)
	want := "\n4 2 obj\n(new)\nendobj\n5 0 obj\n(free before)\nendobj\n9 0 obj\n[9]\nendobj\n" +
		"xref\n4 2\n" + fmt.Sprintf("%010d 00002 n \n%010d 00000 n \n9 1\n%010d 00000 n \n", at, at+21, at+50) +
		fmt.Sprintf("trailer\n<< /Size 10 /Prev %d /Root 1 0 R /Info 4 2 R /Extra [ 1 %%c\n ] /XRefStm_ 1 /ID [<01> <new>] >>\n", b.last) +
		fmt.Sprintf("startxref\n%d\n%%%%EOF\n", at+69)
	got := regexp.MustCompile(`<[0-9a-f]{32}>\]`).ReplaceAllString(string(appended), "<new>]")
	expect(t, "appended bytes", want)(got, err)
	expect(t, "offsets", map[Ref]int64{{4, 2}: 9, {5, 0}: 30, {9, 0}: 59})(offsets, err)
}

// TestUpdateStream checks an update of a file with a cross-reference stream. An object of an object stream is
// uncompressed after the update.
func TestUpdateStream(t *testing.T) {
	content := streamFile()
	f := mustOpen(t, withObjects(t, content, map[uint32]string{1: catalogText, 6: "(added)"}))
	last := f.sections[0]
	want := Dict{
		"Type": Name("XRef"), "Size": Integer(8), "Prev": Integer(bytes.LastIndex(content, []byte("5 0 obj"))), "Root": Ref{Num: 1},
		"W": Array{Integer(1), Integer(2), Integer(2)}, "Index": Array{Integer(1), Integer(1), Integer(6), Integer(2)},
		"Length": Integer(15), "ID": last.trailer["ID"],
	}
	expect(t, "trailer", want)(last.trailer, nil)
	for num, want := range map[uint32]string{1: catalogText, 6: "(added)"} {
		expect(t, num, want)(f.Source(Ref{Num: num}))
		expect(t, num, uncompressedEntry)(f.entries.get(num).kind, nil)
	}
	expect(t, "entry of the stream itself", last.offset)(f.entries.get(7).offset, nil)
}

// TestUpdates checks files of each kind after 20 updates: the section of an update is a stream if the last section of
// the file is one, and its offsets are relative to the same byte.
func TestUpdates(t *testing.T) {
	for name, content := range map[string][]byte{
		"table": tableFile(), "stream": streamFile(), "hybrid": hybridFile(),
		"other bytes before the header": append([]byte("other bytes\n"), tableFile()...),
		"offsets from the first byte":   newBuilderAfter("other bytes\n", catalogText, pagesText, pageText).table(""),
	} {
		t.Run(name, func(t *testing.T) {
			updated := content
			for range 20 {
				updated = mustResetCatalog(t, updated)
			}
			f := mustOpen(t, updated)
			expect(t, "page 1", &onePage)(f.Page(1))
			revisions, err := f.Revisions()
			expect(t, "revisions", 21)(len(revisions), err)
			expect(t, "offset", int64(bytes.LastIndex(updated, []byte("1 0 obj"))))(f.entries.get(1).offset, nil)
			_, hybrid := f.Trailer()["XRefStm"]
			expect(t, "XRefStm", false)(hybrid, nil)
			expect(t, "last section is a stream", name == "stream")(f.sections[0].isStream, nil)
			if !strings.Contains(name, "byte") { // qpdf reports other bytes before the header
				checkWithQPDF(t, updated)
			}
		})
	}
}

// TestUpdateFileIdentifier checks that the first part of ID stays, and that the second part is new (14.4).
func TestUpdateFileIdentifier(t *testing.T) {
	for id, first := range map[string]String{
		"[<0102> <0304>]": "\x01\x02", "2 0 R": "first", "null": "", "[(x)]": "", "[1 2]": "", "/x": "",
	} {
		content := newBuilder("<< /Type /Catalog >>", "[(first) 3 0 R]").table("/ID " + id)
		one := mustOpen(t, mustResetCatalog(t, content)).Trailer()["ID"].(Array)
		two := mustOpen(t, mustResetCatalog(t, content)).Trailer()["ID"].(Array)
		if first == "" {
			first = one[1].(String)
		}
		if len(one) != 2 || one[0] != first || len(one[1].(String)) != 16 || one[1] == two[1] {
			t.Errorf("ID %s: got %q, and in another update %q; want %q first", id, one, two, first)
		}
	}
}

// TestReserve checks the numbers of new objects.
func TestReserve(t *testing.T) {
	for name, test := range map[string]struct {
		size, highest int
		want          uint32
	}{
		"after the highest number": {4, 3, 4},
		"Size is higher":           {10, 3, 10},
		"Size is too low":          {2, 7, 8},
	} {
		b := newBuilder("<< /Type /Catalog >>")
		b.object(test.highest, "null")
		u := mustOpen(t, b.table(fmt.Sprintf("/Size %d", test.size))).NewUpdate()
		got := []Ref{u.Reserve(), u.Add([]byte("2"))}
		u.Set(Ref{Num: 100}, []byte("100"))
		got = append(got, u.Reserve())
		if want := []Ref{{Num: test.want}, {Num: test.want + 1}, {Num: 101}}; !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

// TestDanglingReferences checks that neither an object nor the cross-reference stream of an update takes a number that
// a reference names: a reference to a missing object is null (7.3.10) and stays null.
func TestDanglingReferences(t *testing.T) {
	b := newBuilder("<< /Type /Catalog /Pages 2 0 R /Dangling [6\n0 R] >>")
	b.objectStream(4, map[int]string{
		2: pagesText,
		3: "<< /Type /Page /Parent 2 0 R /Dangling [0000000008 00000 R 9  0  R (7 R 7 0R)] >>",
	})
	content := b.xrefStream("")
	for name, open := range map[string]func([]byte) (*File, error){"opened": open, "rebuilt": rebuild} {
		t.Run(name, func(t *testing.T) {
			f := must(open(content))
			u := f.NewUpdate()
			expect(t, "new object", Ref{Num: 7})(u.Add([]byte("(added)")), nil)
			updated := mustOpen(t, apply(t, content, u))
			for _, num := range []uint32{6, 8, 9} {
				expect(t, num, nil)(updated.Object(Ref{Num: num}))
			}
			expect(t, "entry of the stream", updated.sections[0].offset)(updated.entries.get(10).offset, nil)
			expect(t, "Size", Integer(11))(updated.Trailer()["Size"], nil)
		})
	}
}

// TestUpdateSource checks the source text of objects with and without a body in the update, and that an update
// without bodies is empty.
func TestUpdateSource(t *testing.T) {
	u := mustOpen(t, tableFile()).NewUpdate()
	u.Reserve()
	if appended, offsets, err := u.Bytes(); len(appended) != 0 || len(offsets) != 0 || err != nil {
		t.Errorf("update without bodies: %q, %v, error %v", appended, offsets, err)
	}
	u.Set(Ref{Num: 2}, []byte("(changed)"))
	for num, want := range map[uint32]string{1: catalogText, 2: "(changed)", 9: "null"} {
		expect(t, num, want)(u.Source(Ref{Num: num}))
	}
}

// TestAttempt checks that a failed attempt leaves the update unchanged, with the numbers of its objects.
func TestAttempt(t *testing.T) {
	u := mustOpen(t, tableFile()).NewUpdate()
	kept := u.Add([]byte("(kept)"))
	for _, test := range []struct {
		err  error
		want string
	}{{errors.New("failed"), "(kept)"}, {nil, "(changed)"}} {
		var added Ref
		err := u.Attempt(func(draft *Update) error {
			draft.Set(kept, []byte("(changed)"))
			added = draft.Add([]byte("(added)"))
			return test.err
		})
		if source, _ := u.Source(kept); err != test.err || string(source) != test.want || added.Num != kept.Num+1 {
			t.Errorf("error %v: object %v is %s, added %v; want error %v and %s", err, kept, source, added, test.err, test.want)
		}
	}
}

// TestUpdateRefuses checks which object numbers and generations an update refuses.
func TestUpdateRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		refs []Ref
		want error
	}{
		"generation differs from the file's": {[]Ref{{1, 1}}, ErrDamaged},
		"object 0":                           {[]Ref{{0, 0}}, ErrDamaged},
		"two generations of one number":      {[]Ref{{9, 0}, {9, 1}}, ErrDamaged},
		"highest number of PDF":              {[]Ref{{maxObjectNumber, 0}}, ErrLimit}, // none is left for a stream
		"highest number of 32 bits":          {[]Ref{{math.MaxUint32, 0}}, ErrLimit},
	} {
		u := mustOpen(t, tableFile()).NewUpdate()
		for _, ref := range test.refs {
			u.Set(ref, []byte("null"))
		}
		if _, _, err := u.Bytes(); !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", name, err, test.want)
		}
	}
}

// TestUpdateOfHugeFile checks that a stream has a wide field for large offsets. The ten digits of a table are not
// sufficient for the offsets of this file.
func TestUpdateOfHugeFile(t *testing.T) {
	for name, content := range map[string][]byte{"table": tableFile(), "stream": streamFile()} {
		f := mustOpen(t, content)
		f.r, f.size = endless{}, 20_000_000_000
		u := f.NewUpdate()
		u.Add([]byte("1"))
		appended, _, err := u.Bytes()
		if wide := strings.Contains(string(appended), "/W [1 5 2]"); errors.Is(err, ErrLimit) != (name == "table") || wide != (name == "stream") {
			t.Errorf("%s: error %v, appended %q", name, err, appended)
		}
	}
}

// endless has zeros at every offset.
type endless struct{}

func (endless) ReadAt(b []byte, _ int64) (int, error) { clear(b); return len(b), nil }
