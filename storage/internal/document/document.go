// Package document has what the backends share for documents: reading the content of a new document, hashing it, and the
// check of revisions.
package document

import (
	"crypto"
	"encoding"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/innsigli/innsigli/storage"
)

// Receive reads r to its end and passes the content to store in steps of at most len(step) bytes. In the last
// call, whose p may be empty, last is true. If there are more than limit bytes, Receive returns
// storage.ErrTooLarge and has read at most one of them. It returns errors of r and of store unchanged.
func Receive(r io.Reader, limit int64, step []byte, store func(p []byte, last bool) error) error {
	for stored := int64(0); ; {
		n, err := fill(r, step[:readSize(limit-stored, len(step))])
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

// readSize returns how many bytes to read: those of a step, but at most one byte more than the limit allows.
func readSize(rest int64, step int) int64 {
	if rest < int64(step) {
		return max(rest, 0) + 1
	}
	return int64(step)
}

// maxEmptyReads is how often in succession a reader may return no bytes.
const maxEmptyReads = 100

// fill reads until p is full or r returns an error, and returns that error unchanged. With io.ReadFull it would
// be unknown whether io.ErrUnexpectedEOF is an error of r.
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

// Follow reports whether the first revision begins at the offset head, and each later one at the end of the one
// before.
func Follow(head int64, revisions []storage.Revision) bool {
	for _, r := range revisions {
		if r.Base != head {
			return false
		}
		head += int64(len(r.Bytes))
	}
	return true
}

// Midstate is a storage.Midstate as it is stored. The numbers of crypto.Hash never change.
type Midstate struct {
	Hash   crypto.Hash `json:"hash"`
	Offset int64       `json:"offset"`
	State  []byte      `json:"state"`
}

// Replaced returns the states with those of the same hashes replaced by newer ones.
func Replaced(states []Midstate, newer []storage.Midstate) []Midstate {
	for _, m := range newer {
		states = slices.DeleteFunc(states, func(s Midstate) bool { return s.Hash == m.Hash })
		states = append(states, Midstate(m))
	}
	return states
}

// Midstates converts the states to those of a storage.Blob.
func Midstates(states []Midstate) []storage.Midstate {
	var list []storage.Midstate
	for _, s := range states {
		list = append(list, storage.Midstate(s))
	}
	return list
}

// Sums computes several hashes of the same content.
type Sums []sum

type sum struct {
	id crypto.Hash
	hash.Hash
}

// NewSums returns Sums for the hashes. A hash that is not linked into the program is an error.
func NewSums(hashes []crypto.Hash) (Sums, error) {
	var all Sums
	for _, h := range hashes {
		if !h.Available() {
			return nil, fmt.Errorf("storage: the hash %v is not linked into the program", h)
		}
		all = append(all, sum{h, h.New()})
	}
	return all, nil
}

// Write adds p to all hashes.
func (s Sums) Write(p []byte) {
	for _, sum := range s {
		sum.Hash.Write(p) // never fails
	}
}

// Digests returns the digests of all that was written, in the order of the hashes.
func (s Sums) Digests() [][]byte {
	var digests [][]byte
	for _, sum := range s {
		digests = append(digests, sum.Sum(nil))
	}
	return digests
}

// Midstates returns the states after the first offset bytes, for the hashes whose state can be stored.
func (s Sums) Midstates(offset int64) []Midstate {
	var states []Midstate
	for _, sum := range s {
		m, ok := sum.Hash.(encoding.BinaryMarshaler)
		if !ok {
			continue
		}
		if state, err := m.MarshalBinary(); err == nil {
			states = append(states, Midstate{Hash: sum.id, Offset: offset, State: state})
		}
	}
	return states
}
