package portal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/storage"
)

const (
	// defaultKeepKeys is spec 1.8.
	defaultKeepKeys = 24 * time.Hour
	// reservedFor is how long a key waits for whoever makes a process with it and is not heard
	// of. Who lives renews it.
	reservedFor = 10 * time.Second
)

// reserve reserves the client's key of a draft for this call. made is the process that was made with it before, or
// empty. [ErrKeyReused], [ErrKeyInUse].
func (s *Service) reserve(ctx context.Context, d Draft) (reserved Key, made string, err error) {
	client, with := d.Client, *d.Key
	err = storage.InTx(ctx, s.tx, func(ctx context.Context) error {
		now := s.now(ctx)
		made = ""
		reserved = Key{Client: client, Value: with.Value, Fingerprint: with.Fingerprint, CreatedAt: now, Until: now.Add(reservedFor)}
		was, err := s.store.Key(ctx, client, with.Value)
		switch {
		case errors.Is(err, storage.ErrNotFound):
			if err := s.store.CreateKey(ctx, reserved); err != nil {
				return err
			}
			_, err := s.accounts.Terms(ctx, d.Account) // an account that is being deleted gets no new key
			return err
		case err != nil:
			return err
		case s.forgotten(was, now):
			return s.store.UpdateKey(ctx, reserved)
		case was.Fingerprint != with.Fingerprint:
			return ErrKeyReused
		case was.Process != "":
			made = was.Process
			return nil
		case was.held(now):
			return ErrKeyInUse
		}
		return s.store.UpdateKey(ctx, reserved)
	})
	switch {
	case errors.Is(err, storage.ErrExists): // another server took it at the same moment
		err = ErrKeyInUse
	case err != nil:
		err = fmt.Errorf("portal: reserving the idempotency key: %w", err)
	}
	return reserved, made, err
}

// forgotten says whether a key means nothing any more.
func (s *Service) forgotten(k Key, now time.Time) bool {
	return now.Sub(k.CreatedAt) >= s.options.KeepKeys
}

// held says whether somebody is making a process with the key. One that is held until long from now is
// that of a clock that was wrong.
func (k *Key) held(now time.Time) bool {
	return k.Process == "" && now.Before(k.Until) && k.Until.Sub(now) <= 2*reservedFor
}

// hold renews a reservation until stop is called. One that cannot be renewed may be another's by the
// time it is used, which is noticed then.
func (s *Service) hold(ctx context.Context, reserved Key) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(reservedFor / 3)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				_ = s.changeKey(ctx, reserved, func(k *Key) { k.Until = s.now(ctx).Add(reservedFor) })
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// use notes which process a key has made, unless somebody else has taken it over: [ErrKeyInUse]. It
// joins the transaction.
func (s *Service) use(ctx context.Context, reserved *Key, process string) error {
	if reserved == nil {
		return nil
	}
	return s.changeKey(ctx, *reserved, func(k *Key) { k.Process = process })
}

// changeKey changes a key that is reserved still.
func (s *Service) changeKey(ctx context.Context, reserved Key, f func(*Key)) error {
	return storage.InTx(ctx, s.tx, func(ctx context.Context) error {
		k, err := s.store.Key(ctx, reserved.Client, reserved.Value)
		if errors.Is(err, storage.ErrNotFound) || err == nil && !k.is(reserved) {
			return ErrKeyInUse
		}
		if err == nil {
			f(&k)
			err = s.store.UpdateKey(ctx, k)
		}
		if err != nil {
			return fmt.Errorf("portal: storing the idempotency key: %w", err)
		}
		return nil
	})
}

// is says whether the key is still as it was reserved: who takes it over writes another time.
func (k *Key) is(reserved Key) bool { return k.Process == "" && k.CreatedAt.Equal(reserved.CreatedAt) }

// release gives a key back with which no process was made. One that cannot be given back runs out.
func (s *Service) release(ctx context.Context, reserved Key) {
	_ = storage.InTx(context.WithoutCancel(ctx), s.tx, func(ctx context.Context) error {
		k, err := s.store.Key(ctx, reserved.Client, reserved.Value)
		if err != nil || !k.is(reserved) {
			return err
		}
		return s.store.DeleteKey(ctx, k.Client, k.Value)
	})
}
