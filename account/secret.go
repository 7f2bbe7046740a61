package account

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"slices"
	"strings"
	"time"
)

// secretSize is 256 bits (spec 2.1).
const secretSize = 32

// maxSecrets is how many a client has at once: one, and the one that takes its place.
const maxSecrets = 2

// FirstSecret is the ID of the secret that a client is made with.
const FirstSecret = "first"

// Secret is one of a client's, as it is stored.
type Secret struct {
	ID        string // among those of its client; it tells nothing of the secret
	Hash      []byte // SHA-256
	CreatedAt time.Time
	// UsedAt is when a token was got with it; zero: never. It is noted once in ten minutes, so it
	// may have been used up to ten minutes later, and a token that was got with it another hour.
	UsedAt time.Time
}

// newSecret makes the value of a client secret or of a token: 43 characters of
// base64url.
func newSecret() string {
	var random [secretSize]byte
	rand.Read(random[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(random[:])
}

// newSecretID makes one that no earlier secret of the client had.
func newSecretID() string { return strings.ToLower(rand.Text()[:8]) }

// hashed is how a secret is stored. A fast hash is enough: there is nothing to
// guess in 256 random bits, and who chooses a secret is told what it has to be.
func hashed(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// proved is the ID of the client's secret that was given, if it is one.
func (c Client) proved(given string) (id string, ok bool) {
	hash, which := hashed(given), maxSecrets
	for i, stored := range c.compared() {
		which = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(stored, hash), i, which)
	}
	if which >= len(c.Secrets) {
		return "", false
	}
	return c.Secrets[which].ID, true
}

// compared are the digests that one is compared with. They are as many for a client with one secret, with
// two, or that does not exist, so that the time taken does not tell which ids exist; nothing hashes to those
// that are none.
func (c Client) compared() (digests [maxSecrets][]byte) {
	for i := range digests {
		digests[i] = make([]byte, sha256.Size)
		if i < len(c.Secrets) && len(c.Secrets[i].Hash) == sha256.Size {
			copy(digests[i], c.Secrets[i].Hash)
		}
	}
	return digests
}

// secret is the place of a secret among those of the client; -1: it has none of that ID.
func (c Client) secret(id string) int {
	return slices.IndexFunc(c.Secrets, func(s Secret) bool { return s.ID == id })
}
