// Package sealed keeps secrets closed in the store: what a backend, its files and its
// backups hold of them is of no use without the master key, which is kept elsewhere.
//
//	keys, err := sealed.ReadFile("innsigli.key")
//	users := sealed.Sandbox(db.Sandbox(), keys)
//	requests := sealed.Requests(db.Requests(), keys)
//	hooks := sealed.Webhooks(db.Webhooks(), keys)
//	processes := sealed.Processes(db.Processes(), keys)
//	visits := sealed.Pages(db.Pages(), keys)
//
// Sealed are the keys of sandbox users, the sandbox's authority, the secret part of
// conversations with identity providers, the certificates of signers that are kept for the next
// time, the secrets of webhook subscriptions, the keys that sign webhooks, the tokens of the links
// that participants were not yet logged in with and what the signing page remembers of its visitors. Access tokens and client secrets need no key: they
// are stored as hashes alone.
//
// # What is stored
//
// A sealed value is AES-256 in GCM (NIST SP 800-38D) under a random nonce of 96 bits:
//
//	magic     "innsealed"
//	version   1 byte, 1
//	key       8 bytes, the first of SHA-256("innsigli master key" 0x00 key)
//	nonce     12 bytes
//	sealed    as long as the secret, and a tag of 16 bytes
//
// The first three, the kind of secret and the ID of its record are authenticated, so that a
// value that was moved to another record does not open. At most 2^32 values are to be
// sealed with one key (SP 800-38D 8.3), which rotation sees to long before.
//
// A value that does not begin with the magic was stored before there was sealing. It is
// read as it is, and sealed when it is written the next time; [Reseal], [ResealCertificates],
// [ResealWebhooks] and [ResealProcesses] do that at the start of a server. So sealing protects from
// who reads the store, not from who writes to it.
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
	// ErrKey: none of the keys is the one that the secret was sealed with.
	ErrKey = errors.New("sealed: a secret in the store was sealed with another master key: list that key in the file of --master-key-file as well")
	// ErrDamaged: the secret is not as it was sealed, or not in its place.
	ErrDamaged = errors.New("sealed: a secret in the store is damaged, or belongs to another record")
)

const (
	magic    = "innsealed"
	version  = 1
	keyIDLen = 8
	header   = len(magic) + 1 + keyIDLen
)

// Keys are a server's master keys. The first seals, all of them open. They may be used by
// several goroutines.
type Keys struct{ all []key }

type key struct {
	header []byte // of what it seals
	aead   cipher.AEAD
	secret []byte
}

// newKey makes a key of 32 bytes.
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

// Derive returns a secret of 32 bytes that follows from the first key and a purpose (HKDF, RFC 5869), and says nothing
// of the key. It is the same on all servers that have the same first key.
func (k *Keys) Derive(purpose string) []byte {
	derived, err := hkdf.Key(sha256.New, k.all[0].secret, nil, purpose, sha256.Size)
	if err != nil {
		panic(err) // the length is right
	}
	return derived
}

// kind is what a secret is. None has a zero byte in it.
type kind string

// bound is what a value is bound to.
func (k key) bound(of kind, id string) []byte {
	return append(bytes.Clone(k.header), string(of)+"\x00"+id...)
}

// seal seals a secret of the record id. An empty one stays empty: there is nothing to
// keep, and it is read as such.
func (k *Keys) seal(of kind, id string, secret []byte) []byte {
	if len(secret) == 0 {
		return secret
	}
	first := k.all[0]
	return first.aead.Seal(bytes.Clone(first.header), nil, secret, first.bound(of, id))
}

// open opens what seal sealed. [ErrKey], [ErrDamaged].
func (k *Keys) open(of kind, id string, value []byte) ([]byte, error) {
	if !Is(value) {
		return value, nil
	}
	if len(value) < header || value[len(magic)] != version {
		return nil, fault(ErrDamaged, of, id)
	}
	for _, key := range k.all {
		if !bytes.HasPrefix(value, key.header) {
			continue
		}
		secret, err := key.aead.Open(nil, nil, value[header:], key.bound(of, id))
		if err != nil {
			return nil, fault(ErrDamaged, of, id)
		}
		return secret, nil
	}
	return nil, fault(ErrKey, of, id)
}

// fault names the record, if its kind has more than one.
func fault(err error, of kind, id string) error {
	if id == "" {
		return fmt.Errorf("%w (%s)", err, of)
	}
	return fmt.Errorf("%w (%s %s)", err, of, id)
}

// Is says whether a value is sealed.
func Is(value []byte) bool { return bytes.HasPrefix(value, []byte(magic)) }

// current says whether a value is as the first key would seal it now.
func (k *Keys) current(value []byte) bool {
	return len(value) == 0 || bytes.HasPrefix(value, k.all[0].header)
}
