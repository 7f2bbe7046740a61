package env

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

var errReadFault = errors.New("connection lost")

// EachReadFault calls use with readers of content: with the first one the first read fails, with the next one the second, and so
// on, until none fails. The error of use has to be that of the read, and none of others. If no read fails, there must be none.
func EachReadFault(t testing.TB, content []byte, use func(io.ReaderAt) error, others ...error) {
	t.Helper()
	for n := 1; ; n++ {
		r := &faultyReader{bytes.NewReader(content), n}
		err := use(r)
		if r.left > 0 {
			if err != nil || n == 1 {
				t.Errorf("after %d reads, none of which failed: %v", n-1, err)
			}
			return
		}
		if !errors.Is(err, errReadFault) {
			t.Errorf("read %d: got %v, want the error of the reader", n, err)
		}
		for _, other := range others {
			if errors.Is(err, other) {
				t.Errorf("read %d: got %v, want the error of the reader alone", n, err)
			}
		}
	}
}

// faultyReader fails in one read, after left-1 others.
type faultyReader struct {
	io.ReaderAt
	left int
}

func (r *faultyReader) ReadAt(b []byte, at int64) (int, error) {
	if r.left--; r.left == 0 {
		return 0, errReadFault
	}
	return r.ReaderAt.ReadAt(b, at)
}
