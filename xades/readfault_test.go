package xades_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
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
		for n := 1; ; n++ {
			r := &faultyReader{bytes.NewReader(signed), n}
			err := call(xades.Document{ReaderAt: r, Size: int64(len(signed))})
			if r.left > 0 { // no read failed
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				break
			}
			if !errors.Is(err, errRead) || errors.Is(err, ades.ErrBroken) || errors.Is(err, ades.ErrUnreadable) || errors.Is(err, ades.ErrForbidden) {
				t.Errorf("%s, read %d: got %v, want the error of the reader alone", name, n, err)
			}
		}
	}
}

// faultyReader fails in one read, after left-1 others.
type faultyReader struct {
	io.ReaderAt
	left int
}

func (r *faultyReader) ReadAt(b []byte, at int64) (int, error) {
	if r.left--; r.left == 0 {
		return 0, errRead
	}
	return r.ReaderAt.ReadAt(b, at)
}
