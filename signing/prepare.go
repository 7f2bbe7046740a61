package signing

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/pki/validation"
	"github.com/innsigli/innsigli/storage"
)

// finalError ends the request with a failure. After any other error a step is tried again later. It does not unwrap its
// cause, which may be joined with an error after which to try again.
type finalError struct {
	failure idp.Failure
	cause   error // of the sources or the store; nil if there is none
}

func (e finalError) Error() string { return "signing: " + e.failure.Description }

// prepare prepares the signature of the document with the certificate. A finalError says what is wrong with
// the document or the certificate.
func (sess *session) prepare(ctx context.Context, need idp.NeedDigest) (preparation, error) {
	if p := sess.prepared(need.Certificate); p != nil {
		return p, nil
	}
	traits, at := sess.traits(), sess.now(ctx)
	signer := ades.SignerIdentity{Certificate: need.Certificate, Algorithm: traits.Algorithm}
	if !traits.CMS {
		chain, err := sess.checkCertificate(ctx, need.Certificate, need.Chain, sess.options.Sources(), at)
		if err != nil {
			return nil, err
		}
		signer.Chain = chain[1:]
	}
	blob, err := sess.documents.Open(ctx, sess.r.Document)
	if err != nil {
		return nil, fmt.Errorf("signing: opening the document: %w", err)
	}
	defer blob.Close()
	format := sess.r.format()
	p, err := format.prepare(ctx, sess, blob, signer, at)
	if f := format.failure(err); f != nil {
		return nil, finalError{failure: *f}
	}
	if errors.Is(err, ades.ErrAlgorithm) {
		return nil, invalidCertificate("The certificate's key cannot be used.")
	}
	return p, err
}

// prepared returns the signature that was prepared for the certificate before, or nil. A person who is
// asked again is asked for the same digest, so that the verification code stays the same.
func (sess *session) prepared(cert *x509.Certificate) preparation {
	if sess.r.Pending == nil {
		return nil
	}
	p, err := sess.r.format().read(sess.r.Pending)
	if err != nil || !p.Signer().Certificate.Equal(cert) {
		return nil
	}
	return p
}

// traits returns the provider's traits for the request's method.
func (sess *session) traits() idp.Traits { return sess.provider.Traits(sess.r.Person.Method) }

// allows returns an error if the method does not sign the start's format or level. A CMS that is made on
// the phone goes into a PDF alone; it is no baseline signature, and its level is not raised. An order
// appends to its owner's document, which is possible for PDF alone.
func (s *Service) allows(in Start) error {
	cms := s.provider.Traits(in.Person.Method).CMS
	switch {
	case in.Format != PDF && (cms || in.Order != nil):
		return ErrFormat
	case cms && in.Level > ades.B:
		return ErrLevel
	}
	return nil
}

// checkCertificate returns the chain of a signer's certificate to a root. The chain leads over the certificates in
// further, or else over those that the sources find. The error is a finalError that says what is wrong with the
// certificate (spec 3.8), or ades.ErrUnavailable if a source is down.
func (sess *session) checkCertificate(ctx context.Context, cert *x509.Certificate, further []*x509.Certificate, sources ades.Sources, now time.Time) ([]*x509.Certificate, error) {
	if cert == nil {
		return nil, finalError{failure: idp.Failure{Code: idp.CertificateNotFound, Description: "The identity provider gave no certificate."}}
	}
	if !sess.traits().ByPhone && idp.Kennitala(cert) != sess.r.Person.Kennitala {
		return nil, invalidCertificate("The certificate belongs to another person.")
	}
	if ades.CheckPurpose(cert) != nil || !ades.AllowsNonRepudiation(cert) && !sess.options.AllowDigitalSignature {
		return nil, invalidCertificate("The certificate is not for signing documents.")
	}
	chain, err := validation.FindChain(ctx, sources, validation.NewKnown(ctx, sources, further...), cert, now)
	switch {
	case errors.Is(err, ades.ErrUnavailable):
		return nil, err
	case err != nil:
		return nil, invalidCertificate("The certificate does not lead to a trusted root.")
	}
	return chain, nil
}

// invalidCertificate returns the finalError of a certificate that cannot sign.
func invalidCertificate(why string) error {
	return finalError{failure: idp.Failure{Code: idp.CertificateValidationError, Description: why}}
}

// cannotSign returns the failure of a document that cannot be signed (spec 3.10).
func cannotSign(why string) *idp.Failure {
	return &idp.Failure{Code: idp.UnableToHandleGivenData, OAuth: "invalid_request", Description: why}
}

// KeptCertificate is the signing certificate of a person's last answer (spec 3.5).
type KeptCertificate struct {
	Person      string    // a digest of person and phone
	Certificate []byte    // DER; a store for production seals it
	Expires     time.Time // with the certificate
}

// Certificates keeps the signing certificates that providers tell in their answers alone. Methods that write
// join a transaction.
type Certificates interface {
	// KeepCertificate keeps a certificate in place of the person's earlier one.
	KeepCertificate(ctx context.Context, c KeptCertificate) error
	// KeptCertificate returns a person's; storage.ErrNotFound.
	KeptCertificate(ctx context.Context, person string) (KeptCertificate, error)
	// DropCertificates deletes up to limit certificates that expired before the time given, and returns how many.
	DropCertificates(ctx context.Context, before time.Time, limit int) (int, error)
}

// keptCertificate returns the certificate from the person's last answer, if the provider wants it
// (spec 3.5). It returns nil for one that is no longer valid: the person is then asked once more, for
// the new one.
func (sess *session) keptCertificate(ctx context.Context) (*x509.Certificate, error) {
	if !sess.traits().Remember {
		return nil, nil
	}
	kept, err := sess.Service.store.KeptCertificate(ctx, personDigest(sess.r.Person))
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(kept.Certificate)
	if err != nil {
		return nil, nil
	}
	_, err = sess.checkCertificate(ctx, cert, nil, sess.options.Sources(), sess.now(ctx))
	if errors.As(err, new(finalError)) {
		return nil, nil
	}
	return cert, nil
}

// remember keeps the certificate that the person is asked to sign with, after it was checked.
func (sess *session) remember(ctx context.Context, r *Request, cert *x509.Certificate) error {
	if cert == nil || !sess.traits().Remember {
		return nil
	}
	person := personDigest(r.Person)
	kept, err := sess.Service.store.KeptCertificate(ctx, person)
	if err != nil && !errors.Is(err, storage.ErrNotFound) || bytes.Equal(kept.Certificate, cert.Raw) {
		return err
	}
	return sess.Service.store.KeepCertificate(ctx, KeptCertificate{Person: person, Certificate: cert.Raw, Expires: cert.NotAfter})
}

// personDigest returns the digest of person and phone under which a certificate is kept.
func personDigest(p idp.Person) string {
	p.Account = "" // the certificate is the same for all accounts
	encoded, _ := json.Marshal(p)
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}
