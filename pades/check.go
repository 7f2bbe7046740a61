package pades

import (
	"context"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
)

// Check reports whether a document takes a signature with these options, without a signer and
// without hashing the document. Its errors are those of [Prepare] but [ades.ErrAlgorithm] and
// [ades.ErrOutsideValidity]; which certificate and which hash a field's seed value requires is left to
// Prepare. The Appearance of Visible may be nil: it is still to come.
func Check(ctx context.Context, doc Document, options Options) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := layOut(doc, ades.Signer{}, options, 0)
	return err
}

// Encrypted reports whether a document is encrypted, also when it opens without a password. A
// document that does not is [ErrEncrypted], as in [Prepare], and [ades.ErrUnreadable] is one that
// cannot be read.
func Encrypted(doc Document) (encrypted bool, err error) {
	err = pdf.Opened(doc, doc.Size, func(file *pdf.File) error {
		_, encrypted = file.Permissions()
		return nil
	})
	return encrypted, readError(err)
}

// anybody says that nothing is known about a signer: of one who is known, or whose CMS is
// awaited, there is at least a hash.
func anybody(signer ades.Signer) bool { return signer.Algorithm == ades.Algorithm{} }
