package pdf

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// What Rebuild refuses to write on can be read still: a file that is signed, and one with an object that cannot be
// read.
func TestSalvage(t *testing.T) {
	table := string(tableFile())
	for name, content := range map[string]string{
		"signed":                        strings.Replace(table, "/Type /Page ", "/ByteRange [0 1 2 3] /Type /Page ", 1),
		"an object that cannot be read": strings.Replace(table, "xref\n0", "77 0 obj\n<< /X 1.2.3 >>\nendobj\nxref\n0", 1),
	} {
		b := []byte(moved(content, "startxref\n", 7))
		if _, err := Rebuild(bytes.NewReader(b), int64(len(b))); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: rebuilt: %v", name, err)
		}
		f, err := RebuildForReading(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := f.Page(1); err != nil {
			t.Errorf("%s: page: %v", name, err)
		}
		if ends, err := f.Revisions(); err != nil || len(ends) > 0 {
			t.Errorf("%s: revisions %v, %v", name, ends, err)
		}
	}
	if _, err := RebuildForReading(strings.NewReader("GIF89a"), 6); !errors.Is(err, ErrNotPDF) {
		t.Errorf("no PDF: %v", err)
	}
}
