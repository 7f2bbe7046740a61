// Package sealed encrypts secrets before they are stored: without the master key, which is stored elsewhere, the
// secrets in a backend, its files and its backups are of no use.
//
//	keys, err := sealed.ReadFile("innsigli.key")
//	users := sealed.Sandbox(db.Sandbox(), keys)
//	requests := sealed.Requests(db.Requests(), keys)
//	hooks := sealed.Webhooks(db.Webhooks(), keys)
//	processes := sealed.Processes(db.Processes(), keys)
//	visits := sealed.Pages(db.Pages(), keys)
//
// The stores seal the keys of sandbox users, the sandbox's authority, the secret part of conversations with
// identity providers, the certificates of signers that are stored for their next signature, the secrets of webhook
// subscriptions, the keys that sign webhooks, the tokens of links that participants have not logged in with yet,
// and the records of the signing page. Access tokens and client secrets need no key: only their hashes are stored.
//
// # Format
//
// A sealed value is encrypted by AES-256 in GCM (NIST SP 800-38D) with a random nonce of 96 bits:
//
//	magic     "innsealed"
//	version   1 byte, 1
//	key       8 bytes, the first of SHA-256("innsigli master key" 0x00 key)
//	nonce     12 bytes
//	sealed    as long as the secret, and a tag of 16 bytes
//
// The additional authenticated data are the first three fields, the kind of the secret and the ID of its record, so
// that a value that was copied to another record does not open. One key must not seal more than 2^32 values (SP
// 800-38D 8.3); key rotation happens long before.
//
// A value that does not begin with the magic was stored before this package existed. It is returned as it is, and
// sealed at the next write; [Reseal], [ResealCertificates], [ResealWebhooks] and [ResealProcesses] do that when a
// server starts. Therefore sealing protects secrets from those who can read the store, but not from those who can
// write to it, since they can store a value that is not sealed.
package sealed

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
)

var (
	// ErrKey: the secret was sealed with a key that is not among the Keys.
	ErrKey = errors.New("sealed: a secret in the store was encrypted with another master key: add that key to the file of --master-key-file")
	// ErrDamaged: the sealed value was changed, or copied from another record.
	ErrDamaged = errors.New("sealed: a secret in the store is damaged, or belongs to another record")
)

const (
	magic    = "innsealed"
	version  = 1
	keyIDLen = 8
	header   = len(magic) + 1 + keyIDLen
)

// Keys are a server's master keys. The first one seals, all of them open. They may be used by several goroutines.
type Keys struct{ all []key }

type key struct {
	header []byte // of the values that it seals: magic, version, key ID
	aead   cipher.AEAD
	secret []byte
}

// newKey returns the key with the given 32 bytes.
func newKey(secret []byte) (key, error) {
	block, err := aes.NewCipher(secret)
	if err != nil {
		return key{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return key{}, err
	}
	id := sha256.Sum256(append([]byte("innsigli master key\x00"), secret...))
	return key{slices.Concat([]byte(magic), []byte{version}, id[:keyIDLen]), aead, secret}, nil
}

// Derive derives a secret of 32 bytes from the first key and a purpose (HKDF, RFC 5869). It is the same on all
// servers that have the same first key, and does not reveal the key.
func (k *Keys) Derive(purpose string) []byte {
	derived, err := hkdf.Key(sha256.New, k.all[0].secret, nil, purpose, sha256.Size)
	if err != nil {
		panic(err) // only for a length that is too large
	}
	return derived
}

// kind is the kind of a secret. It must not contain a zero byte.
type kind string

// additionalData returns the additional authenticated data of a value.
func (k key) additionalData(of kind, id string) []byte {
	return append(bytes.Clone(k.header), string(of)+"\x00"+id...)
}

// seal seals a secret of the record with the given ID. An empty secret stays empty.
func (k *Keys) seal(of kind, id string, secret []byte) []byte {
	if len(secret) == 0 {
		return secret
	}
	first := k.all[0]
	return first.aead.Seal(bytes.Clone(first.header), nil, secret, first.additionalData(of, id))
}

// open opens a value that seal returned. Errors: [ErrKey], [ErrDamaged].
func (k *Keys) open(of kind, id string, value []byte) ([]byte, error) {
	if !Is(value) {
		return value, nil
	}
	if len(value) < header || value[len(magic)] != version {
		return nil, recordError(ErrDamaged, of, id)
	}
	for _, key := range k.all {
		if !bytes.HasPrefix(value, key.header) {
			continue
		}
		secret, err := key.aead.Open(nil, nil, value[header:], key.additionalData(of, id))
		if err != nil {
			return nil, recordError(ErrDamaged, of, id)
		}
		return secret, nil
	}
	return nil, recordError(ErrKey, of, id)
}

// recordError adds the kind and the ID of the record to an error.
func recordError(err error, of kind, id string) error {
	if id == "" {
		return fmt.Errorf("%w (%s)", err, of)
	}
	return fmt.Errorf("%w (%s %s)", err, of, id)
}

// Is reports whether a value is sealed.
func Is(value []byte) bool { return bytes.HasPrefix(value, []byte(magic)) }

// isCurrent reports whether a value is empty or sealed with the first key.
func (k *Keys) isCurrent(value []byte) bool {
	return len(value) == 0 || bytes.HasPrefix(value, k.all[0].header)
}
