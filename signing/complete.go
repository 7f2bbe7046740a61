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

const (
	// clientCompleteFor is how long the service tries to get the timestamp and the revocation data for the stored value
	// of a request that a client polls (spec 3.9). An order has orderCompleteFor instead.
	clientCompleteFor = 15 * time.Minute

	// firstRetryPause is the pause after the first attempt to complete a signature, and longestRetryPause the longest
	// one, since an attempt may download a large revocation list. Polls during a pause make no attempt: they would
	// wait for a source that does not answer.
	firstRetryPause   = 5 * time.Second
	longestRetryPause = 30 * time.Second
)

// attemptCompletion makes one attempt to take the request from [Signed] to [Complete]. It builds the signature in a
// draft, for at most timeout, and stores the draft as the signed document, which always has the level of the request. The
// result is stored even if ctx has ended, as long as the session has the lease of the request.
//
// It returns nil if the request is now complete, if it has ended with a failure, and if a later attempt is due after an
// expected error ([isExpected]). It returns all other errors.
func (sess *session) attemptCompletion(ctx context.Context, timeout time.Duration) error {
	attemptCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	storeCtx := context.WithoutCancel(ctx)
	d, err := sess.openDraft(attemptCtx)
	if err != nil {
		return sess.afterBuildError(storeCtx, nil, markInterrupted(ctx, attemptCtx, timeout, err))
	}
	defer d.Close()
	cert, err := sess.fillDraft(attemptCtx, d)
	if err != nil {
		return sess.afterBuildError(storeCtx, d, markInterrupted(ctx, attemptCtx, timeout, err))
	}
	if err := sess.commitDraft(storeCtx, d, cert); err != nil {
		return sess.afterCommitError(storeCtx, d, err)
	}
	return nil
}

// errInterrupted: the context of an attempt ended during the attempt. Its other errors may only follow from that. It is
// errTimedOut if the attempt had as much time as a job has, else errCutShort. All are expected errors.
var (
	errInterrupted = fmt.Errorf("signing: completion interrupted: %w", ades.ErrUnavailable)
	errCutShort    = fmt.Errorf("%w before its full time", errInterrupted)
	errTimedOut    = fmt.Errorf("%w after its full time", errInterrupted)
)

// markInterrupted returns the error of an attempt, joined with errCutShort or errTimedOut if attemptCtx, the context of the
// attempt, has ended. It was made of ctx with a timeout.
func markInterrupted(ctx, attemptCtx context.Context, timeout time.Duration, err error) error {
	switch {
	case attemptCtx.Err() == nil:
		return err
	case ctx.Err() == nil && timeout >= jobCompletionTimeout:
		return fmt.Errorf("%w: %w", errTimedOut, err)
	}
	return fmt.Errorf("%w: %w", errCutShort, err)
}

// afterBuildError stores what follows from an error of openDraft, with d nil, or of fillDraft: the request ends, or a later
// attempt is made.
func (sess *session) afterBuildError(ctx context.Context, d draft, err error) error {
	var final finalError
	switch {
	case errors.As(err, &final) && !errors.Is(err, errInterrupted): // after that, the next attempt has the failure again
		return sess.fail(ctx, final.failure)
	case errors.Is(err, ades.ErrNoRevocation), errors.Is(err, ades.ErrTimestamp), errors.Is(err, errBusy):
		// The draft has the value and, from level T on, its timestamp. The next attempt starts with them: a revocation
		// after the time of the timestamp does not invalidate the signature (EN 319 102-1 5.5.4), and another timestamp
		// may cost money.
		return sess.postpone(ctx, d, err)
	}
	// The next attempt starts anew, for example with another timestamp if the authority of this one is not trusted. So it
	// does after errInterrupted, if that came without one of the errors above.
	return sess.postpone(ctx, nil, err)
}

// afterCommitError stores what follows from an error of commitDraft: the request ends if the document no longer allows
// the signature, and the next attempt is due after a pause if the store is full. After any other error it stores nothing,
// and a later poll or the job tries again.
func (sess *session) afterCommitError(ctx context.Context, d draft, err error) error {
	// ErrMoved: the document has grown since the draft was opened. That of an order was signed by another person, any other
	// has the draft of another attempt, with which the next attempt continues.
	if errors.Is(err, ErrUnwanted) || sess.r.ordered() && errors.Is(err, storage.ErrMoved) {
		return sess.fail(ctx, unwanted)
	}
	if errors.Is(err, storage.ErrFull) {
		sess.postponeAfterFullStore(ctx, d)
	}
	return err
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
		return nil, err
	}
	return d, nil
}

