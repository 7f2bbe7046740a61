package stamp_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/stamp"
)

// TestReadFault checks that an error of the reader, in whichever read it occurs, is returned and not taken for a damaged page:
// annotations may be missing, over which a stamp must not be placed.
func TestReadFault(t *testing.T) {
	b := pdftest.Build(pdftest.Options{
		Kind: pdftest.Stream, Page: "/Annots 100 0 R",
		Objects: []string{"[101 0 R]", "<< /Type /Annot /Subtype /Square /Rect [100 100 200 200] >>"},
	})
	for name, read := range map[string]func(r io.ReaderAt) error{
		"ReadPage": func(r io.ReaderAt) error { _, err := stamp.ReadPage(r, int64(len(b)), 1); return err },
		"Sizes":    func(r io.ReaderAt) error { _, _, err := stamp.Sizes(r, int64(len(b)), 10); return err },
	} {
		for n := 1; ; n++ {
			r := &faultyReader{bytes.NewReader(b), n}
			err := read(r)
			if r.left > 0 { // no read failed
				if err != nil || n < 4 {
					t.Errorf("%s: after %d reads: %v", name, n-1, err)
				}
				break
			}
			if !errors.Is(err, errFaultyReader) {
				t.Errorf("%s: read %d: got %v, want the error of the reader", name, n, err)
			}
		}
	}
}

var errFaultyReader = errors.New("connection lost")

// faultyReader fails in one read, after left-1 others.
type faultyReader struct {
	io.ReaderAt
	left int
}

func (r *faultyReader) ReadAt(b []byte, at int64) (int, error) {
	if r.left--; r.left == 0 {
		return 0, errFaultyReader
	}
	return r.ReaderAt.ReadAt(b, at)
}
