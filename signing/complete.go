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

// completeFor is how long the service tries to get the timestamp and the revocation data for a stored
// value (spec 3.9).
const completeFor = 15 * time.Minute

// errCutShort: the time of an attempt was over before the sources had answered.
var errCutShort = fmt.Errorf("signing: completion cut short: %w", ades.ErrUnavailable)

// complete makes an attempt to complete the signature: it puts the stored value into the document,
// raises it to the level of the request, and stores the signed document. The document is delivered at
// that level or not at all. An attempt that lacks something, or takes longer than timeout, is postponed.
// Its outcome is stored also when the context ends, as long as the lease is held.
func (sess *session) complete(ctx context.Context, timeout time.Duration) error {
	attempt, end := context.WithTimeout(ctx, timeout)
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

// draft opens the document as a draft of the signed one.
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

// postponeAttempt postpones the completion after an attempt that failed or ran out of time.
func (sess *session) postponeAttempt(ctx, attempt context.Context, err error, d draft) error {
	if attempt.Err() != nil {
		err = fmt.Errorf("%w: %w", errCutShort, err)
	}
	return sess.postpone(context.WithoutCancel(ctx), err, d)
}

// finish makes the signed document. The failure is final and is found in the order of spec 3.8. An error is
// not final; the draft then has the parts that the next attempt need not make again.
func (sess *session) finish(ctx context.Context, d draft) (signer ades.SignerIdentity, _ *idp.Failure, _ error) {
	signer, err := d.signer(sess.r.Value)
	if err != nil {
		return signer, wrongValue, nil
	}
	sources := sess.options.Sources()
	chain, f, err := sess.checkCertificate(ctx, signer.Certificate, signer.Chain, sources, sess.now(ctx))
	if f != nil || err != nil {
		return signer, f, err
	}
	if f, err := sess.insertValue(ctx, d, sources.Time); f != nil || err != nil {
		return signer, f, err
	}
	err = sess.addValidationData(ctx, d, signer, sources)
	return signer, cmp.Or(revoked(err, chain), sess.r.format().failure(err)), err
}

// insertValue puts the value and its timestamp into the document, or the draft that an earlier attempt has
// stored. It does nothing if the earlier attempt has appended that draft to the document.
func (sess *session) insertValue(ctx context.Context, d draft, time ades.Timestamper) (*idp.Failure, error) {
	prepared, stored := d.base()
	switch {
	case stored != prepared && sess.r.ordered(): // another person has signed it since
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

// wrongValue is the failure of a value that is no signature by the person's certificate.
var wrongValue = &idp.Failure{Code: idp.SignatureVerificationError, Description: "The signature does not belong to the document and the certificate."}

// keepsTimestamp reports whether the signature and its timestamp are stored although other validation
// data was not available. From the time of the timestamp on, a revocation does not invalidate the
// signature (EN 319 102-1 5.5.4), and the next attempt does not request, and pay for, another timestamp.
// If the timestamp itself is invalid, for example under a root that is not trusted, the next attempt
// requests another one.
func keepsTimestamp(err error) bool {
	return errors.Is(err, ades.ErrNoRevocation) || errors.Is(err, ades.ErrTimestamp) || errors.Is(err, errBusy)
}

// addValidationData adds the validation data that the level needs. At every level it checks that the
// signer's certificate is not revoked.
func (sess *session) addValidationData(ctx context.Context, d draft, signer ades.SignerIdentity, sources ades.Sources) error {
	if sess.r.Level >= ades.T { // at T: a token too long for the room in the signature becomes a document timestamp
		if err := d.extend(ctx, sess.r.Level, sources); err != nil {
			return err
		}
	}
	if sess.r.Level >= ades.LT {
		return nil
	}
	return checkRevocation(ctx, signer, sources)
}

// checkRevocation gets the revocation status of the certificates below the root, that of the signer's
// past every cache. The answers do not go into the document: at these levels a verifier asks again, so any
// current answer will do, and a revocation counts until the document is delivered. Without a source of
// revocation data nothing is checked: that is an operator's choice, which excludes level LT.
func checkRevocation(ctx context.Context, signer ades.SignerIdentity, sources ades.Sources) error {
	if sources.Revocation == nil {
		return nil
	}
	sources.Revocation = uncached{sources.Revocation, signer.Certificate}
	_, err := validation.Collect(ctx, sources, validation.NewKnown(ctx, sources, signer.Chain...), validation.Target{Certificate: signer.Certificate})
	return err
}

// uncached is a source of revocation data that asks about one certificate past every cache.
type uncached struct {
	source ades.Revocation
	about  *x509.Certificate
}

// Revocation implements [ades.Revocation].
func (a uncached) Revocation(ctx context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	if cert.Equal(a.about) {
		notBefore = cert.NotBefore // a time, so that no cache is read; every answer is as late
	}
	return a.source.Revocation(ctx, cert, issuer, notBefore)
}

// revoked returns the failure of a signer whose certificate is revoked, or whose chain has a revoked
// authority. It returns nil for a revoked certificate of another chain, such as a timestamp authority's.
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

// isAbove reports whether the authority issued a certificate of the chain. The chain may have another
// certificate of the authority's key.
func isAbove(authority *x509.Certificate, chain []*x509.Certificate) bool {
	return slices.ContainsFunc(chain, func(c *x509.Certificate) bool { return ades.CheckIssuer(c, authority) == nil })
}

const (
	// retryAfter is the first pause between attempts to complete a signature, and retrySeldom the
	// longest, since an attempt may download a large revocation list. Polls in between make no attempt:
	// they would wait for a source that does not answer.
	retryAfter  = 5 * time.Second
	retrySeldom = 30 * time.Second
)

// postpone schedules the next attempt to complete the signature and stores the draft d, unless that is nil. After
// an attempt that was cut short the next one is due at once, by a job, which has more time than a poll. When the
// time for completing is over, postpone ends the request instead. It returns cause, unless that is a fault
// of a source.
func (sess *session) postpone(ctx context.Context, cause error, d draft) error {
	now := sess.now(ctx)
	waited := now.Sub(cmp.Or(sess.r.SignedAt, sess.r.Expires))
	keep := func(ctx context.Context, r *Request) error {
		if d == nil {
			return nil
		}
		return d.keep(ctx, sess.documents, r)
	}
	if waited > sess.r.completeFor() {
		end := func(ctx context.Context, r *Request) error { return sess.giveUp(ctx, r, cause) }
		err := sess.store(ctx, func(ctx context.Context, r *Request) error { return errors.Join(keep(ctx, r), end(ctx, r)) })
		if errors.Is(err, storage.ErrFull) { // there may be room for less
			err = sess.store(ctx, end)
		}
		if isFaultOfSource(cause) {
			cause = nil
		}
		return errors.Join(err, cause)
	}
	pause := min(max(waited/4, retryAfter), retrySeldom)
	if errors.Is(cause, errCutShort) {
		pause = 0
	}
	err := sess.store(ctx, func(ctx context.Context, r *Request) error {
		r.NextTry = whole(now.Add(pause))
		return keep(ctx, r)
	})
	return errors.Join(err, sess.notifyPostponed(ctx, cause))
}

// notifyPostponed reports a fault of a source as a step and returns nil. It returns every other cause.
func (sess *session) notifyPostponed(ctx context.Context, cause error) error {
	if !isFaultOfSource(cause) {
		return cause
	}
	sess.report(ctx, Step{Request: sess.id, Name: "signature.postponed", Err: cause})
	return nil
}

// isFaultOfSource reports whether a source of validation data is responsible for the error of an attempt.
func isFaultOfSource(err error) bool {
	return slices.ContainsFunc(faultsOfSources, func(fault error) bool { return errors.Is(err, fault) })
}

// faultsOfSources are the errors of attempts for which a source is responsible. A chain that is missing or
// expired is that of a timestamp authority or a responder: the signer's has been checked by then.
var faultsOfSources = []error{
	ades.ErrTimestamp, ades.ErrNoRevocation, ades.ErrUnavailable, ades.ErrRevoked, ades.ErrNoChain, ades.ErrOutsideValidity,
}

// signedDocument is a document at its level that is about to be stored.
type signedDocument struct {
	signer ades.SignerIdentity
	draft  draft
	content
}

// finishDocument stores the signed document and makes it the request's. If that transaction is rolled back,
// the content that was stored for it is dropped. If it is not known whether it was committed, the content is
// left to the sweep of documents that no record refers to.
func (sess *session) finishDocument(ctx context.Context, signed signedDocument) (err error) {
	if signed.content, err = signed.draft.finish(ctx, sess.documents); err == nil {
		failpoint.Here("signing/finished")
		if err = sess.storeCompletion(ctx, signed); err == nil {
			failpoint.Here("signing/completed")
			return nil
		}
		if !errors.Is(err, storage.ErrUnavailable) {
			_ = sess.drop(ctx, signed.draft.fresh()...) // else swept
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

// postponeFull schedules the next attempt after the store had no room for the document. It stores the draft
// if there is room for that, which is small for XML, and else the time alone.
func (sess *session) postponeFull(ctx context.Context, d draft) {
	later := func(_ context.Context, r *Request) error {
		r.NextTry = sess.now(ctx).Add(retrySeldom)
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
