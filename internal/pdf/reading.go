package pdf

import (
	"errors"
	"fmt"
	"io"
)

// Reading calls use with a reader of r, and returns its results. If a read of r fails, Reading returns the error of the first
// such read instead, whatever use makes of it: a file that cannot be read now must not be taken for a malformed one.
func Reading[T any](r io.ReaderAt, use func(io.ReaderAt) (T, error)) (T, error) {
	recorder := errorRecorder{r: r}
	result, err := use(&recorder)
	if recorder.err != nil {
		var none T
		return none, recorder.err
	}
	return result, err
}

// errorRecorder is a reader that records the error of the first read that fails.
type errorRecorder struct {
	r   io.ReaderAt
	err error
}

// ReadAt implements [io.ReaderAt].
func (e *errorRecorder) ReadAt(b []byte, at int64) (int, error) {
	n, err := e.r.ReadAt(b, at)
	if n < len(b) && e.err == nil {
		e.err = readFault(len(b), at, err)
	}
	return n, err
}

// readFault returns the error of a read of n bytes inside a file. At the end of the reader it is [io.ErrUnexpectedEOF].
func readFault(n int, at int64, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("pdf: reading %d bytes at %d: %w", n, at, err)
}
