package delivery

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/innsigli/innsigli/storage"
)

const (
	// keyCacheTime is how long keys are used before they are read again. For that time, a server may not know the
	// new key of another one.
	keyCacheTime = 10 * time.Second
	// keyStaleTime is how long keys are used while they cannot be read again.
	keyStaleTime = time.Minute
	// keyRetryInterval is the pause after a failed reading.
	keyRetryInterval = time.Second
)

var errNoKey = errors.New("webhook: there is no v1a key; EnsureKey creates the first")

// keyring caches the keys of v1a.
type keyring struct {
	mu       sync.Mutex
	read     time.Time // when the keys were read
	next     time.Time // when to read them again
	keys     []SigningKey
	expanded map[string]ed25519.PrivateKey // by seed, because deriving one takes as long as signing
}

// toPrivateKey returns the private key of a seed.
func (r *keyring) toPrivateKey(seed []byte) ed25519.PrivateKey {
	r.mu.Lock()
	defer r.mu.Unlock()
	key, ok := r.expanded[string(seed)]
	if !ok {
		key = ed25519.NewKeyFromSeed(seed)
		r.expanded[string(seed)] = key
	}
	return key
}

// get returns the cached keys, or reads them. Concurrent callers wait for the reading.
func (r *keyring) get(now time.Time, read func() ([]SigningKey, error)) ([]SigningKey, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Before(r.next) {
		return r.keys, nil
	}
	keys, err := read()
	switch {
	case err == nil:
		r.keys, r.read, r.next = keys, now, now.Add(keyCacheTime)
		r.expanded = make(map[string]ed25519.PrivateKey) // without the keys that have ended
	case r.keys != nil && now.Sub(r.read) < keyStaleTime:
		r.next = now.Add(keyRetryInterval)
	default:
		return nil, err
	}
	return r.keys, nil
}

// invalidate makes the next get read the keys.
func (r *keyring) invalidate() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = time.Time{}
}

// Keys returns the keys of v1a that sign now, the oldest first. There is at least one.
func (s *Service) Keys(ctx context.Context) ([]SigningKey, error) {
	now := s.now(ctx)
	known, err := s.keys.get(now, func() ([]SigningKey, error) { return s.store.Keys(ctx) })
	if err != nil {
		return nil, fault("reading keys", err)
	}
	var live []SigningKey
	for _, k := range known {
		if !k.hasEnded(now) {
			live = append(live, k)
		}
	}
	if live == nil {
		return nil, errNoKey
	}
	return live, nil
}

// PublicKeys returns the public keys that sign now in OpenSSH's format, one per line, the newest last (spec 5.5).
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

// PublicLine returns the public key in OpenSSH's format, with its number in the comment. It returns an error if
// Public is not a key.
func (k SigningKey) PublicLine() (string, error) {
	public, err := ssh.NewPublicKey(ed25519.PublicKey(k.Public))
	if err != nil {
		return "", fmt.Errorf("webhook: key %d: %w", k.Number, err)
	}
	return fmt.Sprintf("%s innsigli-webhook-%d", bytes.TrimSpace(ssh.MarshalAuthorizedKey(public)), k.Number), nil
}

// maxRotateAttempts is how often RotateKey tries again after a conflict with another server.
const maxRotateAttempts = 5

// EnsureKey creates the first key of v1a if there is none. A server calls it before it serves.
func (s *Service) EnsureKey(ctx context.Context) error {
	keys, err := s.store.Keys(ctx)
	if err != nil {
		return fault("reading keys", err)
	}
	if len(keys) > 0 {
		return nil
	}
	err = s.tx.InTx(ctx, func(ctx context.Context) error { return s.store.CreateKey(ctx, newKey(1, s.now(ctx))) })
	if err != nil && !errors.Is(err, storage.ErrExists) { // another server created it
		return fault("creating the first key", err)
	}
	s.keys.invalidate()
	return nil
}

// RotateKey creates a key of v1a. The earlier keys sign beside it for the duration of overlap, so that receivers
// have time to get the new one. Other servers learn of it within 10 seconds, and sign with the earlier keys until
// then.
func (s *Service) RotateKey(ctx context.Context, overlap time.Duration) (SigningKey, error) {
	var made SigningKey
	var err error
	for range maxRotateAttempts {
		err = s.tx.InTx(ctx, func(ctx context.Context) (err error) {
			made, err = s.rotate(ctx, s.now(ctx), max(overlap, 0))
			return err
		})
		if !errors.Is(err, storage.ErrExists) {
			break
		}
	}
	if err != nil {
		return SigningKey{}, fault("rotating the key", err)
	}
	s.keys.invalidate()
	return made, nil
}

func (s *Service) rotate(ctx context.Context, now time.Time, overlap time.Duration) (SigningKey, error) {
	keys, err := s.store.Keys(ctx)
	if err != nil {
		return SigningKey{}, err
	}
	number, end := 1, now.Add(overlap)
	for _, k := range keys {
		number = k.Number + 1
		if k.hasEnded(end) {
			continue
		}
		k.EndsAt = end
		if err := s.store.UpdateKey(ctx, k); err != nil {
			return SigningKey{}, err
		}
	}
	made := newKey(number, now)
	return made, s.store.CreateKey(ctx, made)
}

func newKey(number int, now time.Time) SigningKey {
	seed := make([]byte, ed25519.SeedSize)
	rand.Read(seed)
	public := ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
	return SigningKey{Number: number, Public: public, Private: seed, CreatedAt: now}
}

// hasEnded reports whether the key does not sign at a time.
func (k SigningKey) hasEnded(at time.Time) bool { return !k.EndsAt.IsZero() && !k.EndsAt.After(at) }

// sweepKeys deletes the keys that have ended and returns their number.
func (s *Service) sweepKeys(ctx context.Context, now time.Time) (removed int, err error) {
	err = s.tx.InTx(ctx, func(ctx context.Context) error {
		removed = 0
		keys, err := s.store.Keys(ctx)
		for _, k := range keys {
			if !k.hasEnded(now) {
				continue
			}
			if err := s.store.DeleteKey(ctx, k.Number); err != nil && !errors.Is(err, storage.ErrNotFound) {
				return err
			}
			removed++
		}
		return err
	})
	if err != nil {
		return 0, fault("removing keys that have ended", err)
	}
	return removed, nil
}
