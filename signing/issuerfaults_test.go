package signing_test

import (
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"testing"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

const (
	otherHost = "other.test"
	issuers   = otherHost + sandboxca.PathIssuers
)

// abroad puts a timestamp authority below another root at the address. Its tokens carry
// its own certificate alone, so that the way up has to be found.
func (n *network) abroad() {
	n.t.Helper()
	var err error
	n.other, err = sandboxca.New(time.Now())
	n.must(err)
	n.publish(otherHost, n.other)
	unit := n.newUnit(n.other, timestamping())
	unit.Chain = nil
	n.set(tsa, n.stamps(unit, nil, 0))
}

// atIssuers is a timestamp authority whose issuer's certificate is not where it is said
// to be. Level T needs no more than the token.
func atIssuers(name string, outcome idp.ErrorCode, wrong func(n *network) answer) fault {
	return fault{
		name: name, t: delivered, lt: outcome,
		happens: func(n *network) {
			n.abroad()
			n.set(issuers, wrong(n))
		},
		ends: func(n *network) { n.answersFor(otherHost, n.other) },
	}
}

// issuerFaults are those of addresses of issuers (RFC 5280 4.2.2.1).
var issuerFaults = []fault{
	atIssuers("AIA answers", delivered, func(n *network) answer { return n.at[issuers] }),
	atIssuers("AIA down", pending, always(down)),
	atIssuers("AIA slow", pending, always(slow)),
	atIssuers("AIA loop: an address that redirects to itself", pending, always(toItself)),
	atIssuers("AIA garbage", pending, always(body([]byte("<html>Under maintenance</html>")))),
	atIssuers("AIA answers 10 MB", pending, always(body(make([]byte, 10<<20)))),
	{name: "AIA loop: two authorities that certified each other", t: delivered, lt: pending, happens: (*network).circle},
}

// circle puts a timestamp authority below two others that issued each other's
// certificate.
func (n *network) circle() {
	n.t.Helper()
	left, right := n.caTemplate("Left"), n.caTemplate("Right")
	leftKey, rightKey, key := n.newKey(), n.newKey(), n.newKey()
	left.IssuingCertificateURL, right.IssuingCertificateURL = []string{"http://loop.test/right"}, []string{"http://loop.test/left"}
	n.set("loop.test/left", body(n.certify(left, leftKey.Public(), right, rightKey).Raw))
	n.set("loop.test/right", body(n.certify(right, rightKey.Public(), left, leftKey).Raw))
	template := timestamping()
	template.SerialNumber, template.IssuingCertificateURL = big.NewInt(1), []string{"http://loop.test/left"}
	n.set(tsa, n.stamps(tsp.Unit{
		Certificate: n.certify(template, key.Public(), left, leftKey), Key: key, Policy: n.unit.Policy,
	}, nil, 0))
}

func (n *network) caTemplate(name string) *x509.Certificate {
	template := profile(name)
	template.Subject = pkix.Name{CommonName: name}
	template.SerialNumber, template.SubjectKeyId = big.NewInt(int64(len(name))), []byte(name)
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	return template
}

func (n *network) certify(template *x509.Certificate, pub crypto.PublicKey, by *x509.Certificate, key crypto.Signer) *x509.Certificate {
	n.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, by, pub, key)
	n.must(err)
	cert, err := x509.ParseCertificate(der)
	n.must(err)
	return cert
}

// spec 3.9. The client of the timestamp authority insists on no root: it would
// refuse a token without the certificates up to one.
func TestFaultsOfIssuers(t *testing.T) {
	t.Parallel()
	testFaults(t, issuerFaults, func(n *network) service { return n.service(n.client(tsa, nil)) })
}
