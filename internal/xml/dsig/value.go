package dsig

import (
	"crypto"
	"crypto/ecdsa"
	"encoding/asn1"
	"fmt"
	"math/big"

	"github.com/innsigli/innsigli/ades"
)

// pair is an ECDSA value in DER (RFC 3279 2.2.3).
type pair struct{ R, S *big.Int }

// EncodeValue is a signature value as XML has it: of ECDSA, which comes in DER, r and s side by side
// (xmldsig-core1 6.4.3). [ades.ErrValue].
func EncodeValue(a ades.Algorithm, pub crypto.PublicKey, value []byte) ([]byte, error) {
	if a.Scheme != ades.ECDSA {
		return value, nil
	}
	key, ok := pub.(*ecdsa.PublicKey)
	if !ok {
		return nil, fmt.Errorf("xmldsig: %w: %v with key %T", ades.ErrAlgorithm, a.Scheme, pub)
	}
	var p pair
	rest, err := asn1.Unmarshal(value, &p)
	if err != nil || len(rest) > 0 || !inOrder(p.R, key) || !inOrder(p.S, key) {
		return nil, fmt.Errorf("xmldsig: %w: not r and s of the curve in DER", ades.ErrValue)
	}
	out := make([]byte, 2*width(key))
	p.R.FillBytes(out[:width(key)])
	p.S.FillBytes(out[width(key):])
	return out, nil
}

// inOrder says whether an integer is one of a value: from 1 to below the order of the curve's base point.
func inOrder(x *big.Int, key *ecdsa.PublicKey) bool {
	return x.Sign() > 0 && x.Cmp(key.Params().N) < 0
}

// width is how many octets r and s each have, by the order of the base point.
func width(key *ecdsa.PublicKey) int { return (key.Params().N.BitLen() + 7) / 8 }

// maxWidth is that of P-521, the widest curve.
const maxWidth = 66

// decodeValue is a value of a signature as [ades.Algorithm.Verify] takes it; nil when it is none of the
// algorithm.
func decodeValue(a ades.Algorithm, octets []byte) []byte {
	if a.Scheme != ades.ECDSA {
		return octets
	}
	half := len(octets) / 2
	if len(octets)%2 != 0 || half == 0 || half > maxWidth {
		return nil
	}
	der, err := asn1.Marshal(pair{new(big.Int).SetBytes(octets[:half]), new(big.Int).SetBytes(octets[half:])})
	if err != nil {
		return nil
	}
	return der
}

// checkWidth refuses a value of ECDSA that is not as wide as its curve: one in DER, or with zeros left
// away, which others read as something else.
func checkWidth(pub crypto.PublicKey, octets []byte) error {
	if key, ok := pub.(*ecdsa.PublicKey); ok && len(octets) != 2*width(key) {
		return fmt.Errorf("xmldsig: %w: %d octets, not r and s of the curve", ades.ErrValue, len(octets))
	}
	return nil
}
