package delivery

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

const (
	// keysFresh is how long keys are used before they are read again: as long, another server
	// may not know of a new one.
	keysFresh = 10 * time.Second
	// keysUsable is how long they are used while they cannot be read again.
	keysUsable = time.Minute
	// keysAgain is the pause between readings that fail.
	keysAgain = time.Second
)

var errNoKey = errors.New("webhook: there is no key of v1a; EnsureKey makes the first")

// keyring are the keys of v1a as they were read last.
type keyring struct {
	mu   sync.Mutex
	read time.Time // when keys were read
	next time.Time // when they are read again
	keys []SigningKey
	made map[string]ed25519.PrivateKey // of their seeds, which takes as long as signing does
}

// private is the private key of a seed.
func (r *keyring) private(seed []byte) ed25519.PrivateKey {
	r.mu.Lock()
	defer r.mu.Unlock()
	key, ok := r.made[string(seed)]
	if !ok {
		key = ed25519.NewKeyFromSeed(seed)
		r.made[string(seed)] = key
	}
	return key
}

// at returns the keys as they are known. Others wait while one reads.
func (r *keyring) at(now time.Time, read func() ([]SigningKey, error)) ([]SigningKey, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Before(r.next) {
		return r.keys, nil
	}
	keys, err := read()
	switch {
	case err == nil:
		r.keys, r.read, r.next = keys, now, now.Add(keysFresh)
		r.made = make(map[string]ed25519.PrivateKey) // and those that have ended are forgotten
	case r.keys != nil && now.Sub(r.read) < keysUsable:
		r.next = now.Add(keysAgain)
	default:
		return nil, err
	}
	return r.keys, nil
}

// forget has keys read again when they are next asked for.
func (r *keyring) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = time.Time{}
}

// Keys are the keys of v1a that sign now, the oldest first; there is at least one.
func (s *Service) Keys(ctx context.Context) ([]SigningKey, error) {
	now := s.now(ctx)
	known, err := s.keys.at(now, func() ([]SigningKey, error) { return s.store.Keys(ctx) })
	if err != nil {
		return nil, fault("reading keys", err)
	}
	var live []SigningKey
	for _, k := range known {
		if !k.endsBefore(now) {
			live = append(live, k)
		}
	}
	if live == nil {
		return nil, errNoKey
	}
	return live, nil
}

// PublicKeys are the public keys of those that sign now, in OpenSSH's format, one on a line, the
// newest last (spec 5.5).
func (s *Service) PublicKeys(ctx context.Context) ([]byte, error) {
	keys, err := s.Keys(ctx)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	for _, k := range keys {
		line, err := k.PublicLine()
		if err != nil {
			return nil, err
		}
		text.WriteString(line + "\n")
	}
	return text.Bytes(), nil
}

// PublicLine is the public key in OpenSSH's format, with a comment that has its number. An error
// says that Public is no key.
func (k SigningKey) PublicLine() (string, error) {
	public, err := ssh.NewPublicKey(ed25519.PublicKey(k.Public))
	if err != nil {
		return "", fmt.Errorf("webhook: key %d: %w", k.Number, err)
	}
	return fmt.Sprintf("%s innsigli-webhook-%d", bytes.TrimSpace(ssh.MarshalAuthorizedKey(public)), k.Number), nil
}
