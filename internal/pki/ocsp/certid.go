package ocsp

import (
	"bytes"
	"crypto"
	_ "crypto/sha1" // the hash that RFC 5019 2.1.1 has clients use
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

// CertID names a certificate by its issuer and serial number (RFC 6960 4.1.1).
// SHA-1 here finds and does not protect: a collision names an issuer whose key
// does not verify the response.
type CertID struct {
	Hash     crypto.Hash // SHA-1, SHA-256, SHA-384 or SHA-512; 0: one that is not known
	NameHash []byte      // of the issuer's DER Name
	KeyHash  []byte      // of the issuer's public key, without algorithm and header
	Serial   *big.Int

	algorithm []byte // DER as it was read, which an answer repeats
}

type hashOID struct {
	hash crypto.Hash
	oid  asn1.ObjectIdentifier
}

var hashes = []hashOID{
	{crypto.SHA1, asn1.ObjectIdentifier{1, 3, 14, 3, 2, 26}},
	{crypto.SHA256, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}},
	{crypto.SHA384, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 2}},
	{crypto.SHA512, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 3}},
}

// IssuedBy says whether the issuer named is this one.
func (id CertID) IssuedBy(issuer *x509.Certificate) bool {
	if id.Hash == 0 {
		return false
	}
	return bytes.Equal(id.NameHash, sum(id.Hash, issuer.RawSubject)) && bytes.Equal(id.KeyHash, sum(id.Hash, publicKeyBits(issuer)))
}

func newCertID(cert, issuer *x509.Certificate, h crypto.Hash) CertID {
	if !slices.ContainsFunc(hashes, func(row hashOID) bool { return row.hash == h }) {
		return CertID{Hash: h, Serial: cert.SerialNumber} // Marshal refuses it
	}
	return CertID{Hash: h, NameHash: sum(h, issuer.RawSubject), KeyHash: sum(h, publicKeyBits(issuer)), Serial: cert.SerialNumber}
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
	for _, row := range hashes {
		if row.hash == id.Hash {
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddASN1ObjectIdentifier(row.oid)
				b.AddASN1NULL() // responders in use compare it with what they write
			})
			return
		}
	}
	b.SetError(fmt.Errorf("ocsp: hash %v is not used for a CertID", id.Hash))
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
	for _, row := range hashes {
		if row.oid.Equal(oid) {
			id.Hash = row.hash
		}
	}
	return id, true
}

// publicKeyBits is the subjectPublicKey without tag, length and unused bits. A
// certificate that crypto/x509 parsed has one.
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
