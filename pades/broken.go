package pades

import (
	"cmp"
	"context"
	"errors"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
)

// brokenDocument is why no signature of a document with a broken cross-reference is any good: viewers mend it
// without a word, each in its own way, and what they show then is not what was signed.
const brokenDocument = "The cross-reference of the document is broken, so that what readers show is not what was signed."

// verifyBroken reports on a document that cannot be read as its cross-reference has it: the signatures that stand in
// it fail for their format (EN 319 102-1 5.2.2), instead of being passed over. Where there are none, or where it
// cannot be read for another reason, the cause is the error.
func verifyBroken(ctx context.Context, doc Document, options ades.VerifyOptions, cause error) (*ades.Report, error) {
	if !errors.Is(cause, pdf.ErrDamaged) {
		return nil, cause
	}
	file, err := pdf.Salvage(doc, doc.Size)
	if err != nil {
		return nil, cause
	}
	report, err := inspect(ctx, doc, file, true, options)
	if err != nil || len(report.Signatures) == 0 {
		return nil, cmp.Or(ctx.Err(), cause)
	}
	return report, nil
}
