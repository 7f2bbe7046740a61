package signing

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/internal/pki/validation"
	"github.com/innsigli/innsigli/storage"
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
func (sess *session) complete(ctx context.Context, patience time.Duration) error {
	attempt, end := context.WithTimeout(ctx, patience)
	defer end()
	d, err := sess.draft(attempt)
	if err != nil {
		return sess.postponeAttempt(ctx, attempt, err, nil)
	}
	defer d.Close()
	signer, failure, err := sess.finish(attempt, d)
	ctx = context.WithoutCancel(ctx)
	switch {
	case failure != nil:
		return sess.fail(ctx, *failure)
	case err != nil && !keepsTimestamp(err):
		return sess.postponeAttempt(ctx, attempt, err, nil)
	case err != nil:
		return sess.postponeAttempt(ctx, attempt, err, d)
	}
	return sess.finishDocument(ctx, signedDocument{signer: signer, draft: d})
}

// draft opens the document, for the value to be put in.
func (sess *session) draft(ctx context.Context) (draft, error) {
	blob, err := sess.documents.Open(ctx, sess.r.Document)
	if err != nil {
		return nil, fmt.Errorf("signing: opening the document: %w", err)
	}
	d, err := sess.r.format().draft(ctx, sess, blob, sess.r.Pending)
	if err != nil {
		blob.Close()
	}
	return d, err
}

// postponeAttempt postpones a completion whose attempt has failed, or had no more time.
func (sess *session) postponeAttempt(ctx, attempt context.Context, err error, d draft) error {
	if attempt.Err() != nil {
		err = fmt.Errorf("%w: %w", errCutShort, err)
	}
	return sess.postpone(context.WithoutCancel(ctx), err, d)
}

// finish makes the signed document. What keeps it from being signed for good is the failure, in the
// order of spec 3.8. With an error, the draft has what the next try need not make again.
func (sess *session) finish(ctx context.Context, d draft) (signer ades.SignerIdentity, _ *idp.Failure, _ error) {
	signer, err := d.signer(sess.r.Value)
	if err != nil {
		return signer, wrongValue, nil
	}
	sources := sess.options.Sources()
	chain, f, err := sess.checkCertificate(ctx, signer.Certificate, signer.Chain, sources, time.Now())
	if f != nil || err != nil {
		return signer, f, err
	}
	if f, err := sess.insertValue(ctx, d, sources.Time); f != nil || err != nil {
		return signer, f, err
	}
	err = sess.addValidationData(ctx, d, signer, sources)
	return signer, cmp.Or(revoked(err, chain), sess.r.format().failure(err)), err
}

// insertValue puts the value into the document, or what an earlier try has come to; nothing more where that
// one has kept it in the document.
func (sess *session) insertValue(ctx context.Context, d draft, time ades.Timestamper) (*idp.Failure, error) {
	prepared, stored := d.base()
	switch {
	case stored != prepared && sess.r.ordered(): // somebody else has signed it since
		return unwanted, nil
	case stored != prepared:
		return nil, nil
	case sess.r.Draft != nil:
		return nil, d.restore(sess.r.Draft)
	}
	err := d.sign(ctx, sess.r.Value, time)
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
	return errors.Is(err, ades.ErrNoRevocation) || errors.Is(err, ades.ErrTimestamp) || errors.Is(err, errNoMemory)
}

// addValidationData makes what the level asks for beside the signature, and sees to it that the
// signer's certificate is not revoked at any level.
func (sess *session) addValidationData(ctx context.Context, d draft, signer ades.SignerIdentity, sources ades.Sources) error {
	if sess.r.Level >= ades.T { // a token that was too long for the signature stands beside it
		if err := d.extend(ctx, sess.r.Level, sources); err != nil {
			return err
		}
	}
	if sess.r.Level >= ades.LT {
		return nil
	}
	return checkRevocation(ctx, signer, sources)
}

// checkRevocation asks about the certificates below the root, about the signer's anew. The
// document carries none of it: whoever validates it asks again, so that any answer of now
// will do, and a revocation counts until the document is delivered. Without a source it
// cannot ask: that is an operator's choice, and level LT is not to be had then.
func checkRevocation(ctx context.Context, signer ades.SignerIdentity, sources ades.Sources) error {
	if sources.Revocation == nil {
		return nil
	}
	sources.Revocation = uncached{sources.Revocation, signer.Certificate}
	_, err := validation.Collect(ctx, sources, validation.NewKnown(ctx, sources, signer.Chain...), validation.Target{Certificate: signer.Certificate})
	return err
}

// uncached asks about one certificate past every cache.
type uncached struct {
	source ades.Revocation
	about  *x509.Certificate
}

// Revocation implements [ades.Revocation].
func (a uncached) Revocation(ctx context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	if cert.Equal(a.about) {
		notBefore = cert.NotBefore // and so is every proof about it
	}
	return a.source.Revocation(ctx, cert, issuer, notBefore)
}