// fillDraft puts the signature into the draft, at the level of the request, and returns the signer's certificate.
// It checks in the order of spec 3.8. The error is a finalError if no later attempt can succeed.
func (sess *session) fillDraft(ctx context.Context, d draft) (*x509.Certificate, error) {
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
	if err := sess.addValidationData(ctx, d, signer, sources); err != nil {
		if f := cmp.Or(revocationFailure(err, chain), sess.r.format().failure(err)); f != nil {
			return nil, finalError{*f, err}
		}
		return nil, err
	}
	return signer.Certificate, nil
}

// insertValue puts the value and its timestamp into the draft. If an earlier attempt has stored its draft, in the
// document or in the request, insertValue continues with the stored draft.
func (sess *session) insertValue(ctx context.Context, d draft, timestamper ades.Timestamper) error {
	if d.hasGrown() {
		if sess.r.ordered() { // another person has signed the document since
			return finalError{failure: unwanted}
		}
		return nil // the earlier attempt has appended its draft
	}
	if sess.r.Draft != nil {
		return d.restore(sess.r.Draft)
	}
	err := d.sign(ctx, sess.r.Value, timestamper)
	ofTimestamp := errors.Is(err, ades.ErrTimestamp) // whose signature has a value and an algorithm too
	if !ofTimestamp && (errors.Is(err, ades.ErrValue) || errors.Is(err, ades.ErrAlgorithm)) {
		return finalError{failure: wrongValue}
	}
	return err
}

// wrongValue is the failure of a value that is no signature by the person's certificate.
var wrongValue = idp.Failure{Code: idp.SignatureVerificationError, Description: "The signature does not belong to the document and the certificate."}

// addValidationData adds the validation data that the level needs, and checks that the signer's certificate is not revoked:
// from level LT on, extend checks it.
func (sess *session) addValidationData(ctx context.Context, d draft, signer ades.SignerIdentity, sources ades.Sources) error {
	if sess.r.Level >= ades.T { // also at T: extend adds a document timestamp if the token was too long for the signature
		if err := d.extend(ctx, sess.r.Level, sources); err != nil {
			return err
		}
	}
	if sess.r.Level >= ades.LT {
		return nil
	}
	return checkRevocation(ctx, signer, sources)
}

// checkRevocation checks that no certificate below the root is revoked. For the signer's certificate it bypasses every
// cache, so that a revocation counts until the document is delivered. The answers do not go into the document: at these
// levels each verifier asks for its own. If the operator has configured no source of revocation data, which excludes level
// LT, nothing is checked.
func checkRevocation(ctx context.Context, signer ades.SignerIdentity, sources ades.Sources) error {
	if sources.Revocation == nil {
		return nil
	}
	sources.Revocation = uncached{sources.Revocation, signer.Certificate}
	_, err := validation.Collect(ctx, sources, validation.NewKnown(ctx, sources, signer.Chain...), validation.Target{Certificate: signer.Certificate})
	return err
}

// uncached is a source of revocation data that bypasses every cache for one certificate.
type uncached struct {
	source ades.Revocation
	cert   *x509.Certificate
}

// Revocation implements [ades.Revocation].
func (u uncached) Revocation(ctx context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	if cert.Equal(u.cert) {
		notBefore = validation.Uncached(cert)
	}
	return u.source.Revocation(ctx, cert, issuer, notBefore)
}

// revocationFailure returns the failure of a signer whose certificate is revoked, or whose chain has a revoked
// authority. It returns nil for a revoked certificate of another chain, such as a timestamp authority's.
func revocationFailure(err error, chain []*x509.Certificate) *idp.Failure {
	var r *ades.RevokedError
	switch {
	case !errors.As(err, &r):
		return nil
	case r.Certificate.Equal(chain[0]):
		return &idp.Failure{Code: idp.CertificateIsRevoked, Description: "The certificate is revoked."}
	case issuedAnyOf(r.Certificate, chain):
		return &idp.Failure{Code: idp.CertificateValidationError, Description: "The certificate of the certificate's issuer is revoked."}
	}
	return nil
}

// issuedAnyOf reports whether the authority issued a certificate of the chain. The chain may contain a different certificate
// for the authority's key, so issuedAnyOf compares by CheckIssuer, not by Equal.
func issuedAnyOf(authority *x509.Certificate, chain []*x509.Certificate) bool {
	return slices.ContainsFunc(chain, func(c *x509.Certificate) bool { return ades.CheckIssuer(c, authority) == nil })
}

