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

// prepare makes the document ready to be signed with the certificate. What keeps
// it from being signed, in the document or in the certificate, is the failure.
func (sess *session) prepare(ctx context.Context, need idp.NeedDigest) (preparation, *idp.Failure, error) {
	if p := sess.prepared(need.Certificate); p != nil {
		return p, nil, nil
	}
	traits, at := sess.traits(), time.Now()
	signer := ades.SignerIdentity{Certificate: need.Certificate, Algorithm: traits.Algorithm}
	if !traits.CMS {
		chain, f, err := sess.checkCertificate(ctx, need.Certificate, need.Chain, sess.options.Sources(), at)
		if f != nil || err != nil {
			return nil, f, err
		}
		signer.Chain = chain[1:]
	}
	blob, err := sess.documents.Open(ctx, sess.r.Document)
	if err != nil {
		return nil, nil, fmt.Errorf("signing: opening the document: %w", err)
	}
	defer blob.Close()
	format := sess.r.format()
	p, err := format.prepare(ctx, sess, blob, signer, at)
	if f := format.failure(err); f != nil {
		return nil, f, nil
	}
	if errors.Is(err, ades.ErrAlgorithm) {
		return nil, &idp.Failure{Code: idp.CertificateValidationError, Description: "The certificate's key cannot be used."}, nil
	}
	return p, nil, err
}

// prepared is what was prepared for the certificate already: whoever is asked again is asked
// the same, so that the code on the phone is the one before.
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

// traits are those of the request's method.
func (sess *session) traits() idp.Traits { return sess.provider.Traits(sess.r.Person.Method) }

// allows says whether the method is one for the start's document and level. A CMS that is made on
// the phone goes into a PDF alone; it is no baseline signature, and is not raised. An order appends to a
// document that stays its owner's, as signing XML does not.
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

// checkCertificate says what is wrong with a signer's certificate (spec 3.8), or
// returns its chain to a root: over the certificates that came with it, or else those that
// the sources find. The error is ades.ErrUnavailable: one of them is down.
func (sess *session) checkCertificate(ctx context.Context, cert *x509.Certificate, further []*x509.Certificate, sources ades.Sources, now time.Time) ([]*x509.Certificate, *idp.Failure, error) {
	if cert == nil {
		return nil, &idp.Failure{Code: idp.CertificateNotFound, Description: "The identity provider gave no certificate."}, nil
	}
	if !sess.traits().ByPhone && idp.Kennitala(cert) != sess.r.Person.Kennitala {
		return nil, &idp.Failure{Code: idp.CertificateValidationError, Description: "The certificate is another person's."}, nil
	}
	if ades.CheckPurpose(cert) != nil || !ades.AllowsNonRepudiation(cert) && !sess.options.AllowDigitalSignature {
		return nil, &idp.Failure{Code: idp.CertificateValidationError, Description: "The certificate is not for signing documents."}, nil
	}
	chain, err := validation.FindChain(ctx, sources, validation.NewKnown(ctx, sources, further...), cert, now)
	switch {
	case errors.Is(err, ades.ErrUnavailable):
		return nil, nil, err
	case err != nil:
		return nil, &idp.Failure{Code: idp.CertificateValidationError, Description: "The certificate does not lead to a trusted root."}, nil
	}
	return chain, nil, nil
}

// cannotSign is what a document that cannot be signed is answered with (spec 3.10).
func cannotSign(why string) *idp.Failure {
	return &idp.Failure{Code: idp.UnableToHandleGivenData, OAuth: "invalid_request", Description: why}
}

// KeptCertificate is the signing certificate of a person's last answer (spec 3.5).
type KeptCertificate struct {
	Person      string    // whose: a digest of person and phone
	Certificate []byte    // DER; a store for production seals it
	Expires     time.Time // with the certificate
}

// Certificates keeps certificates that only an answer tells. Methods that write join a transaction.
type Certificates interface {
	// KeepCertificate keeps a certificate in place of the person's earlier one.
	KeepCertificate(ctx context.Context, c KeptCertificate) error
	// KeptCertificate returns a person's; storage.ErrNotFound.
	KeptCertificate(ctx context.Context, person string) (KeptCertificate, error)
	// DropCertificates removes up to limit of those that expired before the time given and says how many.
	DropCertificates(ctx context.Context, before time.Time, limit int) (int, error)
}

// keptCertificate is the certificate kept from the person's last answer, where the provider wants it
// (spec 3.5). One that is not good any more counts as none: the person is asked for
// the one that came after it.
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
	if _, f, _ := sess.checkCertificate(ctx, cert, nil, sess.options.Sources(), time.Now()); f != nil {
		return nil, nil
	}
	return cert, nil
}

// remember keeps the certificate that a person is asked to sign with, after it was checked.
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

// personDigest names the person and the phone by a digest.
func personDigest(p idp.Person) string {
	p.Account = "" // whoever asks, it is the same certificate
	encoded, _ := json.Marshal(p)
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}
