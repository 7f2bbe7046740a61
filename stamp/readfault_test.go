package stamp_test

import (
	"io"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/stamp"
)

// TestReadFault checks that an error of the reader, in whichever read it occurs, is returned and not taken for a damaged page:
// annotations may be missing, over which a stamp must not be placed.
func TestReadFault(t *testing.T) {
	b := pdftest.Build(pdftest.Options{
		Kind: pdftest.Stream, Page: "/Annots 100 0 R",
		Objects: []string{"[101 0 R]", "<< /Type /Annot /Subtype /Square /Rect [100 100 200 200] >>"},
	})
	testenv.EachReadFault(t, b, func(r io.ReaderAt) error { _, err := stamp.ReadPage(r, int64(len(b)), 1); return err })
	testenv.EachReadFault(t, b, func(r io.ReaderAt) error { _, _, err := stamp.Sizes(r, int64(len(b)), 10); return err })
}
