package signing

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/storage"
)

// A signature that a person gave may lack its validation data when the time for completing it is over. The request
// then fails with InternalError (spec 3.9), whose description names the sources, and its document and value are kept
// so that an operator can complete it.

var (
	// ErrUnknown: there is no such request, or it is not remembered any more.
	ErrUnknown = errors.New("signing: request does not exist, or is no longer stored")
	// ErrNotRecoverable: the request has no signature that waits for an operator.
	ErrNotRecoverable = errors.New("signing: request has no signature to recover")
)

// CompletionError says why [Service.Recover] could not complete a signature.
type CompletionError struct {
	Reason string // a sentence without personal data
	Err    error  // of the sources; nil if they were not asked
}

func (e *CompletionError) Error() string {
	if e.Err == nil {
		return "signing: " + e.Reason
	}
	return fmt.Sprintf("signing: %s (%v)", e.Reason, e.Err)
}

func (e *CompletionError) Unwrap() error { return e.Err }

// Recoverable reports whether the request is over without the signature that the person gave, which
// [Service.Recover] may still complete.
func (r *Request) Recoverable() bool {
	return (r.Phase == Failed || r.Phase == Ended) && r.Value != nil && r.Failure != nil && r.Failure.Code == idp.InternalError
}

// keptForRecovery reports whether the value of a request is kept: for [Options.Keep] after the request ended. One
// that has not ended is not deleted before that.
func (s *Service) keptForRecovery(r *Request, now time.Time) bool {
	return r.Phase == Signed || r.Recoverable() && now.Before(r.UpdatedAt.Add(s.options.Keep))
}

// giveUp ends the request because its signature could not be completed in time, and reports cause with the failure. The
// value stays, and so does the draft d, unless that is nil or there is no room for it.
func (sess *session) giveUp(ctx context.Context, d draft, cause error) error {
	return sess.storeWithDraft(ctx, d, func(ctx context.Context, r *Request) error {
		return sess.failedFor(ctx, r, incomplete(cause), failedEntry{Reason: reasonOf(cause), cause: cause})
	})
}

// incomplete returns the failure of a signature that could not be completed.
func incomplete(cause error) idp.Failure {
	return idp.Failure{Code: idp.InternalError, Description: "The signature could not be completed: " + reasonOf(cause) + "."}
}

const (
	mostReasons = 3  // sources that a description names
	longestHost = 80 // bytes
)

// reasonOf describes the error of an attempt to complete a signature, for API clients and operators: which source
// failed, at which host, and how. It contains no personal data and is at most about 500 bytes long.
func reasonOf(cause error) string {
	if final := new(finalError); errors.As(cause, final) && final.cause != nil {
		cause = final.cause
	}
	var reasons []string
	for _, e := range sourceErrors(cause) {
		if reason := describe(e); len(reasons) < mostReasons && !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	if len(reasons) > 0 {
		return strings.Join(reasons, "; ")
	}
	for _, r := range otherReasons {
		if errors.Is(cause, r.of) {
			return r.text
		}
	}
	return "the server did not get to it in time"
}

// otherReasons describe errors that no source on the network is named for. The first that fits is taken.
var otherReasons = []struct {
	of   error
	text string
}{
	{errBusy, "the server was busy with other documents"},
	{ades.ErrRevoked, "the certificate of an authority is revoked"},
	{ades.ErrNoChain, "the certificate of a timestamp authority or an OCSP responder is not trusted"},
	{ades.ErrOutsideValidity, "the certificate of a timestamp authority or an OCSP responder is not valid"},
	{ades.ErrTimestamp, "there was no valid timestamp"},
	{ades.ErrNoRevocation, "the revocation status of a certificate was not known"},
	{ades.ErrUnavailable, "a source of validation data did not answer"},
	{storage.ErrUnavailable, "the store was not available"},
	{storage.ErrFull, "the store was full"},
}

// sourceErrors returns the errors of sources in the tree of an error, in the order in which they were asked.
func sourceErrors(err error) (all []*ades.SourceError) {
	switch e := err.(type) {
	case *ades.SourceError:
		return []*ades.SourceError{e}
	case interface{ Unwrap() error }:
		return sourceErrors(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			all = append(all, sourceErrors(one)...)
		}
	}
	return all
}

// describe returns a phrase about the failure of a source, such as "the OCSP responder at ocsp.example could not be
// reached".
func describe(e *ades.SourceError) string {
	outcome := "gave an answer that is not valid"
	switch e.Failure {
	case ades.SourceUnreachable:
		outcome = "could not be reached, or did not answer"
	case ades.SourceRefused:
		outcome = "refused the request"
	}
	return fmt.Sprintf("the %s at %s %s", e.Kind, hostOf(e.Address), outcome)
}

// hostOf returns the host of an address, which may come from any certificate: longer ones are cut, and characters that
// hosts do not have are replaced.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "an unknown host"
	}
	host := u.Host[:min(len(u.Host), longestHost)]
	return strings.Map(func(r rune) rune {
		if r > 0x20 && r < 0x7f {
			return r
		}
		return '?'
	}, host)
}

