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

// complete makes one attempt to take the request from [Signed] to [Complete]. It builds the signature in a draft, for at
// most timeout, and stores the draft as the signed document. That has the level of the request or is not stored at all.
// What follows from an error depends on the stage:
//
//   - A finalError of either stage ends the request with its failure.
//   - After any other error while building, the next attempt is made later. When the time for completing is over,
//     the request ends instead, and its value is kept for [Service.Recover].
//   - If the store is full, the next attempt is made later too, and the error is returned.
//   - Any other error while storing is returned. A later poll or the job tries again.
//
// All this is stored even if ctx has ended, as long as the lease is held.
func (sess *session) complete(ctx context.Context, timeout time.Duration) error {
	attempt, end := context.WithTimeout(ctx, timeout)
	defer end()
	var signer *x509.Certificate
	d, err := sess.openDraft(attempt)
	if err == nil {
		defer d.Close()
		signer, err = sess.buildSignature(attempt, d)
	}
	ctx = context.WithoutCancel(ctx)
	built := err == nil
	if built {
		err = sess.storeSigned(ctx, d, signer)
	} else if attempt.Err() != nil {
		err = fmt.Errorf("%w: %w", errCutShort, err)
	}
	var final finalError
	switch {
	case errors.As(err, &final):
		return sess.fail(ctx, *final.failure)
	case built && errors.Is(err, storage.ErrFull):
		sess.postponeFull(ctx, d)
		return err
	case built:
		return err
	case keepsTimestamp(err):
		return sess.postpone(ctx, err, d)
	}
	return sess.postpone(ctx, err, nil)
}

// keepsTimestamp reports whether the draft of an attempt that ended with err is stored for the next one: its signature
// and timestamp are there, and only other validation data was not available. From the time of the timestamp on,
// a revocation does not invalidate the signature (EN 319 102-1 5.5.4), and the next attempt does not request, and pay
// for, another timestamp. If the timestamp itself is invalid, for example under a root that is not trusted, the
// next attempt requests another one.
func keepsTimestamp(err error) bool {
	return errors.Is(err, ades.ErrNoRevocation) || errors.Is(err, ades.ErrTimestamp) || errors.Is(err, errBusy)
}

// openDraft opens the document as a draft of the signed one.
func (sess *session) openDraft(ctx context.Context) (draft, error) {
	blob, err := sess.documents.Open(ctx, sess.r.Document)
	if err != nil {
		return nil, fmt.Errorf("signing: opening the document: %w", err)
	}
	d, err := sess.r.format().openDraft(ctx, sess, blob, sess.r.Pending)
	if err != nil {
		blob.Close()
	}
	return d, err
}

// buildSignature puts the signature into the draft, at the level of the request, and returns the signer's certificate.
// It checks in the order of spec 3.8. A finalError ends the request. Any other error means: try again later, starting
// from what is already in the draft.
func (sess *session) buildSignature(ctx context.Context, d draft) (*x509.Certificate, error) {
	signer, err := d.signer(sess.r.Value)
	if err != nil {
		return nil, finalError{failure: wrongValue}
	}
	sources := sess.options.Sources()
	chain, err := sess.checkCertificate(ctx, signer.Certificate, signer.Chain, sources, sess.now(ctx))
	if err != nil {
		return nil, err
	}
	if err := sess.insertValue(ctx, d, sources.Time); err != nil {
		return nil, err
	}
	err = sess.addValidationData(ctx, d, signer, sources)
	if f := revoked(err, chain); f != nil {
		return nil, finalError{f, err}
	}
	if f := sess.r.format().failure(err); f != nil {
		return nil, finalError{f, err}
	}
	return signer.Certificate, err
}

// insertValue puts the value and its timestamp into the draft, or restores the draft that an earlier attempt has
// stored with the request. It does nothing if the earlier attempt has appended its draft to the document.
func (sess *session) insertValue(ctx context.Context, d draft, time ades.Timestamper) error {
	prepared, stored := d.base()
	switch {
	case stored != prepared && sess.r.ordered(): // another person has signed it since
		return finalError{failure: unwanted}
	case stored != prepared:
		return nil
	case sess.r.Draft != nil:
		return d.restore(sess.r.Draft)
	}
	err := d.sign(ctx, sess.r.Value, time)
	if errors.Is(err, ades.ErrValue) || errors.Is(err, ades.ErrAlgorithm) {
		return finalError{failure: wrongValue}
	}
	return err
}

