package pades

import (
	"bytes"
	"context"
	"crypto"
	"fmt"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/hashstate"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/internal/pki/signerjson"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// tokenSize is the number of bytes that are reserved for a timestamp token. Tokens have 3 to 10 KB
// with the certificates of their authority.
const tokenSize = 16 << 10

// addTimestamp appends a document timestamp over the whole document (ISO 32000-2 12.8.5, EN 319
// 142-1 5.4.3).
func (e *extension) addTimestamp() error {
	f, err := e.currentFile()
	if err != nil {
		return err
	}
	r, err := f.timestampRevision(e.ctx, e.Sources.Time)
	if err != nil {
		return fmt.Errorf("document timestamp: %w", err)
	}
	e.addRevision(r)
	return nil
}

// timestampRevision returns the revision with a document timestamp from t. If the token is longer
// than the space reserved for it, timestampRevision lays the revision out again with more space and
// gets another token.
func (f *signedFile) timestampRevision(ctx context.Context, t ades.Timestamper) (Revision, error) {
	if t == nil {
		return Revision{}, fmt.Errorf("pades: %w: no timestamp authority", ades.ErrTimestamp)
	}
	h := f.hash()
	sum, err := f.doc.hashed(ctx, h)
	if err != nil {
		return Revision{}, err
	}
	state, err := hashstate.Save(sum)
	if err != nil {
		return Revision{}, err
	}
	for reserved := tokenSize; ; {
		l, err := buildTimestampRevision(f.file, f.fields, f.doc.Size, reserved)
		if err != nil {
			return Revision{}, err
		}
		token, err := obtainTimestamp(ctx, t, h, state, l)
		if err != nil {
			return Revision{}, err
		}
		switch {
		case len(token) <= reserved:
			if sum, err = hashstate.Restore(h, state); err != nil {
				return Revision{}, err
			}
			return newRevision(f.doc.Size, l.filled(token), h, sum)
		case reserved > tokenSize:
			return Revision{}, fmt.Errorf("pades: %w: tokens of %d and more bytes over one document", ades.ErrTimestamp, len(token))
		}
		// The next token may be longer, for example because of a longer serial number.
		reserved = len(token) + len(token)/8
	}
}

// hash returns the hash of which doc has a state over all of its bytes; SHA-256 when there is none.
func (f *signedFile) hash() crypto.Hash {
	for _, m := range f.doc.Hashed {
		if signerjson.KnowsHash(m.Hash) && m.Offset == f.doc.Size {
			return m.Hash
		}
	}
	return crypto.SHA256
}

// obtainTimestamp gets a token over a document, given as the state of its hash, and over the
// revision r after it.
func obtainTimestamp(ctx context.Context, t ades.Timestamper, h crypto.Hash, state []byte, r unsignedRevision) ([]byte, error) {
	sum, err := hashstate.Restore(h, state)
	if err != nil {
		return nil, err
	}
	sum.Write(r.before)
	sum.Write(r.after)
	token, err := tsp.Obtain(ctx, t, h, sum.Sum(nil))
	if err != nil {
		return nil, err
	}
	return token.Raw, nil
}

// buildTimestampRevision builds the revision for a document timestamp in a new field after a
// document of size bytes. Its dictionary has no entries about the signer and the reason.
// Certifications and locks permit a document timestamp (ISO 32000-2 table 257), but the permissions
// of an encrypted document have to permit a new field.
func buildTimestampRevision(file *pdf.File, found form.Fields, size int64, reserved int) (unsignedRevision, error) {
	if err := checkPermissions(file, true); err != nil {
		return unsignedRevision{}, err
	}
	page, err := file.Page(1)
	if err != nil {
		return unsignedRevision{}, err
	}
	withAppearance, err := isPDFA1(file)
	if err != nil {
		return unsignedRevision{}, err
	}
	var b bytes.Buffer
	timestamp := beginSignature(&b, "/Type /DocTimeStamp /Filter /Adobe.PPKLite /SubFilter /ETSI.RFC3161", reserved)
	b.WriteString(" >>")
	timestamp.source = b.Bytes()
	update := file.NewUpdate()
	ref := update.Add(timestamp.source)
	field := newField{found.FreeName("Timestamp"), "Document timestamp", ref, withAppearance, nil, false}
	if _, err := addField(file, update, page, field); err != nil {
		return unsignedRevision{}, err
	}
	if err := declareExtension(file, update); err != nil {
		return unsignedRevision{}, err
	}
	return timestamp.revision(update, ref, size)
}

// isPDFA1 reports whether the file claims to be PDF/A-1, which is based on PDF 1.4. In such a file
// the field of a document timestamp needs an appearance. In other files it has none (ISO 32000-2
// 12.8.5), because pyHanko takes an appearance for filling in a form.
func isPDFA1(file *pdf.File) (bool, error) {
	if major, minor := file.Version(); major != 1 || minor > 4 {
		return false, nil
	}
	return file.ClaimsPDFA()
}
