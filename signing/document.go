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

// Format is what kind of document is signed. It is stored.
type Format string

const (
	PDF Format = "" // also what was stored before there were others
	XML Format = "xml"
)

// Packing is how an XML document and its signature stand to one another.
type Packing = xades.Packing

// format is what the kinds of documents do each in its own way.
type format interface {
	// prepare makes the document ready to be signed with the signer's certificate.
	prepare(ctx context.Context, t *session, blob storage.Blob, signer ades.SignerIdentity, at time.Time) (preparation, error)
	// read reads what prepare made.
	read(encoded []byte) (preparation, error)
	// draft has the value of what prepare made go into the document, which it closes in the end.
	draft(ctx context.Context, t *session, blob storage.Blob, encoded []byte) (draft, error)
	// failure is what a document is answered with that cannot be signed (spec 3.10); nil
	// when the error is another.
	failure(err error) *idp.Failure
}

// preparation is a signature that lacks its value.
type preparation interface {
	Digest() ades.Digest
	Signer() ades.SignerIdentity // without Certificate when it comes with the value
	MarshalBinary() ([]byte, error)
}

// draft is a stored document with what is to become of it. What is stored changes in land and keep
// alone, which join a transaction and may be called again in another.
type draft interface {
	Close() error
	// signer is who the value is a signature of.
	signer(value []byte) (ades.SignerIdentity, error)
	// base is the length of the document that was prepared. It is another one that is stored when
	// an earlier try has kept something there, or somebody else has signed.
	base() (prepared, stored int64)
	// sign puts the value in; restore what an earlier try had come to.
	sign(ctx context.Context, value []byte, t ades.Timestamper) error
	restore(kept []byte) error
	// extend raises the signature to a level. An error changes nothing.
	extend(ctx context.Context, level ades.Level, s ades.Sources) error
	// finish stores of the signed document what takes no transaction, and identifies it.
	finish(ctx context.Context, documents storage.Documents) (content, error)
	// fresh are documents that finish has stored, to be dropped unless they land.
	fresh() []string
	// finishDocument makes the signed document the request's.
	complete(ctx context.Context, documents storage.Documents, r *Request) error
	// keep keeps what has come of the document so far, for the next try.
	keep(ctx context.Context, documents storage.Documents, r *Request) error
}

// format is that of the request's document.
func (r *Request) format() format {
	if r.Format == XML {
		return xmlFormat{}
	}
	return pdfFormat{}
}

// Upload stores a document that is about to be signed, while it arrives. What is
// not started with [Service.Start] is to be given to [Service.Discard].
// storage.ErrTooLarge when it has more than limit bytes; an error of r is returned
// as it is.
func (s *Service) Upload(ctx context.Context, r io.Reader, limit int64) (document string, err error) {
	ref, err := s.documents.Create(ctx, r, limit, storedHash)
	return ref.ID, err
}

// Discard removes an uploaded document that no request was started with.
func (s *Service) Discard(ctx context.Context, document string) error { return s.drop(ctx, document) }

// drop removes documents that no request refers to.
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

// document is a stored document as pades reads it.
func document(b storage.Blob) pades.Document {
	d := pades.Document{ReaderAt: b, Size: b.Size()}
	for _, m := range b.Hashed() {
		d.Hashed = append(d.Hashed, pades.Midstate(m))
	}
	return d
}

// stored is a revision as storage appends it.
func stored(r pades.Revision) storage.Revision {
	s := storage.Revision{Base: r.Base, Bytes: r.Bytes}
	for _, m := range r.Hashed {
		s.Hashed = append(s.Hashed, storage.Midstate(m))
	}
	return s
}

// restored is a revision as pades made it.
func restored(s storage.Revision) pades.Revision {
	r := pades.Revision{Base: s.Base, Bytes: s.Bytes}
	for _, m := range s.Hashed {
		r.Hashed = append(r.Hashed, pades.Midstate(m))
	}
	return r
}
