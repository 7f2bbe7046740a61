package webhook

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// KeyError is the refusal of a text as a key. Nothing of the text is in it, which may be a secret.
type KeyError struct {
	Line    int    // of the text of [ParseKeys], from 1; 0: it is about all of the text
	Message string // a sentence
}

func (e *KeyError) Error() string {
	if e.Line == 0 {
		return "webhook: key: " + e.Message
	}
	return fmt.Sprintf("webhook: key in line %d: %s", e.Line, e.Message)
}

// ParseKey reads a key in one of the forms in which they are handed out:
//
//	64 hexadecimal characters    v1, as the creation of a subscription answers (spec 5.1)
//	whsec_ and Base64            v1, as Standard Webhooks has it: 24 to 64 bytes
//	ssh-ed25519 Base64 comment   v1a, a line of OpenSSH's (RFC 8709), as the service publishes it
//	whpk_ and Base64             v1a, as Standard Webhooks has it: 32 bytes
//
// What could be read in two ways is refused: [*KeyError]. White space around the key does not count.
func ParseKey(text string) (Key, error) {
	key, fault := parseKey(strings.TrimSpace(text))
	if fault != "" {
		return Key{}, &KeyError{Message: fault}
	}
	return key, nil
}

// ParseKeys reads the keys in a text of one on each line, such as the service publishes its public
// keys in. Lines that are empty or begin with # do not count. At least one key and at most 100:
// [*KeyError].
func ParseKeys(text string) ([]Key, error) {
	var keys []Key
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, fault := parseKey(line)
		if fault == "" && len(keys) == maxKeys {
			fault = fmt.Sprintf("There are more than %d keys.", maxKeys)
		}
		if fault != "" {
			return nil, &KeyError{number, fault}
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, &KeyError{Message: "There is none in the text."}
	}
	return keys, nil
}

const (
	maxKeys = 100
	hexLen  = 2 * SecretSize
)

// parseKey reads a key, or says in a sentence why it is none.
func parseKey(text string) (key Key, fault string) {
	kind, rest, _ := strings.Cut(text, "_")
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' }) // as OpenSSH separates fields
	switch {
	case text == "":
		return Key{}, "It is empty."
	case strings.HasPrefix(text, "-----BEGIN"):
		return Key{}, "It is PEM. A public key is wanted in OpenSSH's form, a line that begins with ssh-ed25519."
	case strings.ContainsAny(text, "\r\n"):
		return Key{}, "There are several lines, and one key is wanted."
	case kind == "whsec":
		return secretKey(rest)
	case kind == "whpk":
		return publicKey(rest)
	case kind == "whsk":
		return Key{}, "It is a private key (whsk_), which only the sender has. Receivers have whpk_ or an ssh-ed25519 line."
	case words[0] == ssh.KeyAlgoED25519 && len(words) > 1:
		return openSSHKey(words[1])
	case slices.ContainsFunc(words, isTypeOfSSH):
		return Key{}, "It is an SSH key of another type than ssh-ed25519, or has options before it."
	}
	return bareKey(text)
}

// bareKey reads what says nothing of its form. The hexadecimal characters of a secret are Base64
// as well, of 48 bytes, but nobody draws 48 random bytes and gets only those.
func bareKey(text string) (Key, string) {
	if isHex(text) {
		secret, err := hex.DecodeString(text)
		if err != nil || len(secret) != SecretSize {
			return Key{}, fmt.Sprintf("A secret has %d hexadecimal characters, and here are %d.", hexLen, len(text))
		}
		return Secret(secret), ""
	}
	if _, ok := decodeBase64(text); ok {
		return Key{}, "Base64 alone does not say of which scheme it is: put whsec_ before a secret, or whpk_ before a public key."
	}
	return Key{}, fmt.Sprintf("It is none of %d hexadecimal characters, whsec_ and Base64, an ssh-ed25519 line, and whpk_ and Base64.", hexLen)
}

func secretKey(text string) (Key, string) {
	if isHex(text) && len(text) == hexLen {
		return Key{}, fmt.Sprintf("whsec_ goes before Base64, and here are the %d hexadecimal characters of a secret: leave whsec_ away.", hexLen)
	}
	secret, ok := decodeBase64(text)
	if !ok {
		return Key{}, "What follows whsec_ is not Base64 with its padding."
	}
	if len(secret) < minSecret || len(secret) > maxSecret {
		return Key{}, fmt.Sprintf("A secret has %d to %d bytes, and this one has %d.", minSecret, maxSecret, len(secret))
	}
	return Secret(secret), ""
}

func publicKey(text string) (Key, string) {
	public, ok := decodeBase64(text)
	if !ok {
		return Key{}, "What follows whpk_ is not Base64 with its padding."
	}
	if len(public) != ed25519.PublicKeySize {
		return Key{}, fmt.Sprintf("A public key has %d bytes, and this one has %d.", ed25519.PublicKeySize, len(public))
	}
	return strongKey(public)
}

func openSSHKey(text string) (Key, string) {
	wire, ok := decodeBase64(text)
	parsed, err := ssh.ParsePublicKey(wire)
	if !ok || err != nil || parsed.Type() != ssh.KeyAlgoED25519 {
		return Key{}, "What follows ssh-ed25519 is not the Base64 of an Ed25519 key (RFC 8709)."
	}
	return strongKey(parsed.(ssh.CryptoPublicKey).CryptoPublicKey().(ed25519.PublicKey))
}

func strongKey(public ed25519.PublicKey) (Key, string) {
	if weak(public) {
		return Key{}, "It is a public key that anybody can make signatures for."
	}
	return PublicKey(public), ""
}

// isTypeOfSSH says whether a word is a type of key of SSH's.
func isTypeOfSSH(word string) bool {
	return slices.ContainsFunc([]string{"ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"},
		func(start string) bool { return strings.HasPrefix(word, start) })
}

func isHex(text string) bool { return strings.Trim(text, "0123456789abcdefABCDEF") == "" }

// decodeBase64 reads RFC 4648 section 4 as it is written in only one way: with padding, without
// line ends, and with no bits left over.
func decodeBase64(text string) ([]byte, bool) {
	decoded, err := base64.StdEncoding.DecodeString(text)
	return decoded, err == nil && base64.StdEncoding.EncodeToString(decoded) == text
}
