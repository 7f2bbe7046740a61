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
// A value that does not begin with the magic is refused ([ErrPlain]): every version of this package stores sealed values
// only, so another program has stored it. Sealing therefore protects secrets also from those who can write to the store:
// they can neither read a secret nor store one of their choice. They can still delete records, put back an earlier sealed
// value of the same record, and change what is not secret, such as the URL of a webhook.
//
// [Reseal], [ResealCertificates], [ResealWebhooks] and [ResealProcesses] seal with the first key what another key has sealed,
// when a server starts.
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
	// ErrPlain: the value in the store is not sealed, or missing.
	ErrPlain = errors.New("sealed: a secret in the store is not encrypted, so another program has stored it: restore the record from a backup, or delete it")
)

const (
	magic    = "innsealed"
	version  = 1
	keyIDLen = 8
	header   = len(magic) + 1 + keyIDLen
)

// Keys are a server's master keys. The first one seals, all of them open. They may be used by several goroutines.
type Keys struct {
	all    []key
	report func(error) // nil: nothing is reported
}

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

// WithReport returns the same keys. Stores with them call report with the error of each secret that does not open, also
// where they return no error. report may be called by several goroutines.
func (k *Keys) WithReport(report func(error)) *Keys { return &Keys{k.all, report} }

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

// seal seals a secret of the record with the given ID. An empty secret stays empty where records may have none.
func (k *Keys) seal(of kind, id string, secret []byte) []byte {
	if len(secret) == 0 && of.mayBeEmpty() {
		return secret
	}
	first := k.all[0]
	return first.aead.Seal(bytes.Clone(first.header), nil, secret, first.additionalData(of, id))
}

// mayBeEmpty reports whether some records have no secret of this kind.
func (of kind) mayBeEmpty() bool { return of == stateSecret || of == linkToken }

// open opens a value that seal returned, and reports it if it does not open. Errors: [ErrKey], [ErrDamaged], [ErrPlain].
func (k *Keys) open(of kind, id string, value []byte) ([]byte, error) {
	secret, err := k.openValue(of, id, value)
	if err == nil {
		return secret, nil
	}
	err = recordError(err, of, id)
	if k.report != nil {
		k.report(err)
	}
	return nil, err
}

func (k *Keys) openValue(of kind, id string, value []byte) ([]byte, error) {
	switch {
	case len(value) == 0 && of.mayBeEmpty():
		return value, nil
	case !Is(value):
		return nil, ErrPlain
	case len(value) < header || value[len(magic)] != version:
		return nil, ErrDamaged
	}
	for _, key := range k.all {
		if !bytes.HasPrefix(value, key.header) {
			continue
		}
		secret, err := key.aead.Open(nil, nil, value[header:], key.additionalData(of, id))
		if err != nil {
			return nil, ErrDamaged
		}
		return secret, nil
	}
	return nil, ErrKey
}

// idLen is how much of an ID errors have that is a digest of a person or of a cookie.
const idLen = 8

// recordError adds the kind and the ID of the record to an error.
func recordError(err error, of kind, id string) error {
	if of == certificate || of == pageRecord {
		id = id[:min(len(id), idLen)]
	}
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
