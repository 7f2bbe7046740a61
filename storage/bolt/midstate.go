package bolt

import (
	"crypto"
	"encoding"
	"fmt"
	"hash"
	"slices"

	"github.com/innsigli/innsigli/storage"
)

// midstateRecord is a storage.Midstate as it is stored. The numbers of
// crypto.Hash do not change.
type midstateRecord struct {
	Hash   crypto.Hash `json:"hash"`
	Offset int64       `json:"offset"`
	State  []byte      `json:"state"`
}

// replaced are the states with newer ones of the same hash in their place.
func replaced(states []midstateRecord, newer []storage.Midstate) []midstateRecord {
	for _, m := range newer {
		states = slices.DeleteFunc(states, func(r midstateRecord) bool { return r.Hash == m.Hash })
		states = append(states, midstateRecord(m))
	}
	return states
}

func midstates(records []midstateRecord) []storage.Midstate {
	return convert(records, func(r midstateRecord) storage.Midstate { return storage.Midstate(r) })
}

// sums hashes what it is given with several hashes.
type sums []sum

type sum struct {
	id crypto.Hash
	hash.Hash
}

func newSums(hashes []crypto.Hash) (sums, error) {
	var all sums
	for _, h := range hashes {
		if !h.Available() {
			return nil, fmt.Errorf("bolt: the hash %v is not linked into the program", h)
		}
		all = append(all, sum{h, h.New()})
	}
	return all, nil
}

func (s sums) write(p []byte) {
	for _, sum := range s {
		sum.Write(p) // never fails
	}
}

func (s sums) sums() [][]byte {
	var digests [][]byte
	for _, sum := range s {
		digests = append(digests, sum.Sum(nil))
	}
	return digests
}

// midstates are the states after the first offset bytes, of the hashes that can
// be stopped and resumed.
func (s sums) midstates(offset int64) []midstateRecord {
	var states []midstateRecord
	for _, sum := range s {
		m, ok := sum.Hash.(encoding.BinaryMarshaler)
		if !ok {
			continue
		}
		if state, err := m.MarshalBinary(); err == nil {
			states = append(states, midstateRecord{Hash: sum.id, Offset: offset, State: state})
		}
	}
	return states
}
