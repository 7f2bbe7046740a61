package ades

import (
	"crypto/x509"
	"errors"
	"time"
)

var (
	// ErrNoChain: no chain leads from the certificate to a root.
	ErrNoChain = errors.New("ades: no certificate chain to a trusted root")
	// ErrOutsideValidity: a certificate of the chain is expired or not yet valid.
	ErrOutsideValidity = errors.New("ades: certificate outside its validity period")
)

// Chain builds a chain from cert over the intermediates to one of the roots that
// is valid at the time given (RFC 5280 section 6), cert first and the root last.
// Without roots there is no chain. Intermediates whose keys [CheckKeySize] refuses are
// passed over. Revocation is not looked at.
func Chain(cert *x509.Certificate, intermediates []*x509.Certificate, roots *x509.CertPool, at time.Time) ([]*x509.Certificate, error) {
	if roots == nil {
		return nil, ErrNoChain
	}
	pool := x509.NewCertPool()
	for _, c := range intermediates {
		if CheckKeySize(c.PublicKey) == nil {
			pool.AddCert(c)
		}
	}
	chains, err := cert.Verify(x509.VerifyOptions{
		Roots:         roots,
		Intermediates: pool,
		CurrentTime:   at,
		KeyUsages:     []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	})
	if err != nil {
		return nil, chainError{cause: err}
	}
	return chains[0], nil
}

// chainError carries why crypto/x509 found no chain, as one of the two errors
// that callers tell apart.
type chainError struct{ cause error }

func (e chainError) Error() string { return e.sentinel().Error() + ": " + e.reason() }

// reason leaves out the names that crypto/x509 repeats where constraints forbid them (RFC
// 5280 4.2.1.10): an e-mail address is personal data, as [Identify] says.
func (e chainError) reason() string {
	var invalid x509.CertificateInvalidError
	if errors.As(e.cause, &invalid) && invalid.Reason == x509.CANotAuthorizedForThisName {
		invalid.Detail = "name constraints"
		return invalid.Error()
	}
	return e.cause.Error()
}

func (e chainError) Unwrap() []error { return []error{e.sentinel(), e.cause} }

func (e chainError) sentinel() error {
	var invalid x509.CertificateInvalidError
	if errors.As(e.cause, &invalid) && invalid.Reason == x509.Expired {
		return ErrOutsideValidity
	}
	return ErrNoChain
}
