// Package document is what the backends that keep documents have in common: how one
// comes in, how it is hashed on the way, and what may be appended to it.
package document

import (
	"io"

	"github.com/innsigli/innsigli/storage"
)

// Receive reads r to its end, fills step again and again, and has each filling stored; the
// last one, which may be empty, says that it is. More than limit bytes are
// storage.ErrTooLarge, of which it reads one at most. Errors of r and of store are returned
// as they are.
func Receive(r io.Reader, limit int64, step []byte, store func(p []byte, last bool) error) error {
	for stored := int64(0); ; {
		n, err := fill(r, step[:room(limit-stored, len(step))])
		if err != nil && err != io.EOF {
			return err
		}
		if int64(n) > limit-stored {
			return storage.ErrTooLarge
		}
		last := err == io.EOF
		if err := store(step[:n], last); err != nil || last {
			return err
		}
		stored += int64(n)
	}
}

// room is how many bytes to ask for: a step's, but no more than it takes to see that the
// document is too large.
func room(rest int64, step int) int64 {
	if rest < int64(step) {
		return max(rest, 0) + 1
	}
	return int64(step)
}

// maxEmptyReads is how often in a row a reader may deliver nothing.
const maxEmptyReads = 100

// fill reads until p is full or r has an error, and returns that error as it is.
// io.ReadFull would hide whether io.ErrUnexpectedEOF is its own or r's.
func fill(r io.Reader, p []byte) (n int, err error) {
	for empty := 0; n < len(p) && err == nil; {
		var m int
		m, err = r.Read(p[n:])
		n += m
		if m > 0 {
			empty = 0
		} else if empty++; empty > maxEmptyReads && err == nil {
			err = io.ErrNoProgress
		}
	}
	return n, err
}

// Follow says whether the first revision begins at the head and each later one at the end
// of the one before.
func Follow(head int64, revisions []storage.Revision) bool {
	for _, r := range revisions {
		if r.Base != head {
			return false
		}
		head += int64(len(r.Bytes))
	}
	return true
}