// wrongValue is the failure of a value that is no signature by the person's certificate.
var wrongValue = &idp.Failure{Code: idp.SignatureVerificationError, Description: "The signature does not belong to the document and the certificate."}

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
		// Any non-zero notBefore bypasses the cache. The certificate's own start is before the end of any current
		// answer, so it rejects none.
		notBefore = cert.NotBefore
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

// storeSigned stores the draft as the signed document. If the transaction is rolled back, the documents that were
// stored for it are deleted. If it is not known whether it was committed, they are left to the sweep of documents
// that no record refers to. The error is a finalError if the owner refuses the signature of an order, or its document
// has changed.
func (sess *session) storeSigned(ctx context.Context, d draft, signer *x509.Certificate) error {
	signed, err := d.storeSigned(ctx, sess.documents)
	if err == nil {
		failpoint.Here("signing/finished")
		err = sess.commitSigned(ctx, d, signer, signed)
		switch {
		case err == nil:
			failpoint.Here("signing/completed")
		case !errors.Is(err, storage.ErrUnavailable):
			_ = sess.drop(ctx, d.uncommitted()...)
		}
	}
	if errors.Is(err, ErrUnwanted) || sess.r.ordered() && errors.Is(err, storage.ErrMoved) {
		return finalError{unwanted, err}
	}
	return err
}

// commitSigned makes the signed document the request's, in one transaction with all that follows from it.
func (sess *session) commitSigned(ctx context.Context, d draft, signer *x509.Certificate, signed content) error {
	return sess.store(ctx, func(ctx context.Context, r *Request) error {
		prepared, _ := d.base()
		signature := Signature{Request: r.ID, Certificate: signer, Value: r.Value, At: r.SignedAt, Bytes: signed.Size - prepared}
		r.Phase = Complete
		return errors.Join(
			d.commitSigned(ctx, sess.documents, r),
			sess.jobs.DropUnique(ctx, r.completionKind(), r.ID),
			sess.record(ctx, r, completedEntryKind, completedEntry{Level: r.Level.String(), content: signed}),
			sess.notifyOwner(ctx, r, signature),
		)
	})
}

const (
	// retryAfter is the first pause between attempts to complete a signature, and retrySeldom the
	// longest, since an attempt may download a large revocation list. Polls in between make no attempt:
	// they would wait for a source that does not answer.
	retryAfter  = 5 * time.Second
	retrySeldom = 30 * time.Second
)

// postpone stores when the next attempt is due, and the draft d for it, unless that is nil. When the time for completing
// is over, it gives up instead. It returns cause only if it is the server's own error; faults of timestamp and
// revocation sources are reported as a step.
func (sess *session) postpone(ctx context.Context, cause error, d draft) error {
	now := sess.now(ctx)
	waited := now.Sub(cmp.Or(sess.r.SignedAt, sess.r.Expires))
	if waited > sess.r.completeFor() {
		err := sess.giveUp(ctx, cause, d)
		if isFaultOfSource(cause) {
			return err
		}
		return errors.Join(err, cause)
	}
	pause := min(max(waited/4, retryAfter), retrySeldom)
	if errors.Is(cause, errCutShort) {
		pause = 0 // the job is due at once, and has more time than a poll
	}
	err := sess.store(ctx, sess.keeping(d, func(_ context.Context, r *Request) error {
		r.NextTry = whole(now.Add(pause))
		return nil
	}))
	return errors.Join(err, sess.reportPostponed(ctx, cause))
}

// postponeFull does the same after the store had no room for the signed document. If there is no room for the
// draft either, which is small for XML, it stores the time alone.
func (sess *session) postponeFull(ctx context.Context, d draft) {
	later := func(_ context.Context, r *Request) error {
		r.NextTry = sess.now(ctx).Add(retrySeldom)
		return nil
	}
	if err := sess.store(ctx, sess.keeping(d, later)); err != nil {
		_ = sess.store(ctx, later)
	}
}

// keeping returns the change that stores the draft d for the next attempt, unless that is nil, and makes the change f.
func (sess *session) keeping(d draft, f change) change {
	if d == nil {
		return f
	}
	return func(ctx context.Context, r *Request) error {
		return errors.Join(d.keep(ctx, sess.documents, r), f(ctx, r))
	}
}

// reportPostponed reports a fault of a source as a step and returns nil. It returns every other cause.
func (sess *session) reportPostponed(ctx context.Context, cause error) error {
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
