package audkenni

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/big"
)

// VerificationCode returns the 4 digits that the app shows for the digest that it is asked
// to sign: the last two bytes of the digest's SHA-256, modulo 10000 (Auðkenni, page
// 5579735042). The hash is SHA-256 whatever the digest was made with.
func VerificationCode(sum []byte) string {
	h := sha256.Sum256(sum)
	return fourDigits(uint64(binary.BigEndian.Uint16(h[len(h)-2:])) % 10000)
}

// drawCode draws the code of a conversation by SIM, for which Auðkenni has none.
func drawCode() (string, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(10000))
	if err != nil {
		return "", fmt.Errorf("audkenni: drawing a verification code: %w", err)
	}
	return fourDigits(n.Uint64()), nil
}

func fourDigits(n uint64) string { return fmt.Sprintf("%04d", n) }
