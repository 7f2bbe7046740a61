package signing_test

import (
	"crypto/x509"
	"math/big"
	"net/http"
	"testing"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
)

// atResponder is a responder that answers wrongly, while there is no list.
func atResponder(name string, wrong func(n *network) answer) fault {
	return fault{name: name, t: pending, lt: pending, happens: func(n *network) {
		n.set(responder, wrong(n))
		n.set(list, down)
	}}
}

// saying is a responder whose answers are as change makes them.
func saying(change func(*ocsp.Response)) func(*network) answer {
	return func(n *network) answer { return n.says(change) }
}

// byList is a responder that is down beside a list.
func byList(name string, outcome idp.ErrorCode, wrong func(n *network) answer) fault {
	return fault{name: name, t: outcome, lt: outcome, happens: func(n *network) {
		n.set(responder, down)
		n.set(list, wrong(n))
	}}
}

func large(f fault) fault {
	f.large = true
	return f
}

// byListAlone is a signer whose authority has no responder, as are many.
func byListAlone(name string, outcome idp.ErrorCode, happens func(n *network)) fault {
	return fault{name: name, t: outcome, lt: outcome, happens: func(n *network) {
		n.withoutResponder()
		happens(n)
	}}
}

// withoutResponder gives the phone a certificate that names a list alone. It is older than
// that of its authority, which was renewed.
func (n *network) withoutResponder() {
	n.t.Helper()
	template, key := profile("A signer"), n.newKey()
	template.Subject.SerialNumber, template.SerialNumber = kennitala, big.NewInt(time.Now().Unix())
	template.NotBefore = time.Now().AddDate(-1, 0, 0)
	template.KeyUsage, template.CRLDistributionPoints = x509.KeyUsageContentCommitment, []string{"http://" + list}
	n.key, n.cert = key, n.certify(template, key.Public(), n.ca.Chain()[0], n.issuingKey())
}

// naming is a list with a certificate that is revoked.
func naming(c *x509.Certificate) x509.RevocationList {
	l := newList()
	l.RevokedCertificateEntries = []x509.RevocationListEntry{{SerialNumber: c.SerialNumber, RevocationTime: time.Now().Add(-time.Second)}}
	return l
}

// newList is a list of now, in force for an hour.
func newList() x509.RevocationList {
	return x509.RevocationList{ThisUpdate: time.Now(), NextUpdate: time.Now().Add(time.Hour)}
}

