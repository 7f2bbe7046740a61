package account

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/pades/inspect"
	"github.com/innsigli/innsigli/storage"
)

// Options configure a [Service]; the zero value is valid.
type Options struct {
	// Quota is the document storage of new accounts in bytes; 0 is [DefaultQuota].
	Quota int64
	// Now returns the time; nil is the machine's clock.
	Now storage.Clock
}

// Service implements the rules of accounts, clients, tokens and the ledger on top of a [Store].
type Service struct {
	store Store
	tx    storage.Transactor
	quota int64
	clock storage.Clock
}

// New returns a service that keeps its records in store and writes them in transactions of tx.
func New(store Store, tx storage.Transactor, opts Options) *Service {
	if opts.Quota <= 0 {
		opts.Quota = DefaultQuota
	}
	return &Service{store: store, tx: tx, quota: opts.Quota, clock: opts.Now}
}

// CreateAccount creates an account without a payment method. The name must have 1 to 256 characters, else
// the error is [ErrInvalid].
func (s *Service) CreateAccount(ctx context.Context, name string) (Account, error) {
	if err := validName(name); err != nil {
		return Account{}, err
	}
	a := Account{ID: uuid.NewString(), Name: name, Quota: s.quota, CreatedAt: s.now(ctx)}
	err := s.tx.InTx(ctx, func(ctx context.Context) error {
		return s.store.AddAccount(ctx, a)
	})
	if err != nil {
		return Account{}, fmt.Errorf("account: creating the account: %w", err)
	}
	return a, nil
}

// EnsureAccount creates an account with the given ID, a UUID, or returns the account that has this ID
// unchanged. Several servers may call it at the same time. The name must have 1 to 256 characters, else the
// error is [ErrInvalid].
func (s *Service) EnsureAccount(ctx context.Context, id, name string, paymentMethod bool) (Account, error) {
	if err := errors.Join(validID(id), validName(name)); err != nil {
		return Account{}, err
	}
	created := Account{ID: id, Name: name, PaymentMethod: paymentMethod, Quota: s.quota, CreatedAt: s.now(ctx)}
	var a Account
	err := s.createOnce(ctx, func(ctx context.Context) error {
		var err error
		if a, err = s.store.Account(ctx, id); !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		a = created
		return s.store.AddAccount(ctx, a)
	})
	if err != nil {
		return Account{}, storeError("creating the account", err)
	}
	return a, nil
}

// createOnce runs f in a transaction; f adds a record if it does not find one. If another server added the
// record at the same time, createOnce runs f again, which then finds it.
func (s *Service) createOnce(ctx context.Context, f func(ctx context.Context) error) error {
	err := s.tx.InTx(ctx, f)
	if errors.Is(err, storage.ErrExists) {
		err = s.tx.InTx(ctx, f)
	}
	return err
}

// Account returns the account with the given ID, or [ErrNotFound].
func (s *Service) Account(ctx context.Context, id string) (Account, error) {
	a, err := s.store.Account(ctx, id)
	if err != nil {
		return Account{}, storeError("reading the account", err)
	}
	return a, nil
}

// Accounts returns all accounts in the order of their creation.
func (s *Service) Accounts(ctx context.Context) ([]Account, error) {
	list, err := s.store.Accounts(ctx)
	if err != nil {
		return nil, storeError("listing accounts", err)
	}
	return list, nil
}

// CheckOpen returns [ErrClosed] if the account is being deleted, and [ErrNotFound] if it does not exist. In a
// transaction, an account that is open is not closed until the transaction ends: whatever adds a record to an account
// calls CheckOpen in the same transaction. Such transactions do not wait for one another, and must not change the account
// itself.
func (s *Service) CheckOpen(ctx context.Context, id string) error {
	return storeError("reading the account", s.checkOpen(ctx, id))
}

func (s *Service) checkOpen(ctx context.Context, id string) error {
	_, err := ifOpen(s.store.ShareAccount(ctx, id))
	return err
}

// openAccount returns an account that is not being deleted, in a transaction that may change it.
func (s *Service) openAccount(ctx context.Context, id string) (Account, error) {
	return ifOpen(s.store.Account(ctx, id))
}

func ifOpen(a Account, err error) (Account, error) {
	if err == nil && !a.ClosedAt.IsZero() {
		err = ErrClosed
	}
	return a, err
}

// SetPaymentMethod records whether the account has a payment method. Errors: [ErrNotFound], [ErrClosed].
func (s *Service) SetPaymentMethod(ctx context.Context, id string, onFile bool) error {
	return s.set(ctx, id, func(a *Account) { a.PaymentMethod = onFile })
}

// SetQuota sets the account's document storage in bytes, 0 or more. A document that would take
// Account.Stored above the quota is refused; documents that are stored already stay. Errors: [ErrInvalid],
// [ErrNotFound], [ErrClosed].
func (s *Service) SetQuota(ctx context.Context, id string, bytes int64) error {
	if bytes < 0 {
		return fmt.Errorf("%w: the quota must be 0 bytes or more", ErrInvalid)
	}
	return s.set(ctx, id, func(a *Account) { a.Quota = bytes })
}

