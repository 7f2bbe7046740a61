package cms

import (
	"crypto"
	_ "crypto/sha1" // for reading old signatures, which validation reports as weak
	_ "crypto/sha3"
	"encoding/asn1"
	"errors"
	"fmt"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/der"
)

var (
	oidRSA = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 1}
	oidPSS = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 10}
)

// digestOIDs are the hashes of RFC 5754 and of RFC 9688 (SHA-3). Those that no policy accepts, such
// as SHA-1, are only for reading.
var digestOIDs = []struct {
	hash crypto.Hash
	oid  asn1.ObjectIdentifier
}{
	{crypto.SHA256, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}},
	{crypto.SHA384, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 2}},
	{crypto.SHA512, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 3}},
	{crypto.SHA1, asn1.ObjectIdentifier{1, 3, 14, 3, 2, 26}},
	{crypto.SHA224, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 4}},
	{crypto.SHA3_224, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 7}},
	{crypto.SHA3_256, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 8}},
	{crypto.SHA3_384, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 9}},
	{crypto.SHA3_512, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 10}},
}

// signatureOIDs identify a hash and a scheme together. RSA has NULL parameters (RFC 4055
// section 5), ECDSA and Ed25519 have none (RFC 5754 section 3.3, RFC 8419 2.4). RSASSA-PSS is not
// in the list, because its hash is in its parameters.
var signatureOIDs = []struct {
	algorithm ades.Algorithm
	oid       asn1.ObjectIdentifier
}{
	{ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PKCS1v15}, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 11}},
	{ades.Algorithm{Hash: crypto.SHA384, Scheme: ades.PKCS1v15}, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 12}},
	{ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.PKCS1v15}, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 13}},
	{ades.Algorithm{Hash: crypto.SHA1, Scheme: ades.PKCS1v15}, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 5}},
	{ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}, asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 2}},
	{ades.Algorithm{Hash: crypto.SHA384, Scheme: ades.ECDSA}, asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 3}},
	{ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.ECDSA}, asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 4}},
	{ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.Ed25519}, asn1.ObjectIdentifier{1, 3, 101, 112}},
	{ades.Algorithm{Hash: crypto.SHA224, Scheme: ades.PKCS1v15}, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 14}},
	{ades.Algorithm{Hash: crypto.SHA3_224, Scheme: ades.PKCS1v15}, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 3, 13}},
	{ades.Algorithm{Hash: crypto.SHA3_256, Scheme: ades.PKCS1v15}, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 3, 14}},
	{ades.Algorithm{Hash: crypto.SHA3_384, Scheme: ades.PKCS1v15}, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 3, 15}},
	{ades.Algorithm{Hash: crypto.SHA3_512, Scheme: ades.PKCS1v15}, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 3, 16}},
	{ades.Algorithm{Hash: crypto.SHA1, Scheme: ades.ECDSA}, asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 1}},
	{ades.Algorithm{Hash: crypto.SHA224, Scheme: ades.ECDSA}, asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 1}},
	{ades.Algorithm{Hash: crypto.SHA3_256, Scheme: ades.ECDSA}, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 3, 10}},
	{ades.Algorithm{Hash: crypto.SHA3_384, Scheme: ades.ECDSA}, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 3, 11}},
	{ades.Algorithm{Hash: crypto.SHA3_512, Scheme: ades.ECDSA}, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 3, 12}},
}

// MarshalHash returns the AlgorithmIdentifier of a hash in DER, without parameters (RFC 5754
// section 2). The error of an unknown hash is [ades.ErrAlgorithm].
func MarshalHash(h crypto.Hash) ([]byte, error) {
	for _, d := range digestOIDs {
		if d.hash == h {
			return marshalAlgorithmIdentifier(d.oid, false)
		}
	}
	return nil, fmt.Errorf("cms: %w: no object identifier is known for hash %v", ades.ErrAlgorithm, h)
}

// ParseHash reads the AlgorithmIdentifier of a hash and ignores its parameters. The error is
// [ErrFormat] if the bytes are not an AlgorithmIdentifier, [ErrNoDigest] if it identifies a
// signature algorithm, and [ades.ErrAlgorithm] for an unknown hash.
func ParseHash(identifier []byte) (crypto.Hash, error) {
	oid, err := identifierOID(identifier)
	if err != nil {
		return 0, err
	}
	return hashByOID(oid)
}

func hashByOID(oid asn1.ObjectIdentifier) (crypto.Hash, error) {
	for _, d := range digestOIDs {
		if d.oid.Equal(oid) && d.hash.Available() {
			return d.hash, nil
		}
	}
	for _, s := range signatureOIDs {
		if s.oid.Equal(oid) {
			return 0, fmt.Errorf("%w: digestAlgorithm %v identifies a signature algorithm", ErrNoDigest, oid)
		}
	}
	return 0, fmt.Errorf("cms: %w: digest algorithm %v", ades.ErrAlgorithm, oid)
}

