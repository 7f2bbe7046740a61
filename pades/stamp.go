package pades

import (
	"bytes"
	"context"
	"crypto"
	"fmt"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
)

// stamped returns the revision with a timestamp over the whole document: a document
// timestamp (ISO 32000-2 12.8.5, EN 319 142-1 5.4.3). A token that is longer than its
// place gets a longer one; nobody has to sign again for that.
func stamped(ctx context.Context, doc Document, t ades.Timestamper) (Revision, error) {
	if t == nil {
		return Revision{}, fmt.Errorf("pades: %w: no timestamp authority", ades.ErrTimestamp)
	}
	h := hashOf(doc)
	for reserved := tokenSize; ; {
		l, err := layOutTimestamp(doc, reserved)
		if err != nil {
			return Revision{}, err
		}
		sum, err := doc.hashed(ctx, h)
		if err != nil {
			return Revision{}, err
		}
		state, err := save(sum)
		if err != nil {
			return Revision{}, err
		}
		sum.Write(l.before)
		sum.Write(l.after)
		token, err := timestampOver(ctx, t, h, sum.Sum(nil))
		if err != nil {
			return Revision{}, err
		}
		switch {
		case len(token.Raw) <= reserved:
			if sum, err = restore(h, state); err != nil {
				return Revision{}, err
			}
			return newRevision(doc.Size, l.filled(token.Raw), h, sum)
		case reserved > tokenSize:
			return Revision{}, fmt.Errorf("pades: %w: tokens of %d and more bytes over one document", ades.ErrTimestamp, len(token.Raw))
		}
		reserved = len(token.Raw) + len(token.Raw)/8 // serial numbers and the like differ in length
	}
}

// hashOf is the hash that a document is known by already, else SHA-256.
func hashOf(doc Document) crypto.Hash {
	for _, m := range doc.Hashed {
		if _, ok := hashNames[m.Hash]; ok && m.Offset == doc.Size {
			return m.Hash
		}
	}
	return crypto.SHA256
}

// mayBePDFA1 says whether the file is of a version that PDF/A-1 is made of. Elsewhere a
// document timestamp has no appearance (ISO 32000-2 12.8.5), with which pyHanko takes it
// for more than one.
func mayBePDFA1(file *pdf.File) bool {
	major, minor := file.Version()
	return major == 1 && minor <= 4
}

// layOutTimestamp lays out a document timestamp in a field of its own. It has none of the
// entries that say who signed and why. Certifications and locks do not count it as a
// change of the document (ISO 32000-2 table 257); the encryption's permissions do, as
// the field is a new one.
func layOutTimestamp(doc Document, reserved int) (layout, error) {
	file, err := pdf.Open(doc, doc.Size)
	if err != nil {
		return layout{}, err
	}
	if err := checkPermissions(file, true); err != nil {
		return layout{}, err
	}
	found, err := readFields(file)
	if err != nil {
		return layout{}, err
	}
	page, err := file.Page(1)
	if err != nil {
		return layout{}, err
	}
	var b bytes.Buffer
	timestamp := beginSignature(&b, "/Type /DocTimeStamp /Filter /Adobe.PPKLite /SubFilter /ETSI.RFC3161", reserved)
	b.WriteString(" >>")
	timestamp.source = b.Bytes()
	update := file.NewUpdate()
	ref := update.Add(timestamp.source)
	field := newField{found.freeName("Timestamp"), "Document timestamp", ref, mayBePDFA1(file)}
	if _, err := addField(file, update, page, field); err != nil {
		return layout{}, err
	}
	if err := declareExtension(file, update); err != nil {
		return layout{}, err
	}
	return timestamp.cutOut(update, ref, doc.Size)
}
