package pades

import (
	"errors"
	"fmt"

	"github.com/innsigli/innsigli/internal/pdf"
)

// opened calls use with the document as its cross-reference has it, and where that turns
// out to be broken, with the document rebuilt from its objects, as viewers do without a
// word. A signed document is not rebuilt, nor one that is damaged in another way: its
// cross-reference would be replaced by what other readers need not agree with.
func opened(doc Document, use func(*pdf.File) error) error {
	file, err := pdf.Open(doc, doc.Size)
	broken := errors.Is(err, pdf.ErrDamaged)
	if err == nil {
		err = use(file)
		broken = errors.Is(err, pdf.ErrMisplaced) || errors.Is(err, pdf.ErrNoPages)
	}
	if !broken {
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
