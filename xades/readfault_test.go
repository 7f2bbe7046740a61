package xades_test

import (
	"io"
	"testing"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/xades"
)

// TestReadFault checks that an error of the document's reader, in whichever read it occurs, is returned as it is and never
// becomes a statement about the document.
func TestReadFault(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	extender := xades.Extender{Sources: p.ca.Sources(nil)}
	signed := signLevel(t, []byte(contract), p, ades.T, xades.Options{})
	for name, call := range map[string]func(xades.Document) error{
		"Prepare": func(doc xades.Document) error {
			_, err := xades.Prepare(t.Context(), doc, p.signer, xades.Options{})
			return err
		},
		"Extend": func(doc xades.Document) error {
			_, err := extender.Extend(t.Context(), doc, ades.LTA)
			return err
		},
		"ExtendLast": func(doc xades.Document) error {
			_, err := extender.ExtendLast(t.Context(), doc, ades.LT)
			return err
		},
		"Verify": func(doc xades.Document) error {
			_, err := xades.Verify(t.Context(), doc, ades.VerifyOptions{Roots: p.ca.Roots()})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			testenv.EachReadFault(t, signed, func(r io.ReaderAt) error {
				return call(xades.Document{ReaderAt: r, Size: int64(len(signed))})
			}, ades.ErrBroken, ades.ErrUnreadable, ades.ErrForbidden)
		})
	}
}