// statusFaults are faults of a source of revocation data (RFC 6960, RFC 5280).
var statusFaults = []fault{
	atResponder("OCSP down", always(down)),
	atResponder("OCSP slow", always(slow)),
	atResponder("OCSP has an internal error", always(status(http.StatusInternalServerError))),
	atResponder("OCSP redirects to itself", always(toItself)),
	atResponder("OCSP garbage", always(body([]byte("<html>Under maintenance</html>")))),
	atResponder("OCSP answers 10 MB", always(body(make([]byte, 10<<20)))),
	atResponder("OCSP asks to try later", always(body(ocsp.Refuse(ocsp.TryLater)))),
	atResponder("OCSP does not answer this client", always(body(ocsp.Refuse(ocsp.Unauthorized)))),
	atResponder("OCSP unauthorised", func(n *network) answer {
		return n.saysBy(x509.ExtKeyUsageTimeStamping, func(*ocsp.Response) {})
	}),
	atResponder("OCSP unknown", saying(single(func(s *ocsp.Single) { s.Status = ocsp.Unknown }))),
	atResponder("OCSP about another certificate", saying(single(func(s *ocsp.Single) { s.ID.Serial = big.NewInt(5) }))),
	atResponder("OCSP of another issuer", saying(single(func(s *ocsp.Single) { s.ID.KeyHash[0] ^= 1 }))),
	atResponder("OCSP with another nonce", saying(func(r *ocsp.Response) { r.Nonce = make([]byte, 32) })),
	atResponder("OCSP stale", saying(single(func(s *ocsp.Single) { s.NextUpdate = time.Now().Add(-time.Second) }))),
	atResponder("OCSP without nextUpdate, of yesterday", saying(func(r *ocsp.Response) {
		r.Nonce, r.Singles[0].ThisUpdate, r.Singles[0].NextUpdate = nil, time.Now().AddDate(0, 0, -1), time.Time{}
	})),
	{
		// as responders give that prepare their answers
		name: "OCSP from before the timestamp, and in force", t: delivered, lt: delivered,
		happens: func(n *network) {
			before := time.Now().Add(-time.Second)
			n.set(responder, n.says(single(func(s *ocsp.Single) { s.ThisUpdate = before })))
		},
	},

	byList("OCSP down, a new list", delivered, func(n *network) answer { return n.listed(newList()) }),
	large(byList("OCSP down, a CRL of 50 MB", delivered, func(n *network) answer {
		padded := newList()
		padded.ExtraExtensions = padding(50 << 20)
		return n.listed(padded)
	})),
	large(byList("OCSP down, a CRL of more than 64 MB", pending, always(body(make([]byte, 64<<20+1))))),
	byList("OCSP down, CRL stale", pending, func(n *network) answer {
		stale := newList()
		stale.ThisUpdate, stale.NextUpdate = time.Now().Add(-time.Minute), time.Now().Add(-time.Second)
		return n.listed(stale)
	}),
	byList("OCSP down, CRL down", pending, always(down)),
	byList("OCSP down, CRL names the signer", idp.CertificateIsRevoked, func(n *network) answer { return n.listed(naming(n.cert)) }),
	{
		name: "OCSP down, a list of before the signature", t: delivered, lt: delivered,
		happens: func(n *network) { n.set(responder, down) },
	},
	byListAlone("no responder, a list of before the signature", delivered, func(n *network) {}),
	byListAlone("no responder, the list names the signer", idp.CertificateIsRevoked, func(n *network) {
		n.set(list, n.listed(naming(n.cert)))
	}),
	{
		name: "no responder, CRL down", t: pending, lt: pending,
		happens: func(n *network) { n.withoutResponder(); n.set(list, down) },
		ends:    func(n *network) { n.set(list, n.listed(newList())) },
	},
	{name: "CRL of the root down", t: pending, lt: pending, happens: func(n *network) { n.set(rootList, down) }},
}

// hold puts a certificate on hold from a time on.
func (n *network) hold(c *x509.Certificate, at time.Time) { n.ca.Revoke(c.SerialNumber, at, 6) }

// heldSince is a certificate that was on hold when the person signed.
func heldSince(name string, which func(n *network) *x509.Certificate, t, lt idp.ErrorCode) fault {
	return fault{name: name, t: t, lt: lt, happens: func(n *network) { n.hold(which(n), time.Now().Add(-time.Second)) }}
}

// revocations are certificates that are revoked. What a timestamp proves to be older than
// the revocation of its signer stands (EN 319 102-1 5.5.4), if the document carries that
// proof, as from level LT on.
var revocations = []fault{
	heldSince("revoked before the signature", func(n *network) *x509.Certificate { return n.cert },
		idp.CertificateIsRevoked, idp.CertificateIsRevoked),
	heldSince("issuing authority revoked", func(n *network) *x509.Certificate { return n.ca.Chain()[0] },
		idp.CertificateValidationError, idp.CertificateValidationError),
	{
		name: "revoked after the signature", t: idp.CertificateIsRevoked, lt: delivered,
		happens: func(n *network) {
			n.set(responder, posted(func(request []byte) []byte {
				time.Sleep(2 * time.Second) // time: in bubbles alone
				n.hold(n.cert, time.Now().Add(-time.Second))
				return n.ca.OCSP(request, time.Now())
			}))
		},
	},
	{
		// Level T says nothing about its timestamp authority. From LT on a token of the next
		// one is needed.
		name: "TSA revoked", t: delivered, lt: pending,
		happens: func(n *network) { n.hold(n.unit.Certificate, time.Now().Add(-time.Second)) },
		ends:    func(n *network) { n.set(tsa, n.stamps(n.newUnit(n.ca, timestamping()), nil, 0)) },
	},
}

// spec 3.8 and 3.9.
func TestFaultsOfRevocationStatus(t *testing.T) {
	t.Parallel()
	testFaults(t, append(statusFaults, revocations...), func(n *network) service { return n.service(n.client(tsa, n.roots)) })
}
