package xades

import (
	"context"
	"crypto"
	"hash"
	"slices"
	"sort"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// archiveHashes are what was digested for archive timestamps of a signature. Each is over what the one before it is,
// and over more: with a hash that goes on, those of thirty years take little longer than the last of them.
type archiveHashes struct {
	unsigned []xmldoc.Node // the unsigned properties
	begun    []archiveHash
}

// archiveForm is what imprints have to have in common.
type archiveForm struct {
	c14n xmldoc.Canonicalization
	hash crypto.Hash
}

func (f archiveForm) equal(o archiveForm) bool {
	return f.hash == o.hash && f.c14n.Method == o.c14n.Method && f.c14n.Comments == o.c14n.Comments &&
		slices.Equal(f.c14n.Prefixes, o.c14n.Prefixes)
}

// archiveHash is a hash that has taken what comes before the unsigned properties, and some of those.
type archiveHash struct {
	archiveForm
	state hash.Cloner
	taken int
}

// archivedHash is a hash of what archive timestamps are over but for the Objects, which come last.
func (s *signature) archivedHash(ctx context.Context, f archiveForm, before xmldoc.Node) (hash.Hash, error) {
	unsigned := s.unsignedBefore(before)
	sum, taken, err := s.begunHash(ctx, f, len(unsigned))
	if err != nil {
		return nil, err
	}
	if err := s.write(contextWriter{ctx, sum}, f.c14n, unsigned[taken:]...); err != nil {
		return nil, err
	}
	return sum, s.hashes.remember(f, sum, len(unsigned))
}

// begunHash goes on from an imprint that has taken so many unsigned properties at most, or begins.
func (s *signature) begunHash(ctx context.Context, f archiveForm, unsigned int) (sum hash.Hash, taken int, err error) {
	for _, b := range s.hashes.begun {
		if b.equal(f) && b.taken <= unsigned {
			sum, err = b.state.Clone()
			return sum, b.taken, err
		}
	}
	if sum, err = s.Hash(ctx, f.hash, s.References[0], f.c14n); err != nil { // is known, as a rule
		return nil, 0, err
	}
	w := contextWriter{ctx, sum}
	for _, r := range s.References[1:] {
		if err := s.Process(w, r, f.c14n); err != nil {
			return nil, 0, err
		}
	}
	return sum, 0, s.write(w, f.c14n, s.SignedInfo, s.SignatureValue, s.KeyInfo)
}

// remember keeps the state of a hash, one of each form.
func (m *archiveHashes) remember(f archiveForm, sum hash.Hash, taken int) error {
	state, ok := sum.(hash.Cloner)
	if !ok {
		return nil // the next one begins anew
	}
	state, err := state.Clone()
	b := archiveHash{f, state, taken}
	if i := slices.IndexFunc(m.begun, func(b archiveHash) bool { return b.equal(f) }); i >= 0 {
		m.begun[i] = b
	} else {
		m.begun = append(m.begun, b)
	}
	return err
}

// unsignedBefore are the unsigned properties before one of them, or (zero) all.
func (s *signature) unsignedBefore(node xmldoc.Node) []xmldoc.Node {
	if s.unsigned == none {
		return nil
	}
	if s.hashes.unsigned == nil {
		s.hashes.unsigned = slices.Collect(s.unsigned.Elements())
	}
	all := s.hashes.unsigned
	if node == none {
		return all
	}
	return all[:sort.Search(len(all), func(i int) bool { return !all[i].Precedes(node) })]
}
