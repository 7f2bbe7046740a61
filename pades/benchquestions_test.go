package pades_test

import (
	"context"
	"crypto"
	"crypto/x509"
	"encoding/asn1"
	"math/big"
	"testing"
	"time"

	rfc6960 "golang.org/x/crypto/ocsp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/cms"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// questions asks an authority, and keeps each question as a function that asks it again,
// verifies the signatures of an answer and of the certificate that it is about, and does
// nothing else.
type questions struct {
	ades.Sources
	tb    testing.TB
	ca    *sandboxca.Authority
	again []func() error
}

func (q *questions) sources() ades.Sources {
	return ades.Sources{Time: q, Revocation: q, Issuers: q.Issuers, Roots: q.Roots}
}

// Timestamp implements [ades.Timestamper].
func (q *questions) Timestamp(ctx context.Context, h crypto.Hash, sum []byte) ([]byte, error) {
	token, err := q.Time.Timestamp(ctx, h, sum)
	if err != nil {
		return nil, err
	}
	request := q.encoded(tsp.Request{Hash: h, Sum: sum, Nonce: big.NewInt(1 << 62), Certificates: true}.Marshal())
	signed, err := cms.ParseEncapsulated(token, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 1, 4}) // id-ct-TSTInfo
	if err != nil {
		q.tb.Fatal(err)
	}
	by, err := signed.Signer()
	if err != nil {
		q.tb.Fatal(err)
	}
	q.again = append(q.again, func() error {
		q.ca.Timestamp(request, time.Now())
		return by.CheckSignature(x509.ECDSAWithSHA256, signed.SignedAttributes, signed.Value)
	})
	return token, nil
}

// Revocation implements [ades.Revocation].
func (q *questions) Revocation(ctx context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	proof, err := q.Sources.Revocation.Revocation(ctx, cert, issuer, notBefore)
	q.again = append(q.again, func() error { return cert.CheckSignatureFrom(issuer) })
	switch {
	case err != nil:
		return proof, err
	case proof.CRL != nil:
		q.again = append(q.again, q.list(proof.CRL, issuer))
	default:
		q.again = append(q.again, q.response(proof.OCSP, cert, issuer))
	}
	return proof, nil
}

func (q *questions) list(der []byte, issuer *x509.Certificate) func() error {
	list, err := x509.ParseRevocationList(der)
	if err != nil {
		q.tb.Fatal(err)
	}
	return func() error {
		if _, err := q.ca.RootCRL(time.Now()); err != nil {
			return err
		}
		return list.CheckSignatureFrom(issuer)
	}
}

func (q *questions) response(der []byte, cert, issuer *x509.Certificate) func() error {
	response, err := rfc6960.ParseResponseForCert(der, cert, issuer)
	if err != nil {
		q.tb.Fatal(err)
	}
	request := q.encoded(ocsp.NewRequest(cert, issuer, crypto.SHA256, make([]byte, 32)).Marshal())
	return func() error {
		q.ca.OCSP(request, time.Now())
		if err := response.CheckSignatureFrom(response.Certificate); err != nil {
			return err
		}
		return response.Certificate.CheckSignatureFrom(issuer)
	}
}

func (q *questions) encoded(der []byte, err error) []byte {
	if err != nil {
		q.tb.Fatal(err)
	}
	return der
}
