package document

import (
	"crypto"
	"encoding"
	"fmt"
	"hash"
	"slices"

	"github.com/innsigli/innsigli/storage"
)

// Midstate is a storage.Midstate as it is stored. The numbers of crypto.Hash do not
// change.
type Midstate struct {
	Hash   crypto.Hash `json:"hash"`
	Offset int64       `json:"offset"`
	State  []byte      `json:"state"`
}

// Replaced are the states with newer ones of the same hash in their place.
func Replaced(states []Midstate, newer []storage.Midstate) []Midstate {
	for _, m := range newer {
		states = slices.DeleteFunc(states, func(s Midstate) bool { return s.Hash == m.Hash })
		states = append(states, Midstate(m))
	}
	return states
}

// Midstates are the states as a storage.Blob gives them.
func Midstates(states []Midstate) []storage.Midstate {
	var list []storage.Midstate
	for _, s := range states {
		list = append(list, storage.Midstate(s))
	}
	return list
}

// Sums hashes what it is given with several hashes.
type Sums []sum

type sum struct {
	id crypto.Hash
	hash.Hash
}

// NewSums begins to hash. A hash that is not linked into the program is an error.
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

// Write hashes p.
func (s Sums) Write(p []byte) {
	for _, sum := range s {
		sum.Hash.Write(p) // never fails
	}
}

// Digests are those of all that was written, in the order of the hashes.
func (s Sums) Digests() [][]byte {
	var digests [][]byte
	for _, sum := range s {
		digests = append(digests, sum.Sum(nil))
	}
	return digests
}

// Midstates are the states after the first offset bytes, of the hashes that can be stopped
// and resumed.
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
