package signing

import (
	"context"
	"io"

	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/storage"
)

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
