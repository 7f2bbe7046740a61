// Package sandbox stands in for the identity provider and its people: test users
// that accounts make for themselves (spec 6 and 6.1), and an [idp.Provider]
// in which they answer. Their signatures are real ones, by certificates of an
// authority that the sandbox makes for itself and keeps in its store; validators
// that are handed its root accept them.
package sandbox

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/idp"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/storage"
)

var (
	// ErrNotFound: the account has no such user.
	ErrNotFound = errors.New("sandbox: user not found")
	// ErrUserExists: another user of the account has that kennitala or phone.
	ErrUserExists = errors.New("sandbox: user already exists")
)

// Store keeps the users and the authority. Methods that write join a
// transaction and answer storage.ErrNoTx outside one.
type Store interface {
	// CreateUser adds a user; storage.ErrExists when another one of the account
	// has its Kennitala (hyphens aside) or Phone.
	CreateUser(ctx context.Context, u User) error
	// UpdateUser replaces a user; storage.ErrNotFound, storage.ErrExists.
	UpdateUser(ctx context.Context, u User) error
	// DeleteUser removes an account's user; storage.ErrNotFound.
	DeleteUser(ctx context.Context, account, id string) error
	// User returns an account's user by ID; storage.ErrNotFound.
	User(ctx context.Context, account, id string) (User, error)
	// UserByKennitala and UserByPhone find an account's user; storage.ErrNotFound.
	// The kennitala is given without hyphens.
	UserByKennitala(ctx context.Context, account, kennitala string) (User, error)
	UserByPhone(ctx context.Context, account, phone string) (User, error)
	// Users returns the users of an account in the order of their creation.
	Users(ctx context.Context, account string) ([]User, error)

	// Authority returns what SaveAuthority stored; storage.ErrNotFound.
	Authority(ctx context.Context) ([]byte, error)
	// SaveAuthority stores the authority once; storage.ErrExists when there is one.
	SaveAuthority(ctx context.Context, encoded []byte) error
	// UpdateAuthority replaces the authority; storage.ErrNotFound when there is none.
	UpdateAuthority(ctx context.Context, encoded []byte) error
}

// Options are the sandbox's choices.
type Options struct {
	// Keys is the kind of key that new users get.
	Keys KeyType
	// Now tells the time at which users are made and answer; nil is the machine's clock, which the authority's
	// timestamps and revocation data always have.
	Now storage.Clock
}

// Sandbox is the service around the users. It may be used by several goroutines.
type Sandbox struct {
	store     Store
	tx        storage.Transactor
	options   Options
	authority *sandboxca.Authority
}

// Open opens the sandbox in a store and makes its authority there if there is
// none.
func Open(ctx context.Context, store Store, tx storage.Transactor, options Options) (*Sandbox, error) {
	ca, err := openAuthority(ctx, store, tx, options.Now)
	if err != nil {
		return nil, fmt.Errorf("sandbox: opening the authority: %w", err)
	}
	return &Sandbox{store, tx, options, ca}, nil
}

func (s *Sandbox) now(ctx context.Context) time.Time { return s.options.Now.Now(ctx) }

// Create makes a user of the account. FullName, Kennitala and Phone are
// required; their form is the caller's to check. [ErrUserExists].
func (s *Sandbox) Create(ctx context.Context, account string, p Profile) (User, error) {
	if p.FullName == nil || p.Kennitala == nil || p.Phone == nil {
		return User{}, errors.New("sandbox: user without full name, kennitala or phone")
	}
	now := s.now(ctx)
	u := User{ID: uuid.NewString(), Account: account, Action: Success, CreatedAt: now, UpdatedAt: now}
	u.apply(p)
	u.CertifiedName = u.FullName
	key, err := s.options.Keys.generate()
	if err != nil {
		return User{}, err
	}
	if u.Key, err = x509.MarshalPKCS8PrivateKey(key); err != nil {
		return User{}, fmt.Errorf("sandbox: encoding the user's key: %w", err)
	}
	if err := s.certify(&u, now); err != nil {
		return User{}, err
	}
	if err := s.tx.InTx(ctx, func(ctx context.Context) error { return s.store.CreateUser(ctx, u) }); err != nil {
		return User{}, storeError(err)
	}
	return u, nil
}

// Update changes a user of the account. [ErrNotFound], [ErrUserExists].
func (s *Sandbox) Update(ctx context.Context, account, id string, p Profile) error {
	return storeError(s.tx.InTx(ctx, func(ctx context.Context) error {
		u, err := s.store.User(ctx, account, id)
		if err != nil {
			return err
		}
		now := s.now(ctx)
		if u.apply(p) {
			if err := s.certify(&u, now); err != nil {
				return err
			}
		}
		u.UpdatedAt = now
		return s.store.UpdateUser(ctx, u)
	}))
}

// Users lists the users of an account in the order of their creation.
func (s *Sandbox) Users(ctx context.Context, account string) ([]User, error) {
	return s.store.Users(ctx, account)
}

// certify issues the user's certificate.
func (s *Sandbox) certify(u *User, now time.Time) error {
	key, err := u.key()
	if err != nil {
		return err
	}
	cert, err := s.authority.Issue(u.CertifiedName, idp.NormalizeKennitala(u.Kennitala), key.Public(), now)
	if err != nil {
		return err
	}
	u.Certificate = cert.Raw
	return nil
}

func storeError(err error) error {
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return ErrNotFound
	case errors.Is(err, storage.ErrExists):
		return ErrUserExists
	}
	return err
}