// SetDocuments sets what becomes of the account's documents with warnings, from now on. Errors: [ErrInvalid],
// [ErrNotFound], [ErrClosed].
func (s *Service) SetDocuments(ctx context.Context, id string, policy inspect.Policy) error {
	if err := policy.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return s.set(ctx, id, func(a *Account) { a.Documents = policy })
}

// DocumentPolicy returns what becomes of the account's documents with warnings. In a transaction it does not change until the
// transaction ends. Errors: [ErrNotFound], [ErrClosed].
func (s *Service) DocumentPolicy(ctx context.Context, id string) (inspect.Policy, error) {
	a, err := ifOpen(s.store.ShareAccount(ctx, id))
	return a.Documents, storeError("reading the account", err)
}

// SetAdmins sets the mail addresses that are notified of problems: at most 20 different addresses, without
// display names. Errors: [ErrInvalid], [ErrNotFound], [ErrClosed].
func (s *Service) SetAdmins(ctx context.Context, id string, addresses []string) error {
	if err := validAddresses(addresses); err != nil {
		return err
	}
	return s.set(ctx, id, func(a *Account) { a.Admins = addresses })
}

// CloseAccount begins the deletion of an account: from then on nothing is added to it, and its clients have no secrets,
// so that all servers refuse their tokens. Signatures that are under way are still counted, and documents still
// deleted. Closing an account again changes nothing. CloseAccount joins the transaction of its context. Error:
// [ErrNotFound].
func (s *Service) CloseAccount(ctx context.Context, id string) error {
	err := s.tx.InTx(ctx, func(ctx context.Context) error {
		a, err := s.store.Account(ctx, id)
		if err != nil {
			return err
		}
		if a.ClosedAt.IsZero() {
			a.ClosedAt = s.now(ctx)
			if err := s.store.UpdateAccount(ctx, a); err != nil {
				return err
			}
		}
		return s.removeSecrets(ctx, id)
	})
	return storeError("closing the account", err)
}

// removeSecrets removes all secrets of the account's clients. A server of an earlier version may have added some to an
// account that was closed.
func (s *Service) removeSecrets(ctx context.Context, accountID string) error {
	clients, err := s.store.Clients(ctx, accountID)
	if err != nil {
		return err
	}
	for _, listed := range clients {
		c, err := s.store.Client(ctx, listed.ID)
		if errors.Is(err, storage.ErrNotFound) || err == nil && len(c.Secrets) == 0 {
			continue
		}
		if err != nil {
			return err
		}
		c.Secrets = nil
		if err := s.store.UpdateClient(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// set changes the settings of an account that is open.
func (s *Service) set(ctx context.Context, id string, update func(*Account)) error {
	err := s.tx.InTx(ctx, func(ctx context.Context) error {
		a, err := s.openAccount(ctx, id)
		if err != nil {
			return err
		}
		update(&a)
		return s.store.UpdateAccount(ctx, a)
	})
	return storeError("changing the account", err)
}

// storeError converts an error of the store to an error of this package.
func storeError(doing string, err error) error {
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

// Limits of what callers pass. Names have as many characters as those of participants (spec 4.1).
const (
	maxNameLen       = 256 // characters; bytes for a mail address
	maxCredentialLen = 256 // bytes of a client id or secret
	maxAdmins        = 20
)

// validName applies spec 1.2: a name of white space alone is missing, and control characters are refused.
func validName(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return fmt.Errorf("%w: the name is missing", ErrInvalid)
	case !utf8.ValidString(name), strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("%w: the name has control characters or is not UTF-8", ErrInvalid)
	case utf8.RuneCountInString(name) > maxNameLen:
		return fmt.Errorf("%w: the name is longer than %d characters", ErrInvalid, maxNameLen)
	}
	return nil
}

func validAddresses(list []string) error {
	if len(list) > maxAdmins {
		return fmt.Errorf("%w: more than %d admins", ErrInvalid, maxAdmins)
	}
	for i, text := range list {
		a, err := mail.ParseAddress(text)
		if err != nil || a.Address != text || len(text) > maxNameLen {
			return fmt.Errorf("%w: admin %d must be a mail address, such as admin@example.is", ErrInvalid, i+1)
		}
		if slices.ContainsFunc(list[:i], func(other string) bool { return strings.EqualFold(other, text) }) {
			return fmt.Errorf("%w: admin %d is listed twice", ErrInvalid, i+1)
		}
	}
	return nil
}

// validID accepts the canonical form of a UUID only, since ids are compared as strings.
func validID(id string) error {
	if parsed, err := uuid.Parse(id); err != nil || parsed.String() != id {
		return fmt.Errorf("%w: the account's ID must be a UUID in lower case", ErrInvalid)
	}
	return nil
}

// validCredential applies RFC 6749 A.1 and A.2: ids and secrets consist of printable ASCII characters.
func validCredential(field, value string) error {
	if value == "" || len(value) > maxCredentialLen {
		return fmt.Errorf("%w: the %s must be 1 to %d characters", ErrInvalid, field, maxCredentialLen)
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
		return fmt.Errorf("%w: the %s must be printable ASCII", ErrInvalid, field)
	}
	return nil
}
