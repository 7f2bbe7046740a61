package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// a4 is page 1 of tableFile and streamFile.
var a4 = &Page{
	Ref:      Ref{Num: 3},
	Dict:     Dict{"Type": Name("Page"), "Parent": Ref{Num: 2}},
	MediaBox: Rect{URX: 595, URY: 842},
	CropBox:  Rect{URX: 595, URY: 842},
	UserUnit: 1,
}

// junked returns a file behind some bytes; offsets count from the header.
func junked(junk string) []byte {
	b := &builder{shift: len(junk)}
	b.WriteString(junk + "%PDF-1.4\n")
	b.begin()
	b.object(1, "<< /Type /Catalog /Pages 2 0 R >>")
	b.object(2, "<< /Type /Pages /Kids [3 0 R] /MediaBox [0 0 595 842] >>")
	b.object(3, "<< /Type /Page /Parent 2 0 R >>")
	return b.table(4, "/Root 1 0 R")
}

func TestOpenReads(t *testing.T) {
	tests := map[string][]byte{
		"7.5.4 table":                            tableFile(),
		"7.5.8 cross-reference stream":           streamFile(),
		"header behind other bytes":              junked(strings.Repeat("x", 19)),
		"header behind the most bytes":           junked(strings.Repeat("x", headerWindow-len("%PDF-"))),
		"offsets that count from the first byte": offsetsFromStart("junk\n"),
		"other bytes at the end":                 append(tableFile(), bytes.Repeat([]byte("junk\n"), 10<<10)...),
		"carriage returns for line feeds":        bytes.ReplaceAll(tableFile(), []byte{'\n'}, []byte{'\r'}),
		"no end of line at the end":              bytes.TrimSpace(tableFile()),
	}
	for name, content := range tests {
		t.Run(name, func(t *testing.T) {
			page, err := mustOpen(t, content).Page(1)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(a4, page); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// offsetsFromStart returns a file whose writer knew of the bytes before the header.
func offsetsFromStart(junk string) []byte {
	b := &builder{}
	b.WriteString(junk + "%PDF-1.4\n")
	b.begin()
	b.object(1, "<< /Type /Catalog /Pages 2 0 R >>")
	b.object(2, "<< /Type /Pages /Kids [3 0 R] /MediaBox [0 0 595 842] >>")
	b.object(3, "<< /Type /Page /Parent 2 0 R >>")
	return b.table(4, "/Root 1 0 R")
}

func TestOpenRefuses(t *testing.T) {
	table := string(tableFile())
	circle := strings.Replace(table, "/Size 4", fmt.Sprintf("/Size 4 /Prev %d", strings.LastIndex(table, "xref\n0")), 1)
	tests := map[string]struct {
		content string
		want    error
	}{
		"nothing":                        {"", ErrNotPDF},
		"another format":                 {"PK\x03\x04 and more", ErrNotPDF},
		"header too far away":            {strings.Repeat(" ", headerWindow) + table, ErrNotPDF},
		"only a header":                  {"%PDF-1.7\n", ErrDamaged},
		"cut off":                        {table[:len(table)/2], ErrDamaged},
		"startxref without an offset":    {"%PDF-1.7\nstartxref\n%%EOF", ErrDamaged},
		"startxref 0":                    {"%PDF-1.7\nstartxref\n0\n%%EOF", ErrDamaged},
		"startxref behind the end":       {"%PDF-1.7\nstartxref\n4000000000\n%%EOF", ErrDamaged},
		"startxref at no section":        {strings.Replace(table, "startxref\n", "startxref\n1", 1), ErrDamaged},
		"startxref too far from the end": {table + strings.Repeat(" ", maxTrailingBytes), ErrDamaged},
		"sections in a circle":           {circle, ErrDamaged},
		"Prev that is no offset":         {strings.Replace(table, "/Size 4", "/Size 4 /Prev (1)", 1), ErrDamaged},
		"no Size":                        {strings.Replace(table, "/Size 4", "", 1), ErrDamaged},
		"Size above all object numbers":  {strings.Replace(table, "/Size 4", "/Size 8388609", 1), ErrDamaged},
		"object number out of bounds":    {strings.Replace(table, "xref\n0 4\n", "xref\n8388605 4\n", 1), ErrLimit},
		"subsection of too many":         {strings.Replace(table, "xref\n0 4\n", "xref\n0 99999999999\n", 1), ErrDamaged},
		"encrypted":                      {strings.Replace(table, "/Size 4", "/Size 4 /Encrypt 9 0 R", 1), ErrEncrypted},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Open(strings.NewReader(test.content), int64(len(test.content)))
			if !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
		})
	}
}

func TestOpenPassesOnReadErrors(t *testing.T) {
	content := tableFile()
	_, err := Open(bytes.NewReader(content), int64(len(content))+1)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v, want %v", err, io.ErrUnexpectedEOF)
	}
}

// updatedCatalog returns content with an update that changes nothing.
func updatedCatalog(t testing.TB, content []byte) []byte {
	t.Helper()
	updated, err := resetCatalog(mustOpen(t, content), content)
	if err != nil {
		t.Fatal(err)
	}
	return updated
}

// updatedTail returns what an update appends.
func updatedTail(t testing.TB, content []byte) []byte {
	return updatedCatalog(t, slices.Clone(content))[len(content):]
}
