package account

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
)

// secretSize is 256 bits (decisions.md 3).
const secretSize = 32

// newSecret makes the value of a client secret or of a token: 43 characters of
// base64url.
func newSecret() string {
	var random [secretSize]byte
	rand.Read(random[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(random[:])
}

// hashed is how a secret is stored. A fast hash is enough: there is nothing to
// guess in 256 random bits, and who chooses a secret for a sandbox is told so.
func hashed(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// matches compares in constant time. The hash of an unknown client is empty;
// the same comparison is then made against a value that no secret hashes to, so
// that the time taken does not tell which ids exist.
func matches(hash []byte, secret string) bool {
	exists := len(hash) == sha256.Size
	if !exists {
		hash = make([]byte, sha256.Size)
	}
	return subtle.ConstantTimeCompare(hash, hashed(secret)) == 1 && exists
}
