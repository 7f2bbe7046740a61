package webhook

import (
	"crypto/ed25519"
	"encoding/hex"
	"slices"
)

// weak says whether a public key is a point whose order is 8 or less. The challenge of RFC 8032
// 5.1.7 step 2 counts only modulo that order, so that anybody finds signatures which verify.
// The last bit is the sign of x, which does not matter here.
func weak(key ed25519.PublicKey) bool {
	y := slices.Clone(key)
	y[ed25519.PublicKeySize-1] &^= 0x80
	return slices.Contains([]string{
		"0000000000000000000000000000000000000000000000000000000000000000", // 0, order 4
		"0100000000000000000000000000000000000000000000000000000000000000", // 1, order 1
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", // p-1, order 2
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", // p, read as 0
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", // p+1, read as 1
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", // order 8
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", // order 8
	}, hex.EncodeToString(y))
}
