package signing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
)

// completeFor is how long a stored value waits for its timestamp and for what says that
// nothing was revoked (spec 3.9).
const completeFor = 15 * time.Minute

// errCutShort: an attempt had no more time, while a source may be about to answer.
var errCutShort = fmt.Errorf("signing: completion cut short: %w", ades.ErrUnavailable)

// complete puts the stored value into the document and stores what that makes of it: the
// document is delivered at its level or not at all. A completion that lacks something, or
// takes longer than there is time for, is put off. What it has come to is stored also when
// the context ends, as long as the lease is held.
func (t *turn) complete(ctx context.Context, patience time.Duration) error {
	attempt, end := context.WithTimeout(ctx, patience)
	defer end()
	d, err := t.draft(attempt)
	if err != nil {
		return t.putOff(ctx, attempt, err, nil)
	}
	defer d.Close()
	signer, failure, err := t.finish(attempt, d)
	ctx = context.WithoutCancel(ctx)
	switch {
	case failure != nil:
		return t.fail(ctx, *failure)
	case err != nil && !keepsTimestamp(err):
		return t.putOff(ctx, attempt, err, nil)
	case err != nil:
		return t.putOff(ctx, attempt, err, d)
	}
	return t.land(ctx, finished{signer: signer, draft: d})
}

// draft opens the document, for the value to be put in.
func (t *turn) draft(ctx context.Context) (draft, error) {
	blob, err := t.documents.Open(ctx, t.r.Document)
	if err != nil {
		return nil, fmt.Errorf("signing: opening the document: %w", err)
	}
	d, err := t.r.format().draft(ctx, t, blob, t.r.Pending)
	if err != nil {
		blob.Close()
	}
	return d, err
}

// putOff postpones a completion whose attempt has failed, or had no more time.
func (t *turn) putOff(ctx, attempt context.Context, err error, d draft) error {
	if attempt.Err() != nil {
		err = fmt.Errorf("%w: %w", errCutShort, err)
	}
	return t.postpone(context.WithoutCancel(ctx), err, d)
}

// finish makes the signed document. What keeps it from being signed for good is the failure, in the
// order of spec 3.8. With an error, the draft has what the next try need not make again.
func (t *turn) finish(ctx context.Context, d draft) (signer ades.SignerIdentity, _ *idp.Failure, _ error) {
	signer, err := d.signer(t.r.Value)
	if err != nil {
		return signer, wrongValue, nil
	}
	sources := t.options.Sources()
	chain, f, err := t.checkCertificate(ctx, signer.Certificate, signer.Chain, sources, time.Now())
	if f != nil || err != nil {
		return signer, f, err
	}
	if f, err := t.putIn(ctx, d, sources.Time); f != nil || err != nil {
		return signer, f, err
	}
	err = t.prove(ctx, d, signer, sources)
	return signer, cmp.Or(revoked(err, chain), t.r.format().failure(err)), err
}

// putIn puts the value into the document, or what an earlier try has come to; nothing more where that
// one has kept it in the document.
func (t *turn) putIn(ctx context.Context, d draft, time ades.Timestamper) (*idp.Failure, error) {
	prepared, stored := d.base()
	switch {
	case stored != prepared && t.r.ordered(): // somebody else has signed it since
		return unwanted, nil
	case stored != prepared:
		return nil, nil
	case t.r.Kept != nil:
		return nil, d.restore(t.r.Kept)
	}
	err := d.sign(ctx, t.r.Value, time)
	if errors.Is(err, ades.ErrValue) || errors.Is(err, ades.ErrAlgorithm) {
		return wrongValue, nil
	}
	return nil, err
}

// wrongValue is the failure of a value that is no signature of the person's.
var wrongValue = &idp.Failure{Code: idp.SignatureVerificationError, Description: "The signature does not belong to the document and the certificate."}

// keepsTimestamp says whether the signature is kept with its timestamp although what else
// it needs was not to be had. From that time on a revocation does not undo it (EN 319
// 102-1 5.5.4), and no authority is asked, and paid, at each try. When the timestamp
// itself is what is wrong, as under a root that is not trusted, the next try gets another.
func keepsTimestamp(err error) bool {
	return errors.Is(err, ades.ErrNoRevocation) || errors.Is(err, ades.ErrTimestamp) || errors.Is(err, errNoRoom)
}
