package webhook

import (
	"crypto/ed25519"
	"crypto/hmac"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Scheme is a signature scheme (spec 5.5).
type Scheme string

const (
	V1  Scheme = "v1"  // HMAC-SHA256
	V1a Scheme = "v1a" // Ed25519
)

// Key verifies signatures of one scheme. The zero Key verifies none. Package fmt and slog do not print the secret
// of a Key.
type Key struct {
	scheme Scheme
	// verifier returns the verifier of a content. The secret is in a closure because fmt does not call methods on
	// unexported fields of other packages' structs, and prints a function as an address.
	verifier func(content []byte) verifier
}

// verifier reports whether a signature is a valid one of the content that it was created for.
type verifier func(signature []byte) bool

// Secret returns the v1 key with the given secret of 24 to 64 bytes, which also signs. For a secret of any other
// length it returns the zero Key, so that a missing secret verifies nothing.
func Secret(secret []byte) Key {
	if len(secret) < minSecret || len(secret) > maxSecret {
		return Key{}
	}
	secret = slices.Clone(secret)
	return Key{V1, func(content []byte) verifier {
		expected := hmacSHA256(secret, content)
		return func(signature []byte) bool { return hmac.Equal(signature, expected) }
	}}
}

// The lengths of a secret that Standard Webhooks 1.0.0 permits, in bytes.
const minSecret, maxSecret = 24, 64

// PublicKey returns the v1a key with the given public key. For an invalid key, or a key for which signatures can be
// forged without the private key, it returns the zero Key.
func PublicKey(key ed25519.PublicKey) Key {
	if len(key) != ed25519.PublicKeySize || hasSmallOrder(key) {
		return Key{}
	}
	key = slices.Clone(key)
	return Key{V1a, func(content []byte) verifier {
		return func(signature []byte) bool { return ed25519.Verify(key, content, signature) }
	}}
}

// Scheme returns the scheme of the signatures that the key verifies; it is empty for the zero Key.
func (k Key) Scheme() Scheme { return k.scheme }

func (k Key) verifies() bool { return k.verifier != nil }

// String returns the scheme, without the key.
func (k Key) String() string {
	if !k.verifies() {
		return "no key"
	}
	return "key of " + string(k.scheme)
}

// Format implements [fmt.Formatter]. It prints String for every verb.
func (k Key) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, k.String()) }

