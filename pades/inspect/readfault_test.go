package inspect_test

import (
	"io"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades/inspect"
)

// TestReadFault checks that an error of the reader, in whichever read it occurs, is returned: warnings may be missing.
func TestReadFault(t *testing.T) {
	b := pdftest.Build(pdftest.Options{})
	testenv.EachReadFault(t, b, func(r io.ReaderAt) error {
		_, err := inspect.PDF(t.Context(), r, int64(len(b)))
		return err
	})
}
