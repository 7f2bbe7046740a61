package signing

import (
	"context"
	"io"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/xades"
)

// Format is the format of a document. It is stored.
type Format string

const (
	PDF Format = "" // also of requests that were stored before there were others
	XML Format = "xml"
)

// Packing is the relation of an XML document and its signature.
type Packing = xades.Packing

// format has the parts of signing that differ between the formats of documents.
type format interface {
	// prepare prepares a signature of the document with the signer's certificate.
	prepare(ctx context.Context, t *session, blob storage.Blob, signer ades.SignerIdentity, at time.Time) (preparation, error)
	// read reads a stored preparation.
	read(encoded []byte) (preparation, error)
	// openDraft returns a draft of the signed document for a stored preparation. Closing it closes blob.
	openDraft(ctx context.Context, t *session, blob storage.Blob, encoded []byte) (draft, error)
	// failure returns the failure of a document that cannot be signed (spec 3.10), or nil for every
	// other error.
	failure(err error) *idp.Failure
}

// preparation is a prepared signature, which lacks its value.
type preparation interface {
	Digest() ades.Digest
	Signer() ades.SignerIdentity // without Certificate when it comes with the value
	MarshalBinary() ([]byte, error)
}

// draft is a stored document together with the changes that lead to the signed one. Only commit and keep change what
// is stored. They join a transaction, and may be called again in another.
type draft interface {
	Close() error
	// signer returns the signer that the value belongs to.
	signer(value []byte) (ades.SignerIdentity, error)
	// preparedSize returns the size in bytes of the document when the signature was prepared.
	preparedSize() int64
	// hasGrown reports whether the document has grown since: an earlier attempt has appended its draft, or another person
	// has signed. It is false for XML, which is never appended to.
	hasGrown() bool
	// sign puts the value into the draft. restore continues with the draft of an earlier attempt instead.
	sign(ctx context.Context, value []byte, t ades.Timestamper) error
	restore(kept []byte) error
	// extend raises the signature to a level. With an error the draft is unchanged.
	extend(ctx context.Context, level ades.Level, s ades.Sources) error
	// storeNew stores the new documents that commit refers to, and returns the identity of the signed one.
	storeNew(ctx context.Context, documents storage.Documents) (content, error)
	// uncommitted returns the documents that storeNew has stored, to be deleted if commit is rolled back.
	uncommitted() []string
	// commit makes the signed document the request's.
	commit(ctx context.Context, documents storage.Documents, r *Request) error
	// reader returns the document as it is with the changes.
	reader() *io.SectionReader
	// rebase drops what was added to the stored document since the signature was prepared.
	rebase()
	// keep stores the draft for the next attempt.
	keep(ctx context.Context, documents storage.Documents, r *Request) error
}

// format returns the format of the request's document.
func (r *Request) format() format {
	if r.Format == XML {
		return xmlFormat{}
	}
	return pdfFormat{}
}

// Upload stores a document that is about to be signed, and returns its ID for [Service.Start] or
// [Service.Discard]. It returns storage.ErrTooLarge when r has more than limit bytes, and an error of r as it is.
func (s *Service) Upload(ctx context.Context, r io.Reader, limit int64) (document string, err error) {
	ref, err := s.documents.Create(ctx, r, limit, storedHash)
	return ref.ID, err
}

// Discard deletes an uploaded document that no request was started with.
func (s *Service) Discard(ctx context.Context, document string) error { return s.drop(ctx, document) }

// drop deletes documents that no request refers to.
func (s *Service) drop(ctx context.Context, documents ...string) error {
	return s.tx.InTx(context.WithoutCancel(ctx), func(ctx context.Context) error { return s.deleteAll(ctx, documents) })
}

func (s *Service) deleteAll(ctx context.Context, documents []string) error {
	for _, id := range documents {
		if err := s.documents.Delete(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// document converts a stored document for pades.
func document(b storage.Blob) pades.Document {
	d := pades.Document{ReaderAt: b, Size: b.Size()}
	for _, m := range b.Hashed() {
		d.Hashed = append(d.Hashed, pades.Midstate(m))
	}
	return d
}

// stored converts a revision of pades for storage.
func stored(r pades.Revision) storage.Revision {
	s := storage.Revision{Base: r.Base, Bytes: r.Bytes}
	for _, m := range r.Hashed {
		s.Hashed = append(s.Hashed, storage.Midstate(m))
	}
	return s
}

// restored converts a stored revision for pades.
func restored(s storage.Revision) pades.Revision {
	r := pades.Revision{Base: s.Base, Bytes: s.Bytes}
	for _, m := range s.Hashed {
		r.Hashed = append(r.Hashed, pades.Midstate(m))
	}
	return r
}
