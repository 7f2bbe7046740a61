package validation

import (
	"crypto/x509"
	"errors"

	"github.com/innsigli/innsigli/ades"
)

// outOfBounds tells what is the matter with a chain that is not valid at the time of judgement: whether there ever
// was one comes first, and then whether anything says that it was not revoked while it was valid (EN 319 102-1
// 5.2.6.4, in the order of EU DSS). A certificate that has expired, and of which it is known that it was not
// revoked until then, is told from others: who says so has to be in force still. A signature that existed before
// its certificate is none of its (5.5.4).
func (s signer) classifyOutOfBounds(cert *x509.Certificate) (ades.Indication, ades.SubIndication) {
	sub := s.lapsed(cert)
	if s.at.Before(cert.NotBefore) && sub == ades.OutOfBoundsNoPOE {
		return ades.TotalFailed, ades.NotYetValid
	}
	return ades.Indeterminate, sub
}

func (s signer) lapsed(cert *x509.Certificate) ades.SubIndication {
	at := cert.NotAfter
	chain, err := s.chain(at)
	if err != nil {
		at = cert.NotBefore
		chain, err = s.chain(at)
	}
	switch {
	case errors.Is(err, ades.ErrNoChain):
		return s.noChain(cert)
	case err != nil:
		return ades.OutOfBoundsNoPOE
	}
	var revoked *ades.RevokedError
	switch err := s.data.ChainStatus(chain, Times{ValidationTime: at}); {
	case errors.As(err, &revoked) && revoked.Reason != CertificateHold && s.at.After(at):
		return s.revoked(revoked)
	case err == nil && at.Equal(cert.NotAfter) && s.at.After(at) && s.isKnown(chain):
		return ades.OutOfBoundsNotRevoked
	case errors.Is(err, ades.ErrNoRevocation) && !errors.Is(err, ades.ErrAlgorithm):
		return ades.CertificateChainGeneralFailure
	}
	return ades.OutOfBoundsNoPOE
}

// noChain tells a chain that was good while SHA-1 was from none at all: nothing says that it was not revoked, or
// nobody relies on what does.
func (s signer) noChain(cert *x509.Certificate) ades.SubIndication {
	switch {
	case !s.data.HasWeakChain(s.known, cert):
		return ades.NoCertificateChainFound
	case s.data.Present(s.known, Target{Certificate: cert}):
		return ades.CryptoConstraintsFailureNoPOE
	}
	return ades.CertificateChainGeneralFailure
}

// isKnown reports whether the status of the lowest certificate is from who is in force at the time of judgement.
func (s signer) isKnown(chain []*x509.Certificate) bool {
	return len(chain) < 2 || s.data.Status(chain[0], chain[1], Times{ValidationTime: chain[0].NotAfter, POE: s.at}) == nil
}

// isLapsed reports whether what is known of the signer last is from who is not in force at the time of judgement:
// newer data, and not only later data, would have to be had, whatever else is the matter.
func (s signer) isLapsed(chain []*x509.Certificate) bool {
	return len(chain) > 1 && s.data.IsOutdated(chain[0], chain[1], s.now)
}
