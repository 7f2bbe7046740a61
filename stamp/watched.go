package stamp

import (
	"errors"
	"io"
	"sync"
)

// Watched is a document that remembers the first error of reading it: a [Renderer] takes that for the
// end of the document, or for damage.
type Watched struct {
	document io.ReaderAt
	lock     sync.Mutex
	first    error
}

// Watch returns the document, watched.
func Watch(document io.ReaderAt) *Watched { return &Watched{document: document} }

// ReadAt implements [io.ReaderAt].
func (w *Watched) ReadAt(p []byte, offset int64) (int, error) {
	n, err := w.document.ReadAt(p, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		w.lock.Lock()
		defer w.lock.Unlock()
		if w.first == nil {
			w.first = err
		}
	}
	return n, err
}

// Failure is the first error; nil: there was none.
func (w *Watched) Failure() error {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.first
}
