package pades

import (
	"io"
	"slices"
)

// With returns the document with a revision appended, without a copy of either: it reads
// from both.
func (d Document) With(r Revision) Document {
	grown := appended{d, r.Bytes}
	return Document{ReaderAt: grown, Size: d.Size + int64(len(r.Bytes)), Hashed: slices.Concat(d.Hashed, r.before, r.Hashed)}
}

// appended reads a document and the bytes behind it as one.
type appended struct {
	base Document
	tail []byte
}

// ReadAt implements [io.ReaderAt].
func (a appended) ReadAt(p []byte, at int64) (int, error) {
	n := 0
	if at < a.base.Size {
		part := p[:min(int64(len(p)), a.base.Size-at)]
		var err error
		if n, err = a.base.ReadAt(part, at); n < len(part) {
			return n, err
		}
	}
	from := min(at+int64(n)-a.base.Size, int64(len(a.tail)))
	if n < len(p) {
		n += copy(p[n:], a.tail[from:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
