package stamp

import (
	"errors"
	"io"
	"sync"
)

// watched is a reader that remembers its first error: a renderer takes it for the end of the
// document, or for damage.
type watched struct {
	io.ReaderAt
	lock  sync.Mutex
	first error
}

func (w *watched) ReadAt(p []byte, offset int64) (int, error) {
	n, err := w.ReaderAt.ReadAt(p, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		w.lock.Lock()
		defer w.lock.Unlock()
		if w.first == nil {
			w.first = err
		}
	}
	return n, err
}

func (w *watched) failure() error {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.first
}
