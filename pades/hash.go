package pades

import (
	"context"
	"crypto"
	"encoding"
	"fmt"
	"hash"
	"io"
	"slices"
)

// readSize is how much of a document is read and hashed at a time.
const readSize = 256 << 10

// hashed returns the state of h over the whole document, from the farthest state
// that is known.
func (d Document) hashed(ctx context.Context, h crypto.Hash) (hash.Hash, error) {
	sum, at := d.resume(h)
	return sum, hashPart(ctx, sum, d, at, d.Size-at)
}

// hashPart hashes n bytes of a document from an offset on.
func hashPart(ctx context.Context, h hash.Hash, r io.ReaderAt, at, n int64) error {
	buffer := make([]byte, min(readSize, n))
	for end := at + n; at < end; {
		if err := ctx.Err(); err != nil {
			return err
		}
		chunk := buffer[:min(int64(len(buffer)), end-at)]
		if n, err := r.ReadAt(chunk, at); n < len(chunk) {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return fmt.Errorf("pades: reading the document at %d: %w", at, err)
		}
		h.Write(chunk)
		at += int64(len(chunk))
	}
	return nil
}

// resume returns the hash after the beginning of the document that a midstate
// covers, else at the start.
func (d Document) resume(h crypto.Hash) (hash.Hash, int64) {
	var best Midstate
	for _, m := range d.Hashed {
		if m.Hash == h && m.Offset > best.Offset && m.Offset <= d.Size {
			best = m
		}
	}
	sum, err := restore(h, best.State)
	if err != nil {
		return h.New(), 0
	}
	return sum, best.Offset
}

func restore(h crypto.Hash, state []byte) (hash.Hash, error) {
	sum := h.New()
	u, ok := sum.(encoding.BinaryUnmarshaler)
	if !ok {
		return nil, fmt.Errorf("pades: the state of %v cannot be restored", h)
	}
	return sum, u.UnmarshalBinary(state)
}

func save(h hash.Hash) ([]byte, error) {
	m, ok := h.(encoding.BinaryMarshaler)
	if !ok {
		return nil, fmt.Errorf("pades: the state of %T cannot be saved", h)
	}
	return m.MarshalBinary()
}

// rangeHashes hashes what signatures of one document cover. Their ranges begin alike, and what they have in
// common is hashed once for each hash, in whatever order they are asked for: a state is kept at every gap.
type rangeHashes struct {
	doc   Document
	gaps  []int64 // where ranges begin to differ, in ascending order
	known []Midstate
}

func newRangeHashes(doc Document, ranges ...byteRange) *rangeHashes {
	x := &rangeHashes{doc: doc}
	for _, r := range ranges {
		x.gaps = append(x.gaps, r.gap)
	}
	slices.Sort(x.gaps)
	return x
}

// of is the digest of all but the gap.
func (x *rangeHashes) of(ctx context.Context, h crypto.Hash, r byteRange) ([]byte, error) {
	sum, err := x.upTo(ctx, h, r.gap)
	if err != nil {
		return nil, err
	}
	err = hashPart(ctx, sum, x.doc, r.gapEnd, r.end-r.gapEnd)
	return sum.Sum(nil), err
}

// upTo is the state of h over the beginning of the document.
func (x *rangeHashes) upTo(ctx context.Context, h crypto.Hash, end int64) (hash.Hash, error) {
	before := Document{Size: end, Hashed: slices.Concat(x.doc.Hashed, x.known)}
	sum, at := before.resume(h)
	next, _ := slices.BinarySearch(x.gaps, at+1)
	for _, gap := range append(slices.Clone(x.gaps[next:]), end) {
		if gap = min(gap, end); gap == at {
			continue
		}
		if err := hashPart(ctx, sum, x.doc, at, gap-at); err != nil {
			return nil, err
		}
		state, err := save(sum)
		if err != nil {
			return nil, err
		}
		x.known, at = append(x.known, Midstate{h, gap, state}), gap
	}
	return sum, nil
}
