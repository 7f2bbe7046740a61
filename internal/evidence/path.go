package evidence

import (
	"bytes"
	"crypto/x509"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
)

const (
	// maxKnown is how many certificates are looked at for issuers. A document may
	// carry any number.
	maxKnown = 1024
	// maxAncestors bounds the certificates above one. Chains have 2 to 4 of them, more
	// where authorities were renewed or certified each other.
	maxAncestors = 16
	// maxChecks bounds the signatures that are verified to find them.
	maxChecks = 256
)

// unique returns the certificates that differ, as many as are looked at.
func unique(certificates []*x509.Certificate) []*x509.Certificate {
	all := Merge(&Data{Certificates: certificates}).Certificates
	return all[:min(len(all), maxKnown)]
}

// ancestors returns the certificate and those of the known ones that issued it, or
// issued one that did. Each comes once, so loops end.
func ancestors(c *x509.Certificate, known []*x509.Certificate) []*x509.Certificate {
	found, checks := []*x509.Certificate{c}, maxChecks
	for i := 0; i < len(found); i++ {
		for _, above := range known {
			if !named(above, found[i]) || slices.ContainsFunc(found, above.Equal) {
				continue
			}
			if checks--; checks < 0 || len(found) > maxAncestors {
				return found
			}
			if issued(above, found[i]) {
				found = append(found, above)
			}
		}
	}
	return found
}

// named says whether the certificate names the issuer as its own.
func named(issuer, c *x509.Certificate) bool { return bytes.Equal(issuer.RawSubject, c.RawIssuer) }

func issued(issuer, c *x509.Certificate) bool {
	return named(issuer, c) && c.CheckSignatureFrom(issuer) == nil
}

// everValid builds a chain from the certificate to a root at whatever time there is
// one; nil when there is none. If a chain was ever valid, it was so when the last of
// its certificates began to be.
func everValid(c *x509.Certificate, known []*x509.Certificate, roots *x509.CertPool, first time.Time) []*x509.Certificate {
	all, times := ancestors(c, known), []time.Time{first}
	for _, above := range all {
		times = append(times, above.NotBefore)
	}
	for _, at := range times {
		if at.IsZero() {
			continue // crypto/x509 would take it for now
		}
		if chain, err := ades.Chain(c, all, roots, at); err == nil {
			return chain
		}
	}
	return nil
}
