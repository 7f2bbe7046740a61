package signing_test

import (
	"bytes"
	"crypto/x509"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/online"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
)

// TestWarmCaches signs twice with the same caches, then changes what made the signer trusted, and signs again. The
// revocation status of the signer is fetched for each signature. That of the issuing authority is kept until its
// nextUpdate, six hours here.
func TestWarmCaches(t *testing.T) {
	t.Parallel()
	revoke := func(which func(*network) *x509.Certificate) func(*network, *ades.Sources) {
		return func(n *network, _ *ades.Sources) { n.ca.Revoke(which(n).SerialNumber, time.Now(), 1) }
	}
	signer := func(n *network) *x509.Certificate { return n.cert }
	authority := func(n *network) *x509.Certificate { return n.ca.Chain()[0] }
	for name, row := range map[string]struct {
		change func(*network, *ades.Sources)
		later  time.Duration
		want   idp.ErrorCode
	}{
		"nothing changes":                    {func(*network, *ades.Sources) {}, 0, delivered},
		"signer revoked":                     {revoke(signer), 0, idp.CertificateIsRevoked},
		"signer expired":                     {func(*network, *ades.Sources) {}, time.Hour + time.Second, idp.CertificateValidationError},
		"signer has a new certificate":       {func(n *network, _ *ades.Sources) { n.key, n.cert = n.issue(kennitala) }, 0, delivered},
		"issuing authority revoked":          {revoke(authority), 0, delivered},
		"issuing authority revoked, later":   {renewed(revoke(authority)), 6*time.Hour + time.Second, idp.CertificateValidationError},
		"root removed":                       {func(_ *network, s *ades.Sources) { s.Roots = x509.NewCertPool() }, 0, idp.CertificateValidationError},
		"roots read again":                   {func(_ *network, s *ades.Sources) { s.Roots = s.Roots.Clone() }, 0, delivered},
		"root replaced by another authority": {func(n *network, s *ades.Sources) { s.Roots = newPhone(n.t).ca.Roots() }, 0, idp.CertificateValidationError},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t)
				n.issueForAnHour()
				signers := n.countRequests(n.cert)
				sources := n.options(n.client(tsa, nil)).Sources()
				sources.Revocation.(*online.Revocation).Chains = sources.Chains
				s := newService(t, n.phone, signing.Options{IgnoreInterval: true, Sources: func() ades.Sources { return sources }})
				sign := func() result {
					id := s.atLevel(ades.LT)
					for {
						if r := s.poll(id); r.Code != pending {
							return r
						}
						time.Sleep(time.Second)
					}
				}
				s.checkSigned(sign().Document)
				first := signers.Swap(0)
				s.checkSigned(sign().Document)
				if second := signers.Load(); first == 0 || second != first {
					t.Errorf("%d requests about the signer for the first signature, %d for the second", first, second)
				}
				if got := n.requests(rootList); got != 1 {
					t.Errorf("%d requests about the issuing authority", got)
				}
				row.change(n, &sources)
				time.Sleep(row.later)
				got := sign()
				if got.Code != row.want {
					t.Fatalf("got %q, want %q", got.Code, row.want)
				}
				if row.want == delivered {
					s.checkSigned(got.Document)
				}
			})
		})
	}
}

// countRequests counts the requests about a certificate to the OCSP responder.
func (n *network) countRequests(cert *x509.Certificate) *atomic.Int32 {
	var count atomic.Int32
	serial := cert.SerialNumber.Bytes()
	n.set(responder, posted(func(request []byte) []byte {
		if bytes.Contains(request, serial) {
			count.Add(1)
		}
		return n.ca.OCSP(request, time.Now())
	}))
	return &count
}

// issueForAnHour gives the person a certificate that expires in an hour.
func (n *network) issueForAnHour() {
	n.t.Helper()
	template := *n.cert
	template.NotAfter = time.Now().Add(time.Hour)
	var err error
	n.cert, err = n.ca.IssueProfile(&template, n.key.Public())
	n.must(err)
}

// renewed also gives the person a certificate that is valid for long.
func renewed(change func(*network, *ades.Sources)) func(*network, *ades.Sources) {
	return func(n *network, s *ades.Sources) {
		n.key, n.cert = n.issue(kennitala)
		change(n, s)
	}
}
