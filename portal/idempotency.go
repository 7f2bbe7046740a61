package portal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/storage"
)

const (
	// defaultKeyRetention is the retention of spec 1.8.
	defaultKeyRetention = 24 * time.Hour
	// reservation is how long a key is reserved for the call that creates the process. The call renews the reservation
	// while it runs, so a reservation ends soon after its server has died.
	reservation = 10 * time.Second
)

// reserveKey reserves the key of a draft, so that no other call creates a process with it. If a process was created with
// the key before, existing is its ID. [ErrKeyReused], [ErrKeyInUse]; the error of [Accounts] if the account is being
// deleted.
func (s *Service) reserveKey(ctx context.Context, d Draft) (reserved Key, existing string, err error) {
	client, with := d.Client, *d.Key
	err = storage.InTx(ctx, s.tx, func(ctx context.Context) error {
		now := s.now(ctx)
		existing = ""
		reserved = Key{Client: client, Value: with.Value, Fingerprint: with.Fingerprint, CreatedAt: now, Until: now.Add(reservation)}
		stored, err := s.store.Key(ctx, client, with.Value)
		switch {
		case errors.Is(err, storage.ErrNotFound):
			if err := s.store.CreateKey(ctx, reserved); err != nil {
				return err
			}
			_, err := s.accounts.Terms(ctx, d.Account) // an account that is being deleted gets no new key
			return err
		case err != nil:
			return err
		case now.Sub(stored.CreatedAt) >= s.options.KeyRetention:
			return s.store.UpdateKey(ctx, reserved)
		case stored.Fingerprint != with.Fingerprint:
			return ErrKeyReused
		case stored.Process != "":
			existing = stored.Process
			return nil
		case stored.isReserved(now):
			return ErrKeyInUse
		}
		return s.store.UpdateKey(ctx, reserved)
	})
	switch {
	case errors.Is(err, storage.ErrExists): // another server created it at the same moment
		err = ErrKeyInUse
	case err != nil:
		err = fmt.Errorf("portal: reserving the idempotency key: %w", err)
	}
	return reserved, existing, err
}

// isReserved reports whether a call is creating a process with the key. A reservation that ends far in the future was
// made by a wrong clock and does not count.
func (k *Key) isReserved(now time.Time) bool {
	return k.Process == "" && now.Before(k.Until) && k.Until.Sub(now) <= 2*reservation
}

// renewKey renews a reservation until stop is called. If it cannot be renewed, another call may reserve the key. Then
// useKey returns an error.
func (s *Service) renewKey(ctx context.Context, reserved Key) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(reservation / 3)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				_ = s.changeKey(ctx, reserved, func(k *Key) { k.Until = s.now(ctx).Add(reservation) })
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// useKey stores the process that was created with a key. It joins the transaction of its context. [ErrKeyInUse] if
// another call has reserved the key since.
func (s *Service) useKey(ctx context.Context, reserved *Key, process string) error {
	if reserved == nil {
		return nil
	}
	return s.changeKey(ctx, *reserved, func(k *Key) { k.Process = process })
}

// changeKey changes a reserved key. [ErrKeyInUse] if another call has reserved it since.
func (s *Service) changeKey(ctx context.Context, reserved Key, change func(*Key)) error {
	return storage.InTx(ctx, s.tx, func(ctx context.Context) error {
		k, err := s.store.Key(ctx, reserved.Client, reserved.Value)
		if errors.Is(err, storage.ErrNotFound) || err == nil && !k.isSameReservation(reserved) {
			return ErrKeyInUse
		}
		if err == nil {
			change(&k)
			err = s.store.UpdateKey(ctx, k)
		}
		if err != nil {
			return fmt.Errorf("portal: storing the idempotency key: %w", err)
		}
		return nil
	})
}

// isSameReservation reports whether the key is still reserved by the same call. Another call would have changed its
// CreatedAt.
func (k *Key) isSameReservation(reserved Key) bool {
	return k.Process == "" && k.CreatedAt.Equal(reserved.CreatedAt)
}

// releaseKey deletes a reserved key with which no process was created. If it cannot, the reservation ends by itself.
func (s *Service) releaseKey(ctx context.Context, reserved Key) {
	_ = storage.InTx(context.WithoutCancel(ctx), s.tx, func(ctx context.Context) error {
		k, err := s.store.Key(ctx, reserved.Client, reserved.Value)
		if err != nil || !k.isSameReservation(reserved) {
			return err
		}
		return s.store.DeleteKey(ctx, k.Client, k.Value)
	})
}
