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

// A Unit is a time-stamping unit (EN 319 422 clause 3): one key of an authority with its
// certificate. It is safe for concurrent use.
type Unit struct {
	Certificate *x509.Certificate
	Chain       []*x509.Certificate // further certificates for requests with certReq
	Key         crypto.Signer
	Policy      asn1.ObjectIdentifier
}

// accuracy is one second, because Create truncates the time of a token to its second.
const accuracy = time.Second

// Respond returns the TimeStampResp in DER to a request in DER, even a malformed one: with a token
// of the time now, or with a refusal.
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

// Create returns a token for a request, in DER. The error is a [StatusError] if the authority
// refuses the request: the hash of the imprint is not SHA-256, SHA-384 or SHA-512
// (ETSI TS 119 312), or the policy is not the unit's.
//
// Create truncates the time to whole seconds. Otherwise a later time of the same second that has no
// fraction, such as the time of a revocation, would seem to precede the token.
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
		Hash: r.Hash, Sum: r.Sum, Nonce: r.Nonce, tsa: directoryName(u.Certificate.RawSubject),
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
		return refuse(BadAlg, fmt.Sprintf("messageImprints by %v are not accepted", r.Hash))
	}
	if len(r.Sum) != r.Hash.Size() {
		return refuse(BadDataFormat, "imprint")
	}
	if r.Policy != nil && !r.Policy.Equal(u.Policy) {
		return refuse(UnacceptedPolicy, fmt.Sprintf("the policy is %v", u.Policy))
	}
	return nil
}

// sign returns the SignedData with the TSTInfo.
func (u Unit) sign(content []byte, certificates bool) ([]byte, error) {
	a, err := ades.DefaultAlgorithm(u.Key.Public())
	if err != nil {
		return nil, fmt.Errorf("tsp: key of the unit: %w", err)
	}
	h := a.Hash.New()
	h.Write(content)
	attributes, err := cms.SignedAttributesForContent(oidTSTInfo, u.Certificate, a, h.Sum(nil))
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