// revoked is the failure of a signer whose certificate is revoked, or that of an authority
// in its chain. A revoked certificate of another chain is not the signer's fault, and no
// failure.
func revoked(err error, chain []*x509.Certificate) *idp.Failure {
	var r *ades.RevokedError
	switch {
	case !errors.As(err, &r):
		return nil
	case r.Certificate.Equal(chain[0]):
		return &idp.Failure{Code: idp.CertificateIsRevoked, Description: "The certificate is revoked."}
	case isAbove(r.Certificate, chain):
		return &idp.Failure{Code: idp.CertificateValidationError, Description: "The certificate of the certificate's issuer is revoked."}
	}
	return nil
}

// isAbove says whether an authority's certificate is in a chain or stands for one that is:
// an authority may have several under one key, and another may have been found on the way.
func isAbove(authority *x509.Certificate, chain []*x509.Certificate) bool {
	return slices.ContainsFunc(chain, func(c *x509.Certificate) bool { return ades.CheckIssuer(c, authority) == nil })
}

const (
	// retryAfter is the pause before a completion is tried again, and retrySeldom the one
	// that it grows to, since a try may cost a large revocation list. Polls in between do
	// not try: they would wait for what does not answer.
	retryAfter  = 5 * time.Second
	retrySeldom = 30 * time.Second
)

// postpone lets a completion be tried again, until its time is over, and keeps what it has
// come to, unless that is nil. One that was cut short is due at once, for whoever has more time. That a source
// of evidence is down is nobody's error until then; others are the caller's to hear of.
func (sess *session) postpone(ctx context.Context, cause error, d draft) error {
	now := now()
	waited := now.Sub(cmp.Or(sess.r.SignedAt, sess.r.Expires))
	if waited > sess.r.completeFor() {
		return errors.Join(sess.fail(ctx, incomplete), sess.notifyPostponed(ctx, cause))
	}
	pause := min(max(waited/4, retryAfter), retrySeldom)
	if errors.Is(cause, errCutShort) {
		pause = 0
	}
	err := sess.store(ctx, func(ctx context.Context, r *Request) error {
		r.NextTry = whole(now.Add(pause))
		if d == nil {
			return nil
		}
		return d.keep(ctx, sess.documents, r)
	})
	return errors.Join(err, sess.notifyPostponed(ctx, cause))
}

var incomplete = idp.Failure{Code: idp.InternalError, Description: "The signature could not be completed: what a timestamp authority or a revocation service says about it was not to be had."}

// notifyPostponed passes on why a completion failed, and returns what is not the fault of a source.
func (sess *session) notifyPostponed(ctx context.Context, cause error) error {
	if !slices.ContainsFunc(faultsOfSources, func(fault error) bool { return errors.Is(cause, fault) }) {
		return cause
	}
	sess.report(ctx, Step{Request: sess.id, Name: "signature.postponed", Err: cause})
	return nil
}

// faultsOfSources are what evidence is not to be had for. A chain that is missing or
// expired is that of a timestamp authority or a responder: the signer's was looked at.
var faultsOfSources = []error{
	ades.ErrTimestamp, ades.ErrNoRevocation, ades.ErrUnavailable, ades.ErrRevoked, ades.ErrNoChain, ades.ErrOutsideValidity,
}

// signedDocument is a signed document that is about to be stored.
type signedDocument struct {
	signer ades.SignerIdentity
	draft  draft
	content
}

// finishDocument stores a signed document, and that it is the request's. What was stored of it for a
// transaction that came to nothing is dropped, unless it is not known what came of that: then it is
// swept.
func (sess *session) finishDocument(ctx context.Context, signed signedDocument) (err error) {
	if signed.content, err = signed.draft.finish(ctx, sess.documents); err == nil {
		failpoint.Here("signing/finished")
		if err = sess.storeCompletion(ctx, signed); err == nil {
			failpoint.Here("signing/completed")
			return nil
		}
		if !errors.Is(err, storage.ErrUnavailable) {
			_ = sess.drop(ctx, signed.draft.fresh()...) // what stays is swept
		}
	}
	switch {
	case errors.Is(err, ErrUnwanted), sess.r.ordered() && errors.Is(err, storage.ErrMoved):
		return sess.fail(ctx, *unwanted)
	case errors.Is(err, storage.ErrFull):
		sess.postponeFull(ctx, signed.draft)
	}
	return err
}

// postponeFull puts off what a store has no room for. There may be some for what it has come to, as what is
// kept of XML is small, or else for so little that it is put off.
func (sess *session) postponeFull(ctx context.Context, d draft) {
	later := func(_ context.Context, r *Request) error {
		r.NextTry = now().Add(retrySeldom)
		return nil
	}
	err := sess.store(ctx, func(ctx context.Context, r *Request) error {
		return errors.Join(later(ctx, r), d.keep(ctx, sess.documents, r))
	})
	if err != nil {
		_ = sess.store(ctx, later)
	}
}

func (sess *session) storeCompletion(ctx context.Context, signed signedDocument) error {
	return sess.store(ctx, func(ctx context.Context, r *Request) error {
		r.Phase = Complete
		return errors.Join(
			signed.draft.complete(ctx, sess.documents, r),
			sess.jobs.DropUnique(ctx, r.completionKind(), r.ID),
			sess.record(ctx, r, completedEntryKind, completedEntry{Level: r.Level.String(), content: signed.content}),
			sess.notifyOwner(ctx, r, signed),
		)
	})
}
