package delivery

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// rotations is how often a rotation is tried that another server's gets in the way of.
const rotations = 5

// EnsureKey makes the first key of v1a, unless there is one. A server calls it before it serves.
func (s *Service) EnsureKey(ctx context.Context) error {
	keys, err := s.store.Keys(ctx)
	if err != nil {
		return fault("reading keys", err)
	}
	if len(keys) > 0 {
		return nil
	}
	err = s.tx.InTx(ctx, func(ctx context.Context) error { return s.store.CreateKey(ctx, newKey(1, s.now(ctx))) })
	if err != nil && !errors.Is(err, storage.ErrExists) { // another server was first
		return fault("creating the first key", err)
	}
	s.keys.forget()
	return nil
}

// RotateKey makes a new key of v1a. The ones before it go on signing beside it for as long as
// overlap says, so that receivers have time to learn of the new one. Other servers learn of it
// within 10 seconds and go on as before until then.
func (s *Service) RotateKey(ctx context.Context, overlap time.Duration) (SigningKey, error) {
	var made SigningKey
	var err error
	for range rotations {
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
	s.keys.forget()
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
		if k.endsBefore(end) {
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

// endsBefore says whether the key does not sign any more at a time.
func (k SigningKey) endsBefore(at time.Time) bool { return !k.EndsAt.IsZero() && !k.EndsAt.After(at) }

// sweepKeys removes keys that have ended, and says how many.
func (s *Service) sweepKeys(ctx context.Context, now time.Time) (removed int, err error) {
	err = s.tx.InTx(ctx, func(ctx context.Context) error {
		removed = 0
		keys, err := s.store.Keys(ctx)
		for _, k := range keys {
			if !k.endsBefore(now) {
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
