package inspect_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades/inspect"
)

// TestReadFault checks that an error of the reader, in whichever read it occurs, is returned: warnings may be missing.
func TestReadFault(t *testing.T) {
	b := pdftest.Build(pdftest.Options{})
	for n := 1; ; n++ {
		r := &faultyReader{bytes.NewReader(b), n}
		_, err := inspect.PDF(t.Context(), r, int64(len(b)))
		if r.left > 0 { // no read failed
			if err != nil || n < 5 {
				t.Errorf("after %d reads: %v", n-1, err)
			}
			return
		}
		if !errors.Is(err, errFaultyReader) {
			t.Errorf("read %d: got %v, want the error of the reader", n, err)
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