// LogValue implements [slog.LogValuer]. It returns String.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// hasSmallOrder reports whether a public key is a point whose order is 8 or less. For such a key, the challenge of
// RFC 8032 5.1.7 step 2 matters only modulo that order, so anyone can find signatures that verify. The last bit is
// the sign of x, which makes no difference.
func hasSmallOrder(key ed25519.PublicKey) bool {
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

// KeyError is the error of ParseKey and ParseKeys. It does not contain the text, which may be a secret.
type KeyError struct {
	Line    int    // of the text of [ParseKeys], from 1; 0: the whole text
	Message string // a sentence
}

func (e *KeyError) Error() string {
	if e.Line == 0 {
		return "webhook: key: " + e.Message
	}
	return fmt.Sprintf("webhook: key in line %d: %s", e.Line, e.Message)
}

// ParseKey parses a key in one of the formats in which keys are distributed:
//
//	64 hexadecimal characters    v1, from the response that created the subscription (spec 5.1)
//	whsec_ and Base64            v1, Standard Webhooks: 24 to 64 bytes
//	ssh-ed25519 Base64 comment   v1a, an OpenSSH public key line (RFC 8709), as the service publishes it
//	whpk_ and Base64             v1a, Standard Webhooks: 32 bytes
//
// It ignores white space around the key and refuses ambiguous text. Error: [*KeyError].
func ParseKey(text string) (Key, error) {
	key, problem := parseKey(strings.TrimSpace(text))
	if problem != "" {
		return Key{}, &KeyError{Message: problem}
	}
	return key, nil
}

// ParseKeys parses a text with one key per line, such as the service's published public keys. It ignores empty lines
// and lines that begin with #. The text must have 1 to 100 keys. Error: [*KeyError].
func ParseKeys(text string) ([]Key, error) {
	var keys []Key
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, problem := parseKey(line)
		if problem == "" && len(keys) == maxKeys {
			problem = fmt.Sprintf("There are more than %d keys.", maxKeys)
		}
		if problem != "" {
			return nil, &KeyError{number, problem}
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, &KeyError{Message: "The text has no key."}
	}
	return keys, nil
}

const (
	maxKeys = 100
	hexLen  = 2 * SecretSize
)

// parseKey parses a key. If the text is not a key, problem is a sentence that states why.
func parseKey(text string) (key Key, problem string) {
	prefix, rest, _ := strings.Cut(text, "_")
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' }) // as OpenSSH separates fields
	switch {
	case text == "":
		return Key{}, "It is empty."
	case strings.HasPrefix(text, "-----BEGIN"):
		return Key{}, "It is PEM. Give a public key in OpenSSH's format, a line that begins with ssh-ed25519."
	case strings.ContainsAny(text, "\r\n"):
		return Key{}, "It has several lines. Give one key."
	case prefix == "whsec":
		return secretKey(rest)
	case prefix == "whpk":
		return publicKey(rest)
	case prefix == "whsk":
		return Key{}, "It is a private key (whsk_), which only the sender has. Receivers have whpk_ or an ssh-ed25519 line."
	case words[0] == ssh.KeyAlgoED25519 && len(words) > 1:
		return openSSHKey(words[1])
	case slices.ContainsFunc(words, isSSHKeyType):
		return Key{}, "It is an SSH key of another type than ssh-ed25519, or has options before it."
	}
	return unprefixedKey(text)
}

// unprefixedKey parses a key without a prefix. 64 hexadecimal characters are also the Base64 of 48 bytes, but the
// Base64 of 48 random bytes does not consist of hexadecimal characters only.
func unprefixedKey(text string) (Key, string) {
	if isHex(text) {
		secret, err := hex.DecodeString(text)
		if err != nil || len(secret) != SecretSize {
			return Key{}, fmt.Sprintf("A secret must have %d hexadecimal characters; this one has %d.", hexLen, len(text))
		}
		return Secret(secret), ""
	}
	if _, ok := decodeBase64(text); ok {
		return Key{}, "Base64 without a prefix is ambiguous: put whsec_ before a secret, or whpk_ before a public key."
	}
	return Key{}, fmt.Sprintf("It must be %d hexadecimal characters, whsec_ and Base64, an ssh-ed25519 line, or whpk_ and Base64.", hexLen)
}

func secretKey(text string) (Key, string) {
	if isHex(text) && len(text) == hexLen {
		return Key{}, fmt.Sprintf("whsec_ is for Base64, but this secret has %d hexadecimal characters: remove whsec_.", hexLen)
	}
	secret, ok := decodeBase64(text)
	if !ok {
		return Key{}, "The text after whsec_ must be Base64 with padding."
	}
	if len(secret) < minSecret || len(secret) > maxSecret {
		return Key{}, fmt.Sprintf("A secret must have %d to %d bytes; this one has %d.", minSecret, maxSecret, len(secret))
	}
	return Secret(secret), ""
}

func publicKey(text string) (Key, string) {
	public, ok := decodeBase64(text)
	if !ok {
		return Key{}, "The text after whpk_ must be Base64 with padding."
	}
	if len(public) != ed25519.PublicKeySize {
		return Key{}, fmt.Sprintf("A public key must have %d bytes; this one has %d.", ed25519.PublicKeySize, len(public))
	}
	return checkedPublicKey(public)
}

func openSSHKey(text string) (Key, string) {
	wire, ok := decodeBase64(text)
	parsed, err := ssh.ParsePublicKey(wire)
	if !ok || err != nil || parsed.Type() != ssh.KeyAlgoED25519 {
		return Key{}, "The text after ssh-ed25519 must be the Base64 of an Ed25519 key (RFC 8709)."
	}
	return checkedPublicKey(parsed.(ssh.CryptoPublicKey).CryptoPublicKey().(ed25519.PublicKey))
}

func checkedPublicKey(public ed25519.PublicKey) (Key, string) {
	if hasSmallOrder(public) {
		return Key{}, "It is a public key of small order, for which anyone can forge signatures."
	}
	return PublicKey(public), ""
}

// isSSHKeyType reports whether a word is the name of an SSH key type.
func isSSHKeyType(word string) bool {
	return slices.ContainsFunc([]string{"ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"},
		func(prefix string) bool { return strings.HasPrefix(word, prefix) })
}

func isHex(text string) bool { return strings.Trim(text, "0123456789abcdefABCDEF") == "" }

// decodeBase64 decodes canonical Base64 (RFC 4648 section 4): with padding, without line breaks, and with zero
// trailing bits.
func decodeBase64(text string) ([]byte, bool) {
	decoded, err := base64.StdEncoding.DecodeString(text)
	return decoded, err == nil && base64.StdEncoding.EncodeToString(decoded) == text
}
