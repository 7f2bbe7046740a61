package tsp

import (
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"math/big"
	"time"

	"golang.org/x/crypto/cryptobyte"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/cms"
)

// Unit is a time-stamping unit (EN 319 422 clause 3): one key of an authority with
// its certificate. It may be used by several goroutines.
type Unit struct {
	Certificate *x509.Certificate
	Chain       []*x509.Certificate // further certificates for clients that ask for certificates
	Key         crypto.Signer
	Policy      asn1.ObjectIdentifier
}

// accuracy covers that the time of a token is that of the second it was made in.
const accuracy = time.Second

// Respond answers a request in DER, also one that is none: a TimeStampResp with a
// token of the time given, or with the refusal.
func (u Unit) Respond(request []byte, now time.Time) []byte {
	r, err := ParseRequest(request)
	var token []byte
	if err == nil {
		token, err = u.Create(r, now)
	}
	response, err := marshalResponse(token, err)
	if err != nil {
		response, _ = marshalResponse(nil, err) // a refusal without text always has an encoding
	}
	return response
}

// Create makes a token for a request, in DER. A [StatusError] when the request is one
// to refuse: an imprint that is not by SHA-256, SHA-384 or SHA-512 (ETSI TS 119 312),
// or another policy than the unit's.
//
// The time is in whole seconds, so that what is said to be of the same second later,
// as revocation is, does not seem to be from before it.
func (u Unit) Create(r Request, now time.Time) ([]byte, error) {
	if err := u.check(r); err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 159)) // RFC 3161 2.4.2: up to 160 bits
	if err != nil {
		return nil, fmt.Errorf("tsp: drawing a serial number: %w", err)
	}
	t := Token{
		Time: now.UTC().Truncate(time.Second), Accuracy: accuracy, Policy: u.Policy, SerialNumber: serial,
		Hash: r.Hash, Sum: r.Sum, Nonce: r.Nonce, name: directoryName(u.Certificate.RawSubject),
	}
	var b cryptobyte.Builder
	if err := t.addInfo(&b); err != nil {
		return nil, err
	}
	content, err := b.Bytes()
	if err != nil {
		return nil, fmt.Errorf("tsp: encoding a TSTInfo: %w", err)
	}
	return u.sign(content, r.Certificates)
}

func (u Unit) check(r Request) error {
	switch r.Hash {
	case crypto.SHA256, crypto.SHA384, crypto.SHA512:
	default:
		return refuse(BadAlg, fmt.Sprintf("imprints by %v are not accepted", r.Hash))
	}
	if len(r.Sum) != r.Hash.Size() {
		return refuse(BadDataFormat, "imprint")
	}
	if r.Policy != nil && !r.Policy.Equal(u.Policy) {
		return refuse(UnacceptedPolicy, fmt.Sprintf("the policy is %v", u.Policy))
	}
	return nil
}

// sign puts the TSTInfo into a SignedData.
func (u Unit) sign(content []byte, certificates bool) ([]byte, error) {
	a, err := ades.DefaultAlgorithm(u.Key.Public())
	if err != nil {
		return nil, fmt.Errorf("tsp: key of the unit: %w", err)
	}
	h := a.Hash.New()
	h.Write(content)
	attributes, err := cms.SignedAttributesOf(oidTSTInfo, u.Certificate, a, h.Sum(nil))
	if err != nil {
		return nil, err
	}
	digest := a.Digest(attributes)
	value, err := u.Key.Sign(rand.Reader, digest.Sum, a.SignerOpts())
	if err != nil {
		return nil, fmt.Errorf("tsp: signing a token: %w", err)
	}
	return cms.Marshal(cms.Parts{
		Certificate: u.Certificate, Chain: u.Chain, Algorithm: a, SignedAttributes: attributes, Value: value,
		ContentType: oidTSTInfo, Content: content, OmitCertificates: !certificates,
	})
}
