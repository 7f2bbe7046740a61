package ocsp

import (
	"bytes"
	"crypto"
	_ "crypto/sha1" // RFC 5019 2.1.1 requires clients to use SHA-1
	_ "crypto/sha256"
	_ "crypto/sha512"
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"math/big"
	"slices"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// A Request asks for the status of certificates (RFC 6960 4.1.1). It is not signed.
type Request struct {
	IDs   []CertID
	Nonce []byte // 1 to 128 bytes, 32 recommended (RFC 9654 2.1); nil: none
}

// A CertID identifies a certificate by its issuer and serial number (RFC 6960 4.1.1). SHA-1 is safe
// here, because the hashes only select the issuer: after a collision, the signature of the response
// does not verify with the issuer's key.
type CertID struct {
	Hash     crypto.Hash // SHA-1, SHA-256, SHA-384 or SHA-512; 0: an unknown hash
	NameHash []byte      // of the issuer's DER Name
	KeyHash  []byte      // of the issuer's public key: the subjectPublicKey bits
	Serial   *big.Int

	algorithm []byte // DER as read, which a response repeats
}

// NewRequest returns a request for one certificate. Every responder supports SHA-1 as the hash h.
func NewRequest(cert, issuer *x509.Certificate, h crypto.Hash, nonce []byte) Request {
	return Request{IDs: []CertID{newCertID(cert, issuer, h)}, Nonce: nonce}
}

// Marshal returns the OCSPRequest in DER.
func (r Request) Marshal() ([]byte, error) {
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { // OCSPRequest
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { // TBSRequest
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { // requestList
				for _, id := range r.IDs {
					b.AddASN1(cbasn1.SEQUENCE, id.append)
				}
			})
			appendNonce(b, tagContext2, r.Nonce)
		})
	})
	return b.Bytes()
}

// ParseRequest reads an OCSPRequest in DER. The error is [ErrFormat], also for an unknown critical
// extension. It ignores the signature of a request, because the status of a certificate is public.
func ParseRequest(der []byte) (Request, error) {
	if len(der) > MaxSize {
		return Request{}, fmt.Errorf("%w: the request has %d bytes, which are too many", ErrFormat, len(der))
	}
	s := cryptobyte.String(der)
	var request, tbs, list cryptobyte.String
	if !s.ReadASN1(&request, cbasn1.SEQUENCE) || !s.Empty() ||
		!request.ReadASN1(&tbs, cbasn1.SEQUENCE) || !request.SkipOptionalASN1(tagContext0) || !request.Empty() ||
		!readVersion(&tbs) || !tbs.SkipOptionalASN1(tagContext1) || // requestorName
		!tbs.ReadASN1(&list, cbasn1.SEQUENCE) || list.Empty() {
		return Request{}, fmt.Errorf("%w: not an OCSPRequest", ErrFormat)
	}
	ids, err := readRequestList(list)
	if err != nil {
		return Request{}, err
	}
	extensions, err := readExplicitExtensions(&tbs, tagContext2, oidNonce)
	if err != nil || !tbs.Empty() {
		return Request{}, fmt.Errorf("%w: requestExtensions is malformed, or data follow it", ErrFormat)
	}
	nonce, err := readNonce(extensions)
	return Request{ids, nonce}, err
}

func readRequestList(list cryptobyte.String) ([]CertID, error) {
	var ids []CertID
	for !list.Empty() {
		var one cryptobyte.String
		if len(ids) == maxSingles || !list.ReadASN1(&one, cbasn1.SEQUENCE) {
			return nil, fmt.Errorf("%w: requestList has an element that is not a SEQUENCE, or too many elements", ErrFormat)
		}
		id, ok := readCertID(&one)
		if !ok {
			return nil, fmt.Errorf("%w: a CertID in requestList is malformed", ErrFormat)
		}
		if _, err := readExplicitExtensions(&one, tagContext0); err != nil || !one.Empty() {
			return nil, fmt.Errorf("%w: singleRequestExtensions is malformed, or data follow it", ErrFormat)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

type hashOID struct {
	hash crypto.Hash
	oid  asn1.ObjectIdentifier
}

var certIDHashes = []hashOID{
	{crypto.SHA1, asn1.ObjectIdentifier{1, 3, 14, 3, 2, 26}},
	{crypto.SHA256, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}},
	{crypto.SHA384, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 2}},
	{crypto.SHA512, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 3}},
}