// commitDraft stores the draft as the signed document, and makes that the document of the request. If the transaction is
// rolled back, commitDraft deletes the documents that it has stored. If it is not known whether the transaction was
// committed, they are left to the sweep of documents that no record refers to.
func (sess *session) commitDraft(ctx context.Context, d draft, cert *x509.Certificate) error {
	signed, err := d.storeNew(ctx, sess.documents)
	if err != nil {
		return err
	}
	failpoint.Here("signing/finished")
	err = sess.store(ctx, func(ctx context.Context, r *Request) error {
		r.Phase = Complete
		signature := Signature{Request: r.ID, Certificate: cert, Value: r.Value, At: r.SignedAt, Bytes: signed.Size - d.preparedSize()}
		return errors.Join( // after an error the others are called too, and rolled back
			d.commit(ctx, sess.documents, r),
			sess.jobs.DropUnique(ctx, r.completionKind(), r.ID),
			sess.record(ctx, r, completedEntryKind, completedEntry{Level: r.Level.String(), content: signed}),
			sess.notifyOwner(ctx, r, signature),
		)
	})
	commitUnknown := errors.Is(err, storage.ErrUnavailable)
	switch {
	case err == nil:
		failpoint.Here("signing/completed")
	case !commitUnknown: // the transaction was rolled back
		_ = sess.drop(ctx, d.uncommitted()...)
	}
	return err
}

// postpone stores when the next attempt is due, and the draft d for it, unless d is nil. If the time for completing is
// over, the request ends instead, and its value is kept for [Service.Recover]. An attempt that was cut short before its full
// time does not end it: the next one of its job does. The error has cause unless that is expected.
func (sess *session) postpone(ctx context.Context, d draft, cause error) error {
	now := sess.now(ctx)
	signedAt := cmp.Or(sess.r.SignedAt, sess.r.Expires) // early versions stored requests without SignedAt
	waited := now.Sub(signedAt)
	cutShort := errors.Is(cause, errCutShort)
	if waited > sess.r.completeFor() && !cutShort {
		err := sess.giveUp(ctx, d, cause)
		if !isExpected(cause) {
			err = errors.Join(err, cause)
		}
		return err
	}
	// The pauses grow with the time that the sources have not answered, so that a short outage costs little time and a
	// long one few attempts.
	pause := min(max(waited/4, firstRetryPause), longestRetryPause)
	if cutShort {
		pause = 0 // polls leave the next attempt to the job at once, which has more time
	}
	// If there is no room for d, nothing is stored, unlike by postponeAfterFullStore: storing the pause alone would hide
	// storage.ErrFull from the caller.
	err := sess.store(ctx, sess.withDraft(d, func(_ context.Context, r *Request) error {
		r.NextTry = whole(now.Add(pause))
		return nil
	}))
	return errors.Join(err, sess.reportPostponed(ctx, cause))
}

// postponeAfterFullStore stores when the next attempt is due after the store had no room for the signed document. It also
// stores the draft d if there is room for it: that of an XML document is smaller than the document, since it has the changes
// alone. It ignores errors, because its caller returns the error of the store. The attempt is then repeated without the pause.
func (sess *session) postponeAfterFullStore(ctx context.Context, d draft) {
	_ = sess.storeWithDraft(ctx, d, func(_ context.Context, r *Request) error {
		r.NextTry = whole(sess.now(ctx).Add(longestRetryPause))
		return nil
	})
}

// storeWithDraft stores the change f together with the draft d. If the store has no room for the draft, it stores f
// alone.
func (sess *session) storeWithDraft(ctx context.Context, d draft, f change) error {
	err := sess.store(ctx, sess.withDraft(d, f))
	if errors.Is(err, storage.ErrFull) {
		err = sess.store(ctx, f)
	}
	return err
}

// withDraft returns the change that stores the draft d for the next attempt, and makes the change f. If d is nil, it
// returns f.
func (sess *session) withDraft(d draft, f change) change {
	if d == nil {
		return f
	}
	return func(ctx context.Context, r *Request) error {
		if err := d.keep(ctx, sess.documents, r); err != nil {
			return err
		}
		return f(ctx, r)
	}
}

// reportPostponed reports an expected cause as a step and returns nil. It returns any other cause.
func (sess *session) reportPostponed(ctx context.Context, cause error) error {
	if !isExpected(cause) {
		return cause
	}
	sess.report(ctx, Step{Request: sess.id, Name: "signature.postponed", Err: cause})
	return nil
}

// isExpected reports whether the error of an attempt is reported as a step alone, because no operator has to mend the server
// or the store: a source of validation data failed, or there was not enough time or memory (errCutShort, errBusy). A
// certificate that is revoked, not valid or without a chain is that of a timestamp authority or a responder: for the
// signer's, the error is a finalError.
func isExpected(err error) bool {
	return slices.ContainsFunc([]error{
		ades.ErrTimestamp, ades.ErrNoRevocation, ades.ErrUnavailable, ades.ErrRevoked, ades.ErrNoChain, ades.ErrOutsideValidity,
	}, func(fault error) bool { return errors.Is(err, fault) })
}
