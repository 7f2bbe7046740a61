package ciba

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// signer makes the JWTs of a client (RFC 7519).
type signer struct {
	jose      jose.Signer
	algorithm string
}

func newSigner(key crypto.Signer, keyID, algorithm string) (*signer, error) {
	native := ""
	switch public := key.Public().(type) {
	case *rsa.PublicKey:
		if public.N.BitLen() < 2048 {
			return nil, errors.New("ciba: an RSA key of fewer than 2048 bits")
		}
		native = "RS256"
		if algorithm == "PS256" {
			native = algorithm
		}
	case *ecdsa.PublicKey:
		if public.Curve != elliptic.P256() {
			return nil, errors.New("ciba: an ECDSA key that is not on P-256")
		}
		native = "ES256"
	default:
		return nil, fmt.Errorf("ciba: no algorithm for a key of type %T", public)
	}
	if algorithm != "" && algorithm != native {
		return nil, fmt.Errorf("ciba: algorithm %q is not one of the key", algorithm)
	}
	options := (&jose.SignerOptions{}).WithType("JWT")
	if keyID != "" {
		options = options.WithHeader("kid", keyID)
	}
	opaque := opaqueKey{key, jose.SignatureAlgorithm(native)}
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: opaque.algorithm, Key: opaque}, options)
	if err != nil {
		return nil, fmt.Errorf("ciba: %w", err)
	}
	return &signer{s, native}, nil
}

func (s *signer) sign(claims map[string]any) (string, error) {
	token, err := jwt.Signed(s.jose).Claims(claims).Serialize()
	if err != nil {
		return "", fmt.Errorf("ciba: signing: %w", err)
	}
	return token, nil
}

// opaqueKey signs with keys that may be elsewhere. go-jose's own cryptosigner does not give
// PS256 the salt length of RFC 7518 3.5.
type opaqueKey struct {
	key       crypto.Signer
	algorithm jose.SignatureAlgorithm
}

func (k opaqueKey) Public() *jose.JSONWebKey { return &jose.JSONWebKey{Key: k.key.Public()} }

func (k opaqueKey) Algs() []jose.SignatureAlgorithm { return []jose.SignatureAlgorithm{k.algorithm} }

func (k opaqueKey) SignPayload(payload []byte, algorithm jose.SignatureAlgorithm) ([]byte, error) {
	sum := sha256.Sum256(payload)
	switch algorithm {
	case jose.RS256:
		return k.key.Sign(rand.Reader, sum[:], crypto.SHA256)
	case jose.PS256:
		return k.key.Sign(rand.Reader, sum[:], &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: crypto.SHA256})
	case jose.ES256:
		der, err := k.key.Sign(rand.Reader, sum[:], crypto.SHA256)
		if err != nil {
			return nil, err
		}
		return rawECDSA(der)
	}
	return nil, jose.ErrUnsupportedAlgorithm
}

// rawECDSA writes a signature on P-256 as R and S of 32 bytes each (RFC 7518 3.4).
func rawECDSA(der []byte) ([]byte, error) {
	var sig struct{ R, S *big.Int }
	if rest, err := asn1.Unmarshal(der, &sig); err != nil || len(rest) > 0 || !fits(sig.R) || !fits(sig.S) {
		return nil, errors.New("the key's signature is no ECDSA signature on P-256")
	}
	out := make([]byte, 64)
	sig.R.FillBytes(out[:32])
	sig.S.FillBytes(out[32:])
	return out, nil
}

func fits(n *big.Int) bool { return n.Sign() > 0 && n.BitLen() <= 256 }
