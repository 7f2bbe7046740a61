package pades_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"regexp"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// falselyProven say that something is proven which is not. The signature may be as good as it was without
// the proof.
var falselyProven = []attack{
	{proofs, "an OCSP response of nobody who is trusted", withResponse(func(s *scene) []byte {
		return s.response(s.attacker.ca, s.attacker.signer.Certificate)
	}), notProven},
	{proofs, "an OCSP response about somebody else", withResponse(func(s *scene) []byte {
		return s.response(s.ca, newPerson(s, s.ca, p256(s)).signer.Certificate)
	}), notProven},
	{proofs, "an OCSP response that was changed", withResponse(func(s *scene) []byte {
		b := bytes.Clone(ownResponse(s))
		b[len(b)/2] ^= 1
		return b
	}), notProven},
	{proofs, "a document timestamp over another range", func(s *scene) []byte {
		b := s.archived(ades.LTA)
		all := regexp.MustCompile(`/ByteRange \[0 `).FindAllIndex(b, -1)
		b[all[len(all)-1][1]-2] = '1'

		return b
	}, notArchived},
	{proofs, "a document timestamp over other content", func(s *scene) []byte {
		b := s.archived(ades.LTA)
		b[bytes.LastIndex(b, []byte("/TU ("))+len("/TU (")] ^= 1 // the title of its field
		return b
	}, notArchived},
}

// notProven: nothing says that the certificate is not revoked, whatever level it seems to be.
func notProven(report *ades.Report) bool {
	s := report.Signatures[0]
	return s.Indication == ades.Indeterminate && s.SubIndication == ades.TryLater
}

// notArchived: no document timestamp counts.
func notArchived(report *ades.Report) bool {
	s := report.Signatures[0]
	for _, t := range s.Timestamps {
		if t.Type == ades.DocumentTimestamp && t.Trusted {
			return false
		}
	}
	return true
}

// withResponse is the contract of level T with a store where everything is but what is said of the signer, and
// that is a response.
func withResponse(of func(*scene) []byte) func(*scene) []byte {
	return func(s *scene) []byte {
		s.Helper()
		b := s.archived(ades.T)
		list, err := s.ca.RootCRL(time.Now())
		if err != nil {
			s.Fatal(err)
		}
		r := newRevision(s.T, b)
		der := func(b []byte) pdf.Ref { return r.addStream("", string(b)) }
		var certificates pdf.Array
		for _, c := range s.signer.signer.Chain {
			certificates = append(certificates, der(c.Raw))
		}
		stamping := verify(s, b, s.ca)[0].Timestamps[0].Authority
		r.set(catalog, "DSS", r.add(fmt.Sprintf("<< /Certs %v /OCSPs [%v %v] /CRLs [%v] >>",
			certificates, der(of(s)), der(s.response(s.ca, stamping)), der(list))).String())
		return r.written()
	}
}

// response is what an authority says of a certificate.
func (s *scene) response(ca *sandboxca.Authority, c *x509.Certificate) []byte {
	s.Helper()
	proof, err := ca.Sources(nil).Revocation.Revocation(context.WithoutCancel(s.Context()), c, ca.Chain()[0], time.Time{})
	if err != nil {
		s.Fatal(err)
	}
	return proof.OCSP
}

// ownResponse is the right one.
func ownResponse(s *scene) []byte { return s.response(s.ca, s.signer.signer.Certificate) }
