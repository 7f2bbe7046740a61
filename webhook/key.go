package webhook

import (
	"crypto/ed25519"
	"crypto/hmac"
	"fmt"
	"io"
	"log/slog"
	"slices"
)

// Scheme says how a request is signed (spec 5.5).
type Scheme string

const (
	V1  Scheme = "v1"  // HMAC-SHA256
	V1a Scheme = "v1a" // Ed25519
)

// Key verifies signatures of one scheme. The zero Key verifies nothing. However a Key is printed,
// its secret does not show.
type Key struct {
	scheme Scheme
	// verifier begins the verification of what is signed. Where no method is called, as in a
	// field of another package's struct, fmt prints a function as an address.
	verifier func(content []byte) verifier
}

// verifier says whether a signature is one of what it was begun with.
type verifier func(signature []byte) bool

// Secret is the key of v1: the 24 to 64 bytes that sign too. Of any other length it is the
// zero Key, so that a secret that was not set lets nobody in.
func Secret(secret []byte) Key {
	if len(secret) < minSecret || len(secret) > maxSecret {
		return Key{}
	}
	secret = slices.Clone(secret)
	return Key{V1, func(content []byte) verifier {
		right := authenticate(secret, content)
		return func(signature []byte) bool { return hmac.Equal(signature, right) }
	}}
}

// The lengths that Standard Webhooks 1.0.0 allows, in bytes.
const minSecret, maxSecret = 24, 64

// PublicKey is the key of v1a. One that is no key, or one that signatures can be made for without
// a private key, is the zero Key.
func PublicKey(key ed25519.PublicKey) Key {
	if len(key) != ed25519.PublicKeySize || weak(key) {
		return Key{}
	}
	key = slices.Clone(key)
	return Key{V1a, func(content []byte) verifier {
		return func(signature []byte) bool { return ed25519.Verify(key, content, signature) }
	}}
}

// Scheme says which signatures the key verifies; empty: none.
func (k Key) Scheme() Scheme { return k.scheme }

func (k Key) verifies() bool { return k.verifier != nil }

// String names the scheme.
func (k Key) String() string {
	if !k.verifies() {
		return "no key"
	}
	return "key of " + string(k.scheme)
}

// Format prints what String says, whatever the verb.
func (k Key) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, k.String()) }

// LogValue is what String says.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }
