package xades

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// earlier is a signature that a document has, and that is right as far as it can be read.
type earlier struct {
	*signature
	unknown error // why nobody can tell whether it is right
}

// readEarlier reads the signatures of a document but one, those that sign others of them too. [ErrBroken]
// when one is not right.
func readEarlier(ctx context.Context, d *xmldoc.Document, but ids) ([]earlier, error) {
	elements := signatureElements(d, but)
	if err := checkNumber(len(elements)); err != nil {
		return nil, err
	}
	var all []earlier
	reader := newSignatureReader(ctx, d)
	for _, n := range elements {
		s := reader.readSignature(n)
		unknown, err := s.right(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, earlier{&s, unknown})
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

// right makes sure that a signature is right. One that is read only in part may be, and nobody can tell
// whether it stays so.
func (s *signature) right(ctx context.Context) (unknown, err error) {
	if s.fault != nil {
		return s.fault, ctx.Err()
	}
	for _, r := range s.References {
		switch err := s.VerifyReference(ctx, r); {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case isAny(err, ades.ErrAlgorithm, xmldsig.ErrLimit, xmldsig.ErrTransform):
			unknown = err
		case errors.Is(err, xmldsig.ErrReference) && elsewhere(r): // nothing of this document
		case err != nil:
			return nil, fmt.Errorf("%w: %w", ErrBroken, err)
		}
	}
	if s.signer != nil {
		if err := s.VerifyValue(s.signer); errors.Is(err, ades.ErrValue) {
			return nil, fmt.Errorf("%w: %w", ErrBroken, err)
		}
	}
	return unknown, ctx.Err()
}

// elsewhere says that a reference leads out of the document.
func elsewhere(r xmldsig.Reference) bool {
	return !r.HasURI || r.URI != "" && !strings.HasPrefix(r.URI, "#")
}

// leaveRoom says whether signatures stay right when the root gets another one behind all that is in it.
// Nothing else changes for them: it is in none of them, and declares what it needs. [ErrForbidden] when
// one would break.
func leaveRoom(all []earlier) error {
	for _, e := range all {
		if e.unknown != nil {
			return errUnknown(e.unknown)
		}
		for _, r := range e.References {
			if e.takesIn(r) {
				return fmt.Errorf("%w: one that is there signs all that is in the root", ErrForbidden)
			}
		}
	}
	return nil
}

// takesIn says whether a reference leads to a signature that is added to the root.
func (s *signature) takesIn(r xmldsig.Reference) bool {
	target, err := s.Target(r)
	if err != nil || target != none && target != s.Document.Root() {
		return false
	}
	return !slices.ContainsFunc(r.Transforms, func(t xmldsig.Transform) bool {
		return t.Kind == xmldsig.WithoutSignatures || t.Kind == xmldsig.WithoutRootSignatures
	})
}

func errUnknown(why error) error {
	return fmt.Errorf("%w: whether one that is there stays right cannot be told: %w", ErrForbidden, why)
}
