package xades

import (
	"bytes"
	"context"
	"crypto"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/xmldoc"
	"github.com/innsigli/innsigli/internal/xmldsig"
)

// earlier is a signature that a document has: what must not change when it gets another one.
type earlier struct {
	unknown error  // why nobody can tell whether it is right
	signed  []byte // digest of what its value is over
	stamps  []bool // which of its timestamps are over what they stand for
}

// readEarlier reads the signatures of a document, those that sign others of them too. [ErrBroken] when
// one is not right.
func readEarlier(ctx context.Context, d *xmldoc.Document, but ids) ([]earlier, error) {
	var all []earlier
	reader := newSignatureReader(d)
	for _, n := range signatureElements(d, but) {
		if len(all) == maxSignatures {
			return nil, fmt.Errorf("%w: it has more than %d signatures", ErrUnreadable, maxSignatures)
		}
		s := reader.readSignature(n)
		e, err := s.standing(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// signatureElements are all signatures of a document but one.
func signatureElements(d *xmldoc.Document, but ids) []xmldoc.Node {
	var all []xmldoc.Node
	add := func(n xmldoc.Node) {
		if isSignature(n) && !but.isOf(n) {
			all = append(all, n)
		}
	}
	add(d.Root())
	for n := range d.Root().Descendants() {
		add(n)
	}
	return all
}

// standing is how a signature is. One that is read only in part may be right, and nobody can tell whether
// it stays so.
func (s *signature) standing(ctx context.Context) (e earlier, err error) {
	if s.fault != nil {
		return earlier{unknown: s.fault}, nil
	}
	for _, r := range s.References {
		switch err := s.VerifyReference(ctx, r); {
		case ctx.Err() != nil:
			return e, ctx.Err()
		case errors.Is(err, ades.ErrAlgorithm), errors.Is(err, xmldsig.ErrLimit):
			e.unknown = err
		case errors.Is(err, xmldsig.ErrReference) && elsewhere(r): // nothing of this document
		case err != nil:
			return e, fmt.Errorf("%w: %w", ErrBroken, err)
		}
	}
	if s.signer != nil {
		if err := s.VerifyValue(s.signer); errors.Is(err, ades.ErrValue) {
			return e, fmt.Errorf("%w: %w", ErrBroken, err)
		}
	}
	if e.signed, err = s.signedInfoSum(ctx); err != nil {
		return e, err
	}
	for _, t := range slices.Concat(s.stamps, s.archives) {
		e.stamps = append(e.stamps, s.checkStamp(ctx, t) == nil)
	}
	return e, ctx.Err()
}

// signedInfoSum is a digest of what the value is over, for comparison.
func (s *signature) signedInfoSum(ctx context.Context) ([]byte, error) {
	sum := crypto.SHA256.New()
	err := s.write(contextWriter{ctx, sum}, s.Canonicalization, s.SignedInfo)
	return sum.Sum(nil), err
}

// elsewhere says that a reference leads out of the document.
func elsewhere(r xmldsig.Reference) bool {
	return !r.HasURI || r.URI != "" && !strings.HasPrefix(r.URI, "#")
}

// unharmed says whether signatures are what they were, in the document that has another one. What breaks
// them is found by looking: a reference to the whole document, namespaces that come from around, whatever
// their transforms make of it. [ErrForbidden] when one would break.
func unharmed(ctx context.Context, before []earlier, next *xmldoc.Document, added ids) error {
	for _, e := range before {
		if e.unknown != nil {
			return fmt.Errorf("%w: whether one that is there stays right cannot be told: %w", ErrForbidden, e.unknown)
		}
	}
	after, err := readEarlier(ctx, next, added)
	if errors.Is(err, ErrBroken) {
		return fmt.Errorf("%w: one that is there would break", ErrForbidden)
	}
	if err != nil {
		return err
	}
	if !slices.EqualFunc(before, after, earlier.equal) {
		return fmt.Errorf("%w: one that is there would break, or a timestamp of it", ErrForbidden)
	}
	return nil
}

func (e earlier) equal(o earlier) bool {
	return bytes.Equal(e.signed, o.signed) && slices.Equal(e.stamps, o.stamps) && o.unknown == nil
}
