package signing

import (
	"context"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
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
	prepare(ctx context.Context, t *turn, blob storage.Blob, signer ades.SignerIdentity, at time.Time) (preparation, error)
	// read reads what prepare made.
	read(encoded []byte) (preparation, error)
	// draft has the value of what prepare made go into the document, which it closes in the end.
	draft(ctx context.Context, t *turn, blob storage.Blob, encoded []byte) (draft, error)
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
	// land makes the signed document the request's.
	land(ctx context.Context, documents storage.Documents, r *Request) error
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
