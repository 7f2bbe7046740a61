package pdf

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
)

// TestRevisions checks where the revisions of a file end.
func TestRevisions(t *testing.T) {
	table, stream := tableFile(), streamFile()
	once := mustResetCatalog(t, stream)
	twice := mustResetCatalog(t, once)
	linearized := linearizedFile()
	lastMarker := func(content []byte) int64 { return int64(bytes.LastIndex(content, []byte("%%EOF")) + len("%%EOF")) }
	for name, test := range map[string]struct {
		content []byte
		want    []int64
	}{
		"table":                  {table, []int64{lastMarker(table)}},
		"stream":                 {stream, []int64{lastMarker(stream)}},
		"two updates":            {twice, []int64{lastMarker(stream), lastMarker(once), lastMarker(twice)}},
		"linearized file":        {linearized, []int64{lastMarker(linearized)}},
		"other bytes at the end": {append(slices.Clone(table), "\njunk"...), []int64{lastMarker(table)}},
		"no end-of-file marker":  {bytes.TrimSuffix(table, []byte("%%EOF\n")), nil},
	} {
		expect(t, name, test.want)(mustOpen(t, test.content).Revisions())
	}
}

// linearizedFile returns a file whose first section is at its start and names a section at its end (Annex F).
func linearizedFile() []byte {
	b := newBuilder("<< >>")
	first := fmt.Sprintf("xref\n1 1\n%010d 00000 n \ntrailer\n<< /Size 3 /Prev %%010d /Root 1 0 R >>\nstartxref\n0\n%%%%%%%%EOF\n", b.rows[1][1])
	at := b.Len()
	second := at + len(fmt.Sprintf(first, 0))
	const object = "2 0 obj\n7\nendobj\n"
	fmt.Fprintf(b, first, second+len(object))
	fmt.Fprintf(b, "%sxref\n0 1\n0000000000 65535 f \n2 1\n%010d 00000 n \ntrailer\n<< /Size 3 >>\nstartxref\n%d\n%%%%EOF", object, second, at)
	return b.Bytes()
}

// TestEarlier checks that an earlier revision uses the work budget of the file.
func TestEarlier(t *testing.T) {
	before := tableFile()
	size := int64(len(before))
	f := mustOpen(t, mustResetCatalog(t, before))
	work := f.work
	earlier, err := f.EarlierRevision(size)
	if err != nil || earlier.Size() != size || len(earlier.sections) != 1 || len(f.sections) != 2 {
		t.Fatalf("got %+v, error %v", earlier, err)
	}
	if f.work < work+size {
		t.Errorf("reading the earlier revision took %d of the budget, less than its size %d", f.work-work, size)
	}
	f.spend(minWork + workPerByte*f.size)
	expect(t, "earlier revision", ErrLimit)(nil, earlier.CheckBudget())
	expect(t, "opening another revision", ErrLimit)(f.EarlierRevision(size))
}

// TestChangedSince checks which objects an update may change. An object in an object stream may change because the
// object stream or its Length does.
func TestChangedSince(t *testing.T) {
	b := newBuilder(catalogText, pagesText, "<< /Type /ObjStm /N 1 /First 4 /Length 4 0 R >>\nstream\n7 0 (a)\nendstream (b)\nendstream", "7")
	b.row(7, 2, 3, 0)
	withLength := b.xrefStream("") // object 8, and in an update object 9
	with := func(entries string) []byte {
		b := newBuilder(catalogText, pagesText, streamBody("/Type /ObjStm "+entries, "7 0 (a) (b)"), "4", "4 0 R")
		b.row(7, 2, 3, 0)
		return b.xrefStream("")
	}
	nested := newBuilder(catalogText, pagesText, streamBody("/Type /ObjStm /N 1 /First 8 0 R", "7 0 (a) (b)"), "4",
		streamBody("/Type /ObjStm /N 1 /First 4 0 R", "8 0 4   8"))
	nested.row(7, 2, 3, 0)
	nested.row(8, 2, 5, 0)
	outside := newBuilder(catalogText, pagesText, pageText)
	outside.row(4, 1, 99999999, 0)
	for name, test := range map[string]struct {
		content []byte
		bodies  map[uint32]string
		want    []uint32
	}{
		"no update":                      {tableFile(), nil, nil},
		"object replaced":                {tableFile(), map[uint32]string{3: "<< >>"}, []uint32{3}},
		"object added":                   {tableFile(), map[uint32]string{99: "<< >>"}, []uint32{99}},
		"compressed object replaced":     {streamFile(), map[uint32]string{3: "<< >>"}, []uint32{3, 6}},
		"object stream replaced":         {streamFile(), map[uint32]string{4: streamBody("/Type /ObjStm /N 0 /First 0", "")}, []uint32{1, 2, 3, 4, 6}},
		"Length changed to a wrong one":  {withLength, map[uint32]string{4: "6"}, []uint32{4, 9}},
		"Length changed to a longer one": {withLength, map[uint32]string{4: "21"}, []uint32{4, 7, 9}},
		"Length changed to a stream":     {withLength, map[uint32]string{4: streamBody("", "")}, []uint32{4, 9}},
		"entry outside both revisions":   {outside.table(""), map[uint32]string{3: "<< >>"}, []uint32{3}},
		"First changed":                  {with("/N 1 /First 4 0 R"), map[uint32]string{4: "8"}, []uint32{4, 7, 9}},
		"First changed by a chain":       {with("/N 1 /First 5 0 R"), map[uint32]string{4: "8"}, []uint32{4, 7, 9}},
		"First in such an object stream": {nested.xrefStream(""), map[uint32]string{4: "8"}, []uint32{4, 7, 8, 10}},
		"N changed":                      {with("/N 4 0 R /First 4"), map[uint32]string{4: "0"}, []uint32{4, 7, 9}},
		"missing Filter added":           {with("/N 1 /First 4 /Filter 99 0 R"), map[uint32]string{99: "/AHx"}, []uint32{7, 99, 100}},
		"missing DecodeParms added":      {with("/N 1 /First 4 /DecodeParms 99 0 R"), map[uint32]string{99: "<< >>"}, []uint32{99, 100}},
	} {
		now := mustOpen(t, withObjects(t, test.content, test.bodies))
		expect(t, name, test.want)(now.ChangedSince(mustOpen(t, test.content)), nil)
	}
}

// TestChangedSinceAppended checks that an object changes if its entry in the earlier revision has the offset of the
// end of that revision, and the update has the object there.
func TestChangedSinceAppended(t *testing.T) {
	build := func(end int) (*builder, int) {
		b := newBuilder(catalogText, pagesText, pageText)
		b.row(4, 1, end, 0)
		return b, len(b.table(""))
	}
	_, end := build(0)
	b, _ := build(end)
	b.object(4, "7")
	delete(b.rows, 4) // the update does not list the object
	updated := len(b.table(""))
	for _, sizes := range [][]int{{end, updated}, {updated, end}} { // the section is cached by the first one that is opened
		f := mustOpen(t, b.table(""))
		revisions := make(map[int]*File)
		for _, size := range sizes {
			revisions[size] = must(f.EarlierRevision(int64(size)))
		}
		expect(t, sizes, []uint32{4})(revisions[updated].ChangedSince(revisions[end]), nil)
	}
}