// IssuedBy reports whether the issuer of the identified certificate is the given one. It is false
// for an unknown hash.
func (id CertID) IssuedBy(issuer *x509.Certificate) bool {
	if id.Hash == 0 {
		return false
	}
	return bytes.Equal(id.NameHash, sum(id.Hash, issuer.RawSubject)) && bytes.Equal(id.KeyHash, sum(id.Hash, publicKeyBits(issuer)))
}

func newCertID(cert, issuer *x509.Certificate, h crypto.Hash) CertID {
	if !slices.ContainsFunc(certIDHashes, func(row hashOID) bool { return row.hash == h }) {
		return CertID{Hash: h, Serial: cert.SerialNumber} // Marshal returns an error
	}
	return CertID{Hash: h, NameHash: sum(h, issuer.RawSubject), KeyHash: sum(h, publicKeyBits(issuer)), Serial: cert.SerialNumber}
}

func readCertID(s *cryptobyte.String) (CertID, bool) {
	var sequence, algorithm, identifier, name, key cryptobyte.String
	var oid asn1.ObjectIdentifier
	id := CertID{Serial: new(big.Int)}
	if !s.ReadASN1(&sequence, cbasn1.SEQUENCE) || !sequence.ReadASN1Element(&algorithm, cbasn1.SEQUENCE) ||
		!sequence.ReadASN1(&name, cbasn1.OCTET_STRING) || !sequence.ReadASN1(&key, cbasn1.OCTET_STRING) ||
		!sequence.ReadASN1Integer(id.Serial) || !sequence.Empty() {
		return CertID{}, false
	}
	id.algorithm, id.NameHash, id.KeyHash = algorithm, name, key
	if !algorithm.ReadASN1(&identifier, cbasn1.SEQUENCE) || !identifier.ReadASN1ObjectIdentifier(&oid) {
		return CertID{}, false
	}
	for _, row := range certIDHashes {
		if row.oid.Equal(oid) {
			id.Hash = row.hash
		}
	}
	return id, true
}

func (id CertID) append(b *cryptobyte.Builder) {
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		id.appendAlgorithm(b)
		b.AddASN1OctetString(id.NameHash)
		b.AddASN1OctetString(id.KeyHash)
		b.AddASN1BigInt(id.Serial)
	})
}

func (id CertID) appendAlgorithm(b *cryptobyte.Builder) {
	if id.algorithm != nil {
		b.AddBytes(id.algorithm)
		return
	}
	for _, row := range certIDHashes {
		if row.hash == id.Hash {
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddASN1ObjectIdentifier(row.oid)
				b.AddASN1NULL() // some responders compare the bytes with their own encoding
			})
			return
		}
	}
	b.SetError(fmt.Errorf("ocsp: hash %v is not used for a CertID", id.Hash))
}

// publicKeyBits returns the subjectPublicKey without tag, length and unused bits. Every certificate
// that crypto/x509 parsed has one.
func publicKeyBits(cert *x509.Certificate) []byte {
	spki := cryptobyte.String(cert.RawSubjectPublicKeyInfo)
	var sequence cryptobyte.String
	var bits []byte
	if !spki.ReadASN1(&sequence, cbasn1.SEQUENCE) || !sequence.SkipASN1(cbasn1.SEQUENCE) || !sequence.ReadASN1BitStringAsBytes(&bits) {
		return nil
	}
	return bits
}

func sum(h crypto.Hash, b []byte) []byte {
	w := h.New()
	w.Write(b)
	return w.Sum(nil)
}
