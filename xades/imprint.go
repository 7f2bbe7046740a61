package xades

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/innsigli/innsigli/internal/pki/tsp"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// errMethod: the CanonicalizationMethod of a timestamp is none that is known.
var errMethod = errors.New("the canonicalization method of the timestamp is not known")

// contextWriter ends the work with its context.
type contextWriter struct {
	context.Context
	io.Writer
}

func (w contextWriter) Write(b []byte) (int, error) {
	if err := w.Err(); err != nil {
		return 0, err
	}
	return w.Writer.Write(b)
}

// signedSum is the digest of what a signature timestamp is over: the element SignatureValue (EN 319 132-1
// 5.3).
func (s *signature) signedSum(ctx context.Context, c xmldoc.Canonicalization, h crypto.Hash) ([]byte, error) {
	begin := func() (hash.Hash, error) { return h.New(), nil }
	return digest(ctx, c, begin, func(w io.Writer) error { return s.write(w, c, s.SignatureValue) })
}

// archivedSum is the digest of what an archive timestamp is over that stands before a node, or behind all
// unsigned properties where that is zero, and some in canonical form that are to be added (EN 319 132-1
// 5.5.2.2): all that the signature signs, itself with its KeyInfo, the unsigned properties before, and the
// Objects other than that of the properties.
func (s *signature) archivedSum(ctx context.Context, c xmldoc.Canonicalization, h crypto.Hash, before xmldoc.Node, added []byte) ([]byte, error) {
	begin := func() (hash.Hash, error) { return s.archivedHash(ctx, archiveForm{c, h}, before) }
	return digest(ctx, c, begin, func(w io.Writer) error {
		if _, err := w.Write(added); err != nil {
			return err
		}
		return s.write(w, c, s.otherObjects()...)
	})
}

func digest(ctx context.Context, c xmldoc.Canonicalization, begin func() (hash.Hash, error), write func(io.Writer) error) ([]byte, error) {
	if c.Method == 0 {
		return nil, errMethod
	}
	sum, err := begin()
	if err == nil {
		err = write(contextWriter{ctx, sum})
	}
	if err != nil {
		return nil, fmt.Errorf("what a timestamp is over: %w", err)
	}
	return sum.Sum(nil), ctx.Err()
}

// write writes elements in canonical form, one after another.
func (s *signature) write(w io.Writer, c xmldoc.Canonicalization, elements ...xmldoc.Node) error {
	for _, e := range elements {
		if e == (xmldoc.Node{}) {
			continue
		}
		if err := s.Canonicalize(w, c, xmldoc.Subset{Apex: e}); err != nil {
			return err
		}
	}
	return nil
}

// otherObjects are the Objects but that of the properties.
func (s *signature) otherObjects() []xmldoc.Node {
	var all []xmldoc.Node
	for _, o := range s.Objects {
		if s.qualifying == (xmldoc.Node{}) || o != s.qualifying.Parent() {
			all = append(all, o)
		}
	}
	return all
}

// stampedSum is the digest of what a timestamp of a signature is over.
func (s *signature) stampedSum(ctx context.Context, t carriedStamp, h crypto.Hash) ([]byte, error) {
	if t.property.Is(ns141, "ArchiveTimeStamp") {
		return s.archivedSum(ctx, t.c14n, h, t.property, nil)
	}
	return s.signedSum(ctx, t.c14n, h)
}

// checkStamp compares a timestamp with what it stands for, and verifies its value.
func (s *signature) checkStamp(ctx context.Context, t carriedStamp) error {
	if t.token == nil {
		return fmt.Errorf("%w: token", tsp.ErrFormat)
	}
	sum, err := s.stampedSum(ctx, t, t.token.Hash)
	if err != nil {
		return err
	}
	t.token.Supply(slices.Concat(s.known, s.data.Certificates))
	return t.token.VerifyOver(sum)
}