// Recover completes the signature of a request that failed because its validation data was not available in time, or
// was abandoned before it was completed, and writes the signed document to w. It is for operators.
//
// The document has the level of the request; a lower one is never written. The person is not asked again: the stored
// value is used, and the timestamp of an earlier attempt if there is one. All checks of a signature are made (spec 3.8).
//
// The request stays failed. Recover counts no signature in the [Ledger], and may be repeated, also at the same time, until the
// request is deleted ([Service.Sweep]). Each call gets validation data of its own.
//
// Recover records the document in the evidence log, with its SHA-256, before it writes the first byte: each document that the
// caller has is there. The log may also have one that the caller does not have, because w failed, a program died, or the
// answer of the store was lost.
//
// The document of an order is written as the person signed it, with this signature as the last, even if others have
// signed since. It does not become the owner's: the owner was told that the order ended without a signature, so that
// the participant may have signed again or declined since.
//
// The errors are [ErrUnknown], [ErrNotRecoverable], a [*CompletionError] for a signature that cannot be completed now or
// ever, and those of the store.
func (s *Service) Recover(ctx context.Context, request string, w io.Writer) error {
	r, err := s.store.Request(ctx, request)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return ErrUnknown
	case err != nil:
		return err
	}
	if err := r.checkRecoverable(); err != nil {
		return err
	}
	// A session without a lease: it reads the request as it is, and stores nothing.
	sess := s.newSession(r)
	d, err := sess.openDraft(ctx)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return fmt.Errorf("%w: its document is deleted", ErrNotRecoverable)
	case err != nil:
		return err
	}
	defer d.Close()
	if r.ordered() {
		d.rebase()
	}
	attempt, end := context.WithTimeout(ctx, jobCompletionTimeout)
	defer end()
	_, err = sess.fillDraft(attempt, d)
	var final finalError
	switch {
	case errors.As(err, &final):
		return &CompletionError{final.failure.Description, final.cause}
	case err != nil:
		return &CompletionError{incomplete(err).Description, err}
	}
	if err := s.recordRecovery(ctx, request, d); err != nil {
		return err
	}
	_, err = io.Copy(w, d.reader())
	return err
}

// recordRecovery records the signed document of a draft in the evidence log, if its request still exists.
func (s *Service) recordRecovery(ctx context.Context, request string, d draft) error {
	sum := sha256.New()
	size, err := io.Copy(sum, d.reader())
	if err != nil {
		return err
	}
	err = s.inTx(ctx, func(ctx context.Context) error {
		r, err := s.store.Request(ctx, request)
		switch {
		case errors.Is(err, storage.ErrNotFound):
			return ErrUnknown
		case err != nil:
			return err
		}
		if err := r.checkRecoverable(); err != nil {
			return err
		}
		return s.record(ctx, &r, recoveredEntryKind, recoveredEntry{r.Level.String(), contentOf(sum.Sum(nil), size)})
	})
	if isUnavailable(err) {
		return fmt.Errorf("signing: the document was not written, but the evidence log may have an entry about it; when this is repeated, it gets another: %w", err)
	}
	return err
}

// checkRecoverable says why a request is not recoverable.
func (r *Request) checkRecoverable() error {
	switch {
	case r.Recoverable():
		return nil
	case r.Phase == Starting, r.Phase == Waiting:
		return fmt.Errorf("%w: the person has not signed", ErrNotRecoverable)
	case r.Phase == Signed:
		return fmt.Errorf("%w: the server still tries to complete it, until %s", ErrNotRecoverable, r.SignedAt.Add(r.completeFor()).Format(time.RFC3339))
	case r.Phase == Complete:
		return fmt.Errorf("%w: it is complete, and the client has not fetched it yet", ErrNotRecoverable)
	case r.Failure != nil:
		return fmt.Errorf("%w: it ended with %s", ErrNotRecoverable, r.Failure.Code)
	}
	return fmt.Errorf("%w: it has ended", ErrNotRecoverable)
}
