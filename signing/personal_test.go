package signing_test

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/signing"
)

// given is a name that crypto/x509 prints in hexadecimal.
const given = "Anonymous"

// personal is what identifies the person that the phone's certificate is about.
func personal() []string {
	var all []string
	for _, text := range []string{kennitala, "A signer", given} {
		all = append(all, strings.ToLower(text), hex.EncodeToString([]byte(text)))
	}
	return all
}

// nameGiven adds the given name (X.520 6.2.4) to the phone's certificate.
func (n *network) nameGiven() {
	n.t.Helper()
	template := *n.cert
	template.RawSubject = nil
	template.Subject.ExtraNames = []pkix.AttributeTypeAndValue{
		{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: "A signer"},
		{Type: asn1.ObjectIdentifier{2, 5, 4, 5}, Value: kennitala},
		{Type: asn1.ObjectIdentifier{2, 5, 4, 42}, Value: given},
	}
	n.cert = n.certify(&template, n.cert.PublicKey, n.ca.Chain()[0], n.issuingKey())
}

// strange is a signer of an authority that is not trusted.
func strange(n *network) {
	n.t.Helper()
	stranger, err := sandboxca.New(time.Now())
	n.must(err)
	n.cert, err = stranger.Issue("A signer", kennitala, n.key.Public(), time.Now())
	n.must(err)
}

// signerFaults are those of the signer's own certificate and of what comes with it.
var signerFaults = []fault{
	{name: "no chain", lt: idp.CertificateValidationError, happens: strange},
	{name: "wrong issuer", lt: idp.CertificateValidationError, happens: func(n *network) {
		n.cert = n.certify(profile("A signer"), n.key.Public(), n.caTemplate("Another CA"), n.newKey())
	}},
	{name: "no address to ask", lt: pending, happens: func(n *network) { n.cert = n.unaddressed() }},
}

// unaddressed is the phone's certificate without an address to ask about it.
func (n *network) unaddressed() *x509.Certificate {
	n.t.Helper()
	template := *n.cert
	template.OCSPServer, template.CRLDistributionPoints = nil, nil
	return n.certify(&template, n.cert.PublicKey, n.ca.Chain()[0], n.issuingKey())
}

// Errors are logged, and personal data never reach a log: whatever is wrong, the errors of a
// service say nothing about who signs.
func TestPersonalDataIsInNoError(t *testing.T) {
	for _, f := range slices.Concat(statusFaults, revocations, signerFaults) {
		if f.large {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t)
				n.nameGiven()
				f.happens(n)
				told := n.toldErrors(t)
				if f.lt == pending && len(told) == 0 {
					t.Error("the failure was not reported")
				}
				for _, err := range told {
					for _, word := range personal() {
						if strings.Contains(strings.ToLower(err.Error()), word) {
							t.Errorf("%q is in %v", word, err)
						}
					}
				}
			})
		})
	}
}

// toldErrors are all that a service tells of a request from the start until it is given up.
func (n *network) toldErrors(t *testing.T) (told []error) {
	t.Helper()
	options := n.options(n.client(tsa, n.roots))
	options.OnStep = func(_ context.Context, s signing.Step) {
		if s.Err != nil {
			told = append(told, s.Err)
		}
	}
	s := newService(t, n.phone, options)
	started, err := s.start(func(in *signing.Start) { in.Level = ades.LT })
	if err != nil {
		return []error{err}
	}
	for range 2 {
		if err := s.Poll(t.Context(), account, started.ID, func(signing.Answer) error { return nil }); err != nil {
			told = append(told, err)
		}
		time.Sleep(16 * time.Minute)
	}
	return told
}
