package pades

import (
	"errors"
	"fmt"

	"github.com/innsigli/innsigli/internal/pdf"
)

// opened calls use with the document as its cross-reference has it, and where that turns
// out to be broken, with the document rebuilt from its objects, as viewers do without a
// word. A signed document is not rebuilt.
func opened(doc Document, use func(*pdf.File) error) error {
	file, err := pdf.Open(doc, doc.Size)
	if err == nil {
		err = use(file)
	}
	if !errors.Is(err, pdf.ErrDamaged) && !errors.Is(err, pdf.ErrNoPages) {
		return err
	}
	rebuilt, again := pdf.Rebuild(doc, doc.Size)
	if again == nil {
		again = use(rebuilt)
	}
	if errors.Is(again, pdf.ErrDamaged) || errors.Is(again, pdf.ErrNoPages) {
		return fmt.Errorf("%w; %w", err, again)
	}
	return again
}
