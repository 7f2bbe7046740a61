package signing_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"time"

	"github.com/innsigli/innsigli/internal/pki/tsp"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// profile is the profile of a certificate of a responder.
func profile(name string) *x509.Certificate {
	return &x509.Certificate{
		Subject:   pkix.Name{Country: []string{"IS"}, CommonName: name},
		NotBefore: time.Now().Add(-time.Minute),
		NotAfter:  time.Now().Add(24 * time.Hour),
		KeyUsage:  x509.KeyUsageDigitalSignature | x509.KeyUsageContentCommitment,
	}
}

// timestamping is the profile of RFC 3161 2.3.
func timestamping() *x509.Certificate {
	template := profile("A timestamp authority")
	template.ExtraExtensions = []pkix.Extension{purposes(true, timeStamping)}
	return template
}

var (
	timeStamping = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, 8}
	codeSigning  = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, 3}
)

// purposes is an extended key usage.
func purposes(critical bool, all ...asn1.ObjectIdentifier) pkix.Extension {
	value, err := asn1.Marshal(all)
	if err != nil {
		panic(err) // a constant of the tests is wrong
	}
	return pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: critical, Value: value}
}

func (n *network) newUnit(ca *sandboxca.Authority, profile *x509.Certificate) tsp.Unit {
	n.t.Helper()
	key := n.newKey()
	cert, err := ca.IssueProfile(profile, key.Public())
	n.must(err)
	return tsp.Unit{Certificate: cert, Chain: ca.Chain(), Key: key, Policy: asn1.ObjectIdentifier{2, 999, 1}}
}

func (n *network) newKey() *ecdsa.PrivateKey {
	n.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	n.must(err)
	return key
}
