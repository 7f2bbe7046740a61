package ca

import (
	"crypto/x509"
	"slices"
	"strings"
	"time"
)

// Paths below the base URL of [Authority.At].
const (
	PathTimestamp = "/tsa"         // POST application/timestamp-query (RFC 3161 3.4)
	PathOCSP      = "/ocsp"        // POST, and GET /ocsp/{base64} (RFC 6960 A.1)
	PathCRL       = "/crl"         // GET: Authority.CRL
	PathRootCRL   = "/crl/root"    // GET: Authority.RootCRL
	PathIssuers   = "/issuers.p7c" // GET: Authority.Issuers
)

// renewal is how long before its end a certificate of the authority's own is issued
// anew.
const renewal = 30 * 24 * time.Hour

// At sets the base URL at which a server answers for the authority, without a slash
// at its end: certificates issued from now on carry the addresses of the responder,
// the revocation list and the issuers. The empty string, as at first, means none.
//
// The authority's own certificates get them from [Authority.Renew].
func (a *Authority) At(baseURL string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.baseURL = strings.TrimSuffix(baseURL, "/")
}

// Renew issues the authority's own certificates anew, for the keys they have, where
// they are about to expire or carry other addresses than those of now. It says
// whether it did, and then the authority has to be stored again. What was issued
// before stays valid. The root is not renewed.
func (a *Authority) Renew(now time.Time) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.renew(now)
}

func (a *Authority) renew(now time.Time) (renewed bool, err error) {
	for _, own := range []struct {
		*pair
		template *x509.Certificate
		by       *pair
	}{
		{&a.issuing, a.rootAddressed(issuingTemplate(now)), &a.root},
		{&a.responder, a.addressed(responderTemplate(now)), &a.issuing},
		{&a.timestamping, a.addressed(timestampingTemplate(now)), &a.issuing},
	} {
		if own.certificate != nil && !expires(own.certificate, now) && sameAddresses(own.certificate, own.template) {
			continue
		}
		if own.certificate, err = a.issue(own.template, *own.by, own.key.Public()); err != nil {
			return renewed, err
		}
		renewed = true
	}
	return renewed, nil
}

func expires(c *x509.Certificate, now time.Time) bool { return c.NotAfter.Sub(now) < renewal }

func sameAddresses(a, b *x509.Certificate) bool {
	return slices.Equal(a.OCSPServer, b.OCSPServer) && slices.Equal(a.CRLDistributionPoints, b.CRLDistributionPoints) &&
		slices.Equal(a.IssuingCertificateURL, b.IssuingCertificateURL)
}

// addressed adds to a certificate of the issuing authority where to ask about it
// (RFC 5280 4.2.1.13 and 4.2.2.1).
func (a *Authority) addressed(template *x509.Certificate) *x509.Certificate {
	t := *template
	if a.baseURL != "" {
		t.OCSPServer = []string{a.baseURL + PathOCSP}
		t.CRLDistributionPoints = []string{a.baseURL + PathCRL}
		t.IssuingCertificateURL = []string{a.baseURL + PathIssuers}
	}
	return &t
}

// rootAddressed does so for a certificate of the root, whose list is the only
// answer: a root that is kept offline has no responder.
func (a *Authority) rootAddressed(template *x509.Certificate) *x509.Certificate {
	t := *template
	if a.baseURL != "" {
		t.CRLDistributionPoints = []string{a.baseURL + PathRootCRL}
		t.IssuingCertificateURL = []string{a.baseURL + PathIssuers}
	}
	return &t
}
