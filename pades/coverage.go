package pades

import (
	"bytes"
	"context"
	"crypto"
	"encoding"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// maxContents bounds the signature that is read from a document.
const maxContents = 4 << 20

// byteRange is everything but the gap from gap to gapEnd, up to end.
type byteRange struct{ gap, gapEnd, end int64 }

// coverage is a document with the offsets at which its revisions end.
type coverage struct {
	doc       Document
	file      *pdf.File
	revisions []int64
}

func newCoverage(doc Document, file *pdf.File) (coverage, error) {
	revisions, err := file.Revisions()
	return coverage{doc, file, revisions}, err
}

// read reads ByteRange and the bytes of its gap, which have to be the hexadecimal
// string of Contents, where the dictionary itself stands, and nothing else:
// whatever else hid there would be shown and not be signed, and a dictionary that
// stands elsewhere was written after the signature (ISO 32000-2 12.8.1). The
// problem is empty when all is well.
func (c coverage) readContents(f form.SignatureField) (r byteRange, contents []byte, problem string) {
	r, problem = c.readRange(f.Signature)
	if problem != "" {
		return r, nil, problem
	}
	const notTheSignature = "What ByteRange leaves out is not the signature."
	start, end, ok, err := c.file.Span(f.Holder)
	if err != nil || !ok || r.gap < start || r.gapEnd > end {
		return r, nil, notTheSignature
	}
	gap := make([]byte, r.gapEnd-r.gap)
	if n, err := c.doc.ReadAt(gap, r.gap); n < len(gap) {
		return r, nil, fmt.Sprintf("The signature cannot be read: %v.", err)
	}
	stated, err := c.file.Bytes(f.Signature["Contents"])
	if err != nil {
		return r, nil, "Contents is not a string."
	}
	last := len(gap) - 1
	if gap[0] != '<' || gap[last] != '>' {
		return r, nil, notTheSignature
	}
	contents = make([]byte, hex.DecodedLen(last-1))
	if _, err := hex.Decode(contents, gap[1:last]); err != nil || !bytes.Equal(contents, stated) {
		return r, nil, notTheSignature
	}
	return r, contents, ""
}

func (c coverage) readRange(signature pdf.Dict) (r byteRange, problem string) {
	const malformed = "ByteRange is not an array of four integers."
	array, err := c.file.Array(signature["ByteRange"])
	if err != nil || len(array) != 4 {
		return r, malformed
	}
	var n [4]int64
	for i, o := range array {
		if n[i], err = c.file.Int(o); err != nil {
			return r, malformed
		}
	}
	r = byteRange{gap: n[1], gapEnd: n[2], end: n[2] + n[3]}
	if n[0] != 0 || r.gap <= 0 || r.gapEnd <= r.gap+1 || n[3] < 0 || r.end < r.gapEnd || r.end > c.doc.Size {
		return r, "ByteRange does not lie within the document."
	}
	if r.gapEnd-r.gap > maxContents {
		return r, "The signature is too long."
	}
	return r, ""
}

// ranges are those of all signatures and timestamps that have one.
func (c coverage) ranges(f form.Fields) (all []byteRange) {
	for _, s := range slices.Concat(f.Signatures, f.Timestamps) {
		if r, problem := c.readRange(s.Signature); problem == "" {
			all = append(all, r)
		}
	}
	return all
}

// of says how much of the document is signed.
func (c coverage) coverageOf(r byteRange) ades.Coverage {
	switch {
	case r.end == c.doc.Size:
		return ades.WholeDocument
	case slices.ContainsFunc(c.revisions, func(marker int64) bool { return c.endsAt(marker, r.end) }):
		return ades.WholeRevision
	}
	return ades.Partial
}

// endsAt reports whether the revision whose end-of-file marker ends at an offset is
// covered to the end: an end of line may follow the marker.
func (c coverage) endsAt(marker, end int64) bool {
	if end < marker || end > marker+2 {
		return false
	}
	rest := make([]byte, end-marker)
	_, err := c.doc.ReadAt(rest, marker)
	return err == nil && len(bytes.Trim(rest, "\r\n")) == 0
}

var errDuplicateKeys = errors.New("an entry stands twice in the signature dictionary, and readers differ in which counts")

// doubled reports whether an entry stands twice in the signature dictionary, or in the field that has it: readers
// differ in which counts (ISO 32000-2 7.3.7), so that one would show what another has not verified. What cannot
// be read is found elsewhere.
func (c coverage) hasDuplicateKeys(f form.SignatureField) bool {
	distinct, err := c.file.Distinct(f.Holder)
	return err == nil && !distinct
}

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
func (x *rangeHashes) digest(ctx context.Context, h crypto.Hash, r byteRange) ([]byte, error) {
	sum, err := x.stateAt(ctx, h, r.gap)
	if err != nil {
		return nil, err
	}
	err = hashPart(ctx, sum, x.doc, r.gapEnd, r.end-r.gapEnd)
	return sum.Sum(nil), err
}

// upTo is the state of h over the beginning of the document.
func (x *rangeHashes) stateAt(ctx context.Context, h crypto.Hash, end int64) (hash.Hash, error) {
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
