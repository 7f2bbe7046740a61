package pades_test

import (
	"bytes"
	"context"
	"io"
	"slices"
	"testing"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// TestReadFault checks that an error of the document's reader, in whichever read it occurs, is returned as it is and never
// becomes a statement about the document.
func TestReadFault(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	sources := p.ca.Sources(nil)
	extender := pades.Extender{Sources: sources}
	plain := pdftest.Build(pdftest.Options{})
	misplaced := bytes.ReplaceAll(plain, []byte("startxref\n"), []byte("startxref\n1"))
	signed, archived := signLevel(t, plain, p, ades.T), signLevel(t, plain, p, ades.LTA)
	brokenXref := bytes.ReplaceAll(signed, []byte("startxref\n"), []byte("startxref\n1"))
	check := func(ctx context.Context, doc pades.Document) error { return pades.Check(ctx, doc, pades.Options{}) }
	prepare := func(ctx context.Context, doc pades.Document) error {
		_, err := pades.Prepare(ctx, doc, p.signer, pades.Options{})
		return err
	}
	verify := func(ctx context.Context, doc pades.Document) error {
		_, err := pades.Verify(ctx, doc, ades.VerifyOptions{Roots: p.ca.Roots()})
		return err
	}
	for _, tt := range []struct {
		name string
		b    []byte
		call func(context.Context, pades.Document) error
	}{
		{"Encrypted", plain, func(_ context.Context, doc pades.Document) error {
			_, err := pades.Encrypted(doc)
			return err
		}},
		{"Check", archived, check},
		{"Check, rebuilt", misplaced, check},
		{"Prepare", archived, prepare},
		{"Extend", signed, func(ctx context.Context, doc pades.Document) error {
			_, err := extender.Extend(ctx, doc, ades.LTA)
			return err
		}},
		{"ExtendLast", archived, func(ctx context.Context, doc pades.Document) error {
			_, err := extender.ExtendLast(ctx, doc, ades.LT)
			return err
		}},
		{"Renew", archived, func(ctx context.Context, doc pades.Document) error {
			_, err := extender.Renew(ctx, doc)
			return err
		}},
		{"Verify", archived, verify},
		{"Verify, rebuilt", brokenXref, verify},
	} {
		t.Run(tt.name, func(t *testing.T) {
			testenv.EachReadFault(t, tt.b, func(r io.ReaderAt) error {
				return tt.call(t.Context(), pades.Document{ReaderAt: r, Size: int64(len(tt.b))})
			}, slices.Concat(refusals, []error{ades.ErrUnsigned, ades.ErrNoRevocation})...)
		})
	}
}
