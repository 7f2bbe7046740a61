package postgres

import "slices"

// PDFs are read in small pieces, and some of these again and again. So a document is read
// window by window, and the windows last used are kept.
const (
	windowSize = 256 << 10
	windowsMax = 4
)

// windows are parts of a document that were read, the one used last at the end.
type windows struct {
	size int64 // of the document
	kept []window
}

type window struct {
	start int64 // a multiple of windowSize
	bytes []byte
}

// at fills p with the document's bytes from the offset on.
func (w *windows) at(p []byte, offset int64, fetch func(p []byte, offset int64) error) error {
	for len(p) > 0 {
		bytes, err := w.from(offset, fetch)
		if err != nil {
			return err
		}
		n := copy(p, bytes)
		offset, p = offset+int64(n), p[n:]
	}
	return nil
}

// from are the bytes from the offset on to the end of its window.
func (w *windows) from(offset int64, fetch func(p []byte, offset int64) error) ([]byte, error) {
	start := offset - offset%windowSize
	i := slices.IndexFunc(w.kept, func(k window) bool { return k.start == start })
	if i < 0 {
		fresh := window{start, w.room(int(min(windowSize, w.size-start)))}
		if err := fetch(fresh.bytes, start); err != nil {
			return nil, err
		}
		w.kept, i = append(w.kept, fresh), len(w.kept)
	}
	used := w.kept[i]
	w.kept = append(slices.Delete(w.kept, i, i+1), used)
	return used.bytes[offset-start:], nil
}

// room is memory for so many bytes: that of the window not used for longest, when there
// are as many as there may be.
func (w *windows) room(n int) []byte {
	if len(w.kept) < windowsMax {
		return make([]byte, n)
	}
	oldest := w.kept[0].bytes
	w.kept = slices.Delete(w.kept, 0, 1)
	if cap(oldest) < n {
		return make([]byte, n)
	}
	return oldest[:n]
}