// parseAlgorithm combines the two AlgorithmIdentifiers of a SignerInfo. The signature algorithm
// either identifies the hash too (sha256WithRSAEncryption), and then it must equal the digest
// algorithm, or leaves it to the digest algorithm (rsaEncryption).
func parseAlgorithm(digest, signature cryptobyte.String) (ades.Algorithm, error) {
	digestOID, err := identifierOID(digest)
	if err != nil {
		return ades.Algorithm{}, err
	}
	h, err := hashByOID(digestOID)
	if err != nil {
		return ades.Algorithm{}, err
	}
	signatureOID, err := identifierOID(signature)
	if err != nil {
		return ades.Algorithm{}, err
	}
	switch {
	case signatureOID.Equal(oidRSA):
		return ades.Algorithm{Hash: h, Scheme: ades.PKCS1v15}, nil
	case signatureOID.Equal(oidPSS):
		return parsePSS(h, signature)
	}
	for _, s := range signatureOIDs {
		if s.oid.Equal(signatureOID) {
			if s.algorithm.Hash != h {
				return ades.Algorithm{}, fmt.Errorf("%w: %w: digestAlgorithm %v does not fit signatureAlgorithm %v", ErrFormat, ades.ErrValue, h, signatureOID)
			}
			return s.algorithm, nil
		}
	}
	return ades.Algorithm{}, fmt.Errorf("cms: %w: signature algorithm %v", ades.ErrAlgorithm, signatureOID)
}

// parsePSS reads the AlgorithmIdentifier of RSASSA-PSS and compares its hash with the digest
// algorithm. RFC 4055 allows another hash for the mask generation function; crypto/rsa does not
// support one, so the error is [ades.ErrAlgorithm].
func parsePSS(digest crypto.Hash, identifier []byte) (ades.Algorithm, error) {
	p, err := der.ParsePSS(identifier)
	switch {
	case errors.Is(err, der.ErrFormat):
		return ades.Algorithm{}, fmt.Errorf("%w: %w", ErrFormat, err)
	case err != nil:
		return ades.Algorithm{}, fmt.Errorf("cms: %w", err)
	case p.Hash != digest:
		return ades.Algorithm{}, fmt.Errorf("%w: digestAlgorithm is %v, but the hash of RSASSA-PSS is %v", ErrFormat, digest, p.Hash)
	case p.Mask != p.Hash || p.Salt < 1:
		return ades.Algorithm{}, fmt.Errorf("cms: %w: RSASSA-PSS with %v, mask by %v and a salt of %d bytes", ades.ErrAlgorithm, p.Hash, p.Mask, p.Salt)
	}
	a := ades.Algorithm{Hash: p.Hash, Scheme: ades.PSS}
	if p.Salt != p.Hash.Size() {
		a.Salt = p.Salt
	}
	return a, nil
}

func identifierOID(identifier cryptobyte.String) (asn1.ObjectIdentifier, error) {
	var sequence cryptobyte.String
	var oid asn1.ObjectIdentifier
	if !identifier.ReadASN1(&sequence, cbasn1.SEQUENCE) || !sequence.ReadASN1ObjectIdentifier(&oid) {
		return nil, fmt.Errorf("%w: an AlgorithmIdentifier has no object identifier", ErrFormat)
	}
	return oid, nil
}

func marshalSignatureAlgorithm(a ades.Algorithm) ([]byte, error) {
	if a.Scheme == ades.PSS {
		return marshalPSS(a)
	}
	for _, s := range signatureOIDs {
		if s.algorithm == a {
			return marshalAlgorithmIdentifier(s.oid, a.Scheme == ades.PKCS1v15)
		}
	}
	return nil, fmt.Errorf("cms: %w: no object identifier is known for %v with %v", ades.ErrAlgorithm, a.Scheme, a.Hash)
}

// marshalPSS returns the AlgorithmIdentifier of RSASSA-PSS with the parameters that CMS requires
// (RFC 4056 2.2).
func marshalPSS(a ades.Algorithm) ([]byte, error) {
	if !a.Hash.Available() {
		return nil, fmt.Errorf("cms: %w: hash %v is not linked into the program", ades.ErrAlgorithm, a.Hash)
	}
	salt := a.Salt
	if salt == 0 {
		salt = a.Hash.Size()
	}
	return der.PSS{Hash: a.Hash, Mask: a.Hash, Salt: salt}.Marshal()
}

func marshalAlgorithmIdentifier(oid asn1.ObjectIdentifier, null bool) ([]byte, error) {
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oid)
		if null {
			b.AddASN1NULL()
		}
	})
	return b.Bytes()
}
