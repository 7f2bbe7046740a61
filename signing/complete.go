package signing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/storage"
)

// completeFor is how long a stored value waits for its timestamp and for what says that
// nothing was revoked (decisions.md 4.8).
const completeFor = 15 * time.Minute

// errCutShort: an attempt had no more time, while a source may be about to answer.
var errCutShort = fmt.Errorf("signing: completion cut short: %w", ades.ErrUnavailable)

// complete puts the stored value into the document and stores what that appends: the
// document is delivered at its level or not at all. A completion that lacks something, or
// takes longer than there is time for, is put off. What it has come to is stored also when
// the context ends, as long as the lease is held.
func (t *turn) complete(ctx context.Context, patience time.Duration) error {
	attempt, end := context.WithTimeout(ctx, patience)
	defer end()
	signed, failure, err := t.finish(attempt)
	if err != nil && attempt.Err() != nil {
		err = fmt.Errorf("%w: %w", errCutShort, err)
	}
	ctx = context.WithoutCancel(ctx)
	switch {
	case failure != nil:
		return t.fail(ctx, *failure)
	case err != nil:
		return t.postpone(ctx, err, signed.revisions)
	}
	err = t.store(ctx, func(ctx context.Context, r *Request) error {
		r.Phase = Complete
		return errors.Join(
			t.documents.Append(ctx, r.Document, signed.revisions...),
			t.jobs.DropUnique(ctx, r.completionKind(), r.ID),
			t.record(ctx, r, completedEntry, completedFacts{Level: r.Level.String(), content: signed.content}),
			t.handOver(ctx, r, signed),
		)
	})
	switch {
	case err == nil:
		failpoint.Here("signing/completed")
	case errors.Is(err, ErrUnwanted), t.r.ordered() && errors.Is(err, storage.ErrMoved):
		return t.fail(ctx, *unwanted)
	case errors.Is(err, storage.ErrFull): // there may be room for so little that it is put off
		_ = t.store(ctx, func(_ context.Context, r *Request) error {
			r.NextTry = now().Add(retrySeldom)
			return nil
		})
	}
	return err
}

// finished is what completes a document.
type finished struct {
	signer    ades.Signer
	revisions []storage.Revision // to append
	content                      // of the document with them
}

// finish makes what is appended to the document. What keeps it from being signed for
// good is the failure, in the order of decisions.md 4.9. With an error comes what the next
// try need not make again.
func (t *turn) finish(ctx context.Context) (signed finished, _ *idp.Failure, _ error) {
	var p pades.Pending
	if err := p.UnmarshalBinary(t.r.Pending); err != nil {
		return signed, nil, fmt.Errorf("signing: reading the prepared signature: %w", err)
	}
	signer, err := p.SignerOf(t.r.Value)
	if err != nil {
		return signed, wrongValue, nil
	}
	signed.signer = signer
	sources := t.options.Sources()
	chain, f, err := t.checkCertificate(ctx, signer.Certificate, signer.Chain, sources, time.Now())
	if f != nil || err != nil {
		return signed, f, err
	}
	blob, err := t.documents.Open(ctx, t.r.Document)
	if err != nil {
		return signed, nil, fmt.Errorf("signing: opening the document: %w", err)
	}
	defer blob.Close()
	doc := document(blob)
	made, f, err := t.made(ctx, &p, doc, sources.Time)
	if f != nil || err != nil {
		return signed, f, err
	}
	for _, r := range made {
		doc = signed.add(doc, r)
	}
	further, err := t.prove(ctx, doc, signer, sources)
	if f := cmp.Or(revoked(err, chain), documentFailure(err)); f != nil {
		return finished{}, f, nil
	}
	if err != nil && !keepsTimestamp(err) {
		return finished{}, nil, err
	}
	for _, r := range further {
		doc = signed.add(doc, r)
	}
	signed.content = known(doc)
	return signed, nil, err
}

// made is what the value makes of the document: the revision with the signature, or what an
// earlier try has come to; nothing more where that one has kept it in the document.
func (t *turn) made(ctx context.Context, p *pades.Pending, doc pades.Document, time ades.Timestamper) ([]pades.Revision, *idp.Failure, error) {
	unsigned, _ := p.Base()
	switch {
	case doc.Size != unsigned && t.r.ordered(): // somebody else has signed it since
		return nil, unwanted, nil
	case doc.Size != unsigned:
		return nil, nil, nil
	case t.r.Kept != nil:
		kept, err := t.r.kept()
		return kept, nil, err
	}
	first, err := p.Complete(ctx, t.r.Value, time)
	if errors.Is(err, ades.ErrValue) || errors.Is(err, ades.ErrAlgorithm) {
		return nil, wrongValue, nil
	}
	return []pades.Revision{first}, nil, err
}

// wrongValue is the failure of a value that is no signature of the person's.
var wrongValue = &idp.Failure{Code: idp.SignatureVerificationError, Description: "The signature does not belong to the document and the certificate."}

// add appends a revision to the document.
func (f *finished) add(doc pades.Document, r pades.Revision) pades.Document {
	f.revisions = append(f.revisions, stored(r))
	return doc.With(r)
}

// keepsTimestamp says whether the signature is kept with its timestamp although what else
// it needs was not to be had. From that time on a revocation does not undo it (EN 319
// 102-1 5.5.4), and no authority is asked, and paid, at each try. When the timestamp
// itself is what is wrong, as under a root that is not trusted, the next try gets another.
func keepsTimestamp(err error) bool {
	return errors.Is(err, ades.ErrNoRevocation) || errors.Is(err, ades.ErrTimestamp)
}
