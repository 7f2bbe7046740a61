package pades

import (
	"bytes"
	"context"
	"crypto"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/hashstate"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// maxContents bounds the gap of a ByteRange, in bytes.
const maxContents = 4 << 20

// readSize is the number of bytes that are read and hashed at a time.
const readSize = 256 << 10

// byteRange is a ByteRange: the bytes from 0 to end without the gap from gap to gapEnd.
type byteRange struct{ gap, gapEnd, end int64 }

// coverage is a document with the ends of its revisions: the offsets after their end-of-file
// markers.
type coverage struct {
	doc       Document
	file      *pdf.File
	revisions []int64
}

// rangeHashes computes the digests of the byte ranges of one document. It keeps the state of the
// hash at every gap, so that the beginning that ranges have in common is hashed once for each hash
// algorithm, in whatever order the digests are computed.
type rangeHashes struct {
	doc   Document
	gaps  []int64 // where the gaps of the ranges begin, in ascending order
	known []Midstate
}

func newCoverage(doc Document, file *pdf.File) (coverage, error) {
	revisions, err := file.Revisions()
	return coverage{doc, file, revisions}, err
}

// readContents reads ByteRange and the Contents in its gap (ISO 32000-2 12.8.1). The gap has to be
// the hexadecimal string of Contents and nothing else: readers could show other bytes in it, which
// are not signed. It has to lie in the object that has the signature dictionary: a dictionary
// elsewhere was written after the signature. problem is empty if there is none.
func (c coverage) readContents(f form.SignatureField) (r byteRange, contents []byte, problem string) {
	r, problem = c.readRange(f.Signature)
	if problem != "" {
		return r, nil, problem
	}
	const notTheSignature = "What ByteRange leaves out is not the Contents of the signature."
	start, end, ok, err := c.file.Span(f.Holder)
	if err != nil || !ok || r.gap < start || r.gapEnd > end {
		return r, nil, notTheSignature
	}
	gap := make([]byte, r.gapEnd-r.gap)
	if n, _ := c.doc.ReadAt(gap, r.gap); n < len(gap) {
		return r, nil, notTheSignature // reading returns the error of the reader
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

// coverageOf returns how much of the document a byte range covers.
func (c coverage) coverageOf(r byteRange) ades.Coverage {
	switch {
	case r.end == c.doc.Size:
		return ades.WholeDocument
	case slices.ContainsFunc(c.revisions, func(marker int64) bool { return c.endsAt(marker, r.end) }):
		return ades.WholeRevision
	}
	return ades.Partial
}

// endsAt reports whether a revision whose end-of-file marker ends at the offset marker ends at the
// offset end. An end of line may follow the marker.
func (c coverage) endsAt(marker, end int64) bool {
	if end < marker || end > marker+2 {
		return false
	}
	rest := make([]byte, end-marker)
	_, err := c.doc.ReadAt(rest, marker)
	return err == nil && len(bytes.Trim(rest, "\r\n")) == 0
}

// ranges returns the byte ranges of all signatures and document timestamps that have a valid one.
func (c coverage) ranges(f form.Fields) (all []byteRange) {
	for _, s := range slices.Concat(f.Signatures, f.Timestamps) {
		if r, problem := c.readRange(s.Signature); problem == "" {
			all = append(all, r)
		}
	}
	return all
}

// signedRevisionEnds returns, in ascending order, the ends of the revisions that a signature or
// document timestamp covers as a whole.
func (c coverage) signedRevisionEnds(f form.Fields) (all []int64) {
	for _, r := range c.ranges(f) {
		if c.coverageOf(r) != ades.Partial {
			all = append(all, r.end)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

var errDuplicateKeys = errors.New("a key of the signature dictionary occurs twice")

// hasDuplicateKeys reports whether the signature dictionary, or the field that contains it, has two
// values for one key. Readers differ in which value counts (ISO 32000-2 7.3.7), so that another
// reader could show a signature that Verify has not verified. Other checks report objects that
// cannot be read.
func (c coverage) hasDuplicateKeys(f form.SignatureField) bool {
	distinct, err := c.file.HasDistinctKeys(f.Holder)
	return err == nil && !distinct
}

func newRangeHashes(doc Document, ranges ...byteRange) *rangeHashes {
	x := &rangeHashes{doc: doc}
	for _, r := range ranges {
		x.gaps = append(x.gaps, r.gap)
	}
	slices.Sort(x.gaps)
	return x
}

// digest returns the digest of a byte range by h.
func (x *rangeHashes) digest(ctx context.Context, h crypto.Hash, r byteRange) ([]byte, error) {
	sum, err := x.stateAt(ctx, h, r.gap)
	if err != nil {
		return nil, err
	}
	err = hashPart(ctx, sum, x.doc, r.gapEnd, r.end-r.gapEnd)
	return sum.Sum(nil), err
}

// stateAt returns the state of h after the first end bytes of the document.
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
		state, err := hashstate.Save(sum)
		if err != nil {
			return nil, err
		}
		x.known, at = append(x.known, Midstate{h, gap, state}), gap
	}
	return sum, nil
}

// hashed returns the state of h after the whole document. It continues from the longest midstate.
func (d Document) hashed(ctx context.Context, h crypto.Hash) (hash.Hash, error) {
	sum, at := d.resume(h)
	return sum, hashPart(ctx, sum, d, at, d.Size-at)
}

// resume returns the state of h after the longest beginning of the document that has a midstate,
// and the length of that beginning. Without a midstate that can be restored it returns a new hash
// and 0.
func (d Document) resume(h crypto.Hash) (hash.Hash, int64) {
	var best Midstate
	for _, m := range d.Hashed {
		if m.Hash == h && m.Offset > best.Offset && m.Offset <= d.Size {
			best = m
		}
	}
	sum, err := hashstate.Restore(h, best.State)
	if err != nil {
		return h.New(), 0
	}
	return sum, best.Offset
}

// hashPart adds n bytes of a document, from an offset on, to a hash.
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
