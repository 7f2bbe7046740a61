package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/storage"
)

// Options of a [Service]; the zero value is right for most.
type Options struct {
	// Quota is the document storage of new accounts in bytes; 0 is
	// [DefaultQuota].
	Quota int64
	// Now tells the time; nil is the machine's clock.
	Now storage.Clock
}

// Service is the rules of accounts, clients and tokens over a [Store].
type Service struct {
	store Store
	tx    storage.Transactor
	quota int64
	clock storage.Clock
}

// New returns a service over a store and the transactions that it takes part in.
func New(store Store, tx storage.Transactor, opts Options) *Service {
	if opts.Quota <= 0 {
		opts.Quota = DefaultQuota
	}
	return &Service{store: store, tx: tx, quota: opts.Quota, clock: opts.Now}
}

// CreateAccount makes an account with no payment method. Its name is 1 to 256
// characters, else the error is [ErrInvalid].
func (s *Service) CreateAccount(ctx context.Context, name string) (Account, error) {
	if err := validName(name); err != nil {
		return Account{}, err
	}
	a := Account{ID: uuid.NewString(), Name: name, Quota: s.quota, CreatedAt: s.now(ctx)}
	err := s.tx.InTx(ctx, func(ctx context.Context) error {
		return s.store.AddAccount(ctx, a)
	})
	if err != nil {
		return Account{}, fmt.Errorf("account: creating an account: %w", err)
	}
	return a, nil
}

// EnsureAccount makes an account with the ID given, a UUID, unless it is there already; then
// it is returned as it is. Several servers may do so at once. Its name is 1 to 256
// characters, else the error is [ErrInvalid].
func (s *Service) EnsureAccount(ctx context.Context, id, name string, paymentMethod bool) (Account, error) {
	if err := errors.Join(validID(id), validName(name)); err != nil {
		return Account{}, err
	}
	fresh := Account{ID: id, Name: name, PaymentMethod: paymentMethod, Quota: s.quota, CreatedAt: s.now(ctx)}
	var a Account
	err := s.ensure(ctx, func(ctx context.Context) error {
		var err error
		if a, err = s.store.Account(ctx, id); !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		a = fresh
		return s.store.AddAccount(ctx, a)
	})
	if err != nil {
		return Account{}, fault("making the account", err)
	}
	return a, nil
}

// ensure runs a function that adds a record which it did not find. When another server has
// added it meanwhile, the function is run once more, and finds it.
func (s *Service) ensure(ctx context.Context, f func(ctx context.Context) error) error {
	err := s.tx.InTx(ctx, f)
	if errors.Is(err, storage.ErrExists) {
		err = s.tx.InTx(ctx, f)
	}
	return err
}

// Account returns the account of that ID, or [ErrNotFound].
func (s *Service) Account(ctx context.Context, id string) (Account, error) {
	a, err := s.store.Account(ctx, id)
	if err != nil {
		return Account{}, fault("reading the account", err)
	}
	return a, nil
}

// Accounts lists all accounts in the order of creation.
func (s *Service) Accounts(ctx context.Context) ([]Account, error) {
	list, err := s.store.Accounts(ctx)
	if err != nil {
		return nil, fault("listing accounts", err)
	}
	return list, nil
}

// SetPaymentMethod says whether the account has a payment method on file.
func (s *Service) SetPaymentMethod(ctx context.Context, id string, onFile bool) error {
	return s.change(ctx, id, func(a *Account) { a.PaymentMethod = onFile })
}

// SetQuota sets the account's document storage in bytes, 0 or more: what
// Account.Stored may come to before another document is refused. Documents already
// stored stay, also when they are more.
func (s *Service) SetQuota(ctx context.Context, id string, bytes int64) error {
	if bytes < 0 {
		return fmt.Errorf("%w: the quota is less than 0 bytes", ErrInvalid)
	}
	return s.change(ctx, id, func(a *Account) { a.Quota = bytes })
}

// SetAdmins says who is told of trouble: at most 20 different addresses for mail, without names;
// none is nobody. [ErrInvalid], [ErrNotFound].
func (s *Service) SetAdmins(ctx context.Context, id string, addresses []string) error {
	if err := validAddresses(addresses); err != nil {
		return err
	}
	return s.change(ctx, id, func(a *Account) { a.Admins = addresses })
}

func (s *Service) change(ctx context.Context, id string, set func(*Account)) error {
	err := s.tx.InTx(ctx, func(ctx context.Context) error {
		a, err := s.store.Account(ctx, id)
		if err != nil {
			return err
		}
		set(&a)
		return s.store.UpdateAccount(ctx, a)
	})
	return fault("changing the account", err)
}

// fault puts the store's error into this package's words.
func fault(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, storage.ErrNotFound):
		return ErrNotFound
	case errors.Is(err, ErrTwoSecrets), errors.Is(err, ErrLastSecret), errors.Is(err, ErrClosed):
		return err
	default:
		return fmt.Errorf("account: %s: %w", doing, err)
	}
}

func (s *Service) now(ctx context.Context) time.Time { return s.clock.Now(ctx) }
