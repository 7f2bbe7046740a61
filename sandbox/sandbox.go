// Package sandbox implements an identity provider for tests: accounts create sandbox users (spec 6 and 6.1), and
// an [idp.Provider] answers for these users. Their signatures are valid ones, with certificates of a test
// certification authority (package ca) that the sandbox creates and stores. Validators that trust its root
// accept the signatures.
package sandbox

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
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
	// ErrNotFound: the account has no user with this ID.
	ErrNotFound = errors.New("sandbox: user not found")
	// ErrUserExists: another user of the account has this kennitala or phone.
	ErrUserExists = errors.New("sandbox: user already exists")
)

// Store stores the users and the authority. Methods that write join the transaction of their context and
// return storage.ErrNoTx outside one.
type Store interface {
	// CreateUser adds a user; storage.ErrExists if another user of the account has the same Kennitala, compared
	// without hyphens, or the same Phone.
	CreateUser(ctx context.Context, u User) error
	// UpdateUser replaces a user; storage.ErrNotFound, storage.ErrExists.
	UpdateUser(ctx context.Context, u User) error
	// DeleteUser deletes an account's user; storage.ErrNotFound.
	DeleteUser(ctx context.Context, account, id string) error
	// User returns an account's user by ID; storage.ErrNotFound.
	User(ctx context.Context, account, id string) (User, error)
	// UserByKennitala and UserByPhone return an account's user; storage.ErrNotFound. The kennitala is given
	// without hyphens.
	UserByKennitala(ctx context.Context, account, kennitala string) (User, error)
	UserByPhone(ctx context.Context, account, phone string) (User, error)
	// Users returns the users of an account in the order of their creation.
	Users(ctx context.Context, account string) ([]User, error)

	// Authority returns the encoded authority; storage.ErrNotFound.
	Authority(ctx context.Context) ([]byte, error)
	// SaveAuthority stores the authority; storage.ErrExists if one is stored already.
	SaveAuthority(ctx context.Context, encoded []byte) error
	// UpdateAuthority replaces the authority; storage.ErrNotFound.
	UpdateAuthority(ctx context.Context, encoded []byte) error
}

// Options configure a [Sandbox]; the zero value is valid.
type Options struct {
	// Keys is the type of key that new users get.
	Keys KeyType
	// CheckAccount returns an error if an account takes no new users, which Create returns. It is called in the
	// transaction that stores a user. nil: all accounts take users.
	CheckAccount func(ctx context.Context, account string) error
	// Now returns the time at which users are created and answer; nil is the machine's clock. The authority's
	// timestamps and revocation data always have the time of the machine's clock.
	Now storage.Clock
}

// Sandbox manages the sandbox users and answers for them as an [idp.Provider]. It may be used by several goroutines.
type Sandbox struct {
	store     Store
	tx        storage.Transactor
	options   Options
	authority *sandboxca.Authority
}

// Open opens the sandbox in a store. It creates the authority if the store has none.
func Open(ctx context.Context, store Store, tx storage.Transactor, options Options) (*Sandbox, error) {
	ca, err := openAuthority(ctx, store, tx, options.Now)
	if err != nil {
		return nil, fmt.Errorf("sandbox: opening the authority: %w", err)
	}
	return &Sandbox{store, tx, options, ca}, nil
}

func (s *Sandbox) now(ctx context.Context) time.Time { return s.options.Now.Now(ctx) }

// Create creates a user of the account. FullName, Kennitala and Phone are required; the caller checks their
// form. Errors: [ErrUserExists], and that of [Options].CheckAccount.
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
	err = s.tx.InTx(ctx, func(ctx context.Context) error {
		if check := s.options.CheckAccount; check != nil {
			if err := check(ctx, account); err != nil {
				return err
			}
		}
		return s.store.CreateUser(ctx, u)
	})
	if err != nil {
		return User{}, storeError(err)
	}
	return u, nil
}

// Update changes a user of the account. Errors: [ErrNotFound], [ErrUserExists].
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

// Users returns the users of an account in the order of their creation.
func (s *Sandbox) Users(ctx context.Context, account string) ([]User, error) {
	return s.store.Users(ctx, account)
}

// certify issues a certificate to the user.
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

// Action is how a sandbox user answers a signing request (spec 6.1).
type Action string

const (
	Success Action = "Success" // signs
	Cancel  Action = "Cancel"  // refuses
)

// User is a sandbox user.
type User struct {
	ID        string // UUID
	Account   string
	FullName  string
	Kennitala string
	Phone     string
	Delay     time.Duration // from the start call to the answer
	Action    Action
	CreatedAt time.Time
	UpdatedAt time.Time

	// CertifiedName is FullName at the creation of the user. All certificates of the user have this name
	// (spec 6.3).
	CertifiedName string
	Certificate   []byte // DER, for CertifiedName and Kennitala
	Key           []byte // PKCS #8
}

// Profile has the fields of a user that a client sets; in an update, nil keeps the value.
type Profile struct {
	FullName  *string
	Kennitala *string
	Phone     *string
	Delay     *time.Duration
	Action    *Action
}

// apply changes the user and reports whether it needs a new certificate, which it does if the kennitala changed
// (spec 6.3).
func (u *User) apply(p Profile) (newCertificate bool) {
	before := idp.NormalizeKennitala(u.Kennitala)
	set(&u.FullName, p.FullName)
	set(&u.Kennitala, p.Kennitala)
	set(&u.Phone, p.Phone)
	set(&u.Delay, p.Delay)
	set(&u.Action, p.Action)
	return idp.NormalizeKennitala(u.Kennitala) != before
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

func (u *User) certificate() (*x509.Certificate, error) { return x509.ParseCertificate(u.Certificate) }

func (u *User) key() (crypto.Signer, error) {
	key, err := x509.ParsePKCS8PrivateKey(u.Key)
	if err != nil {
		return nil, fmt.Errorf("sandbox: reading the user's key: %w", err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("sandbox: the user's key %T does not sign", key)
	}
	return signer, nil
}

// KeyType is a type of signing key.
type KeyType string

const (
	P256    KeyType = "p256" // the default
	RSA3072 KeyType = "rsa3072"
)

func (t KeyType) generate() (crypto.Signer, error) {
	switch t {
	case "", P256:
		return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case RSA3072:
		return rsa.GenerateKey(rand.Reader, 3072)
	}
	return nil, fmt.Errorf("sandbox: key type %q is not known", t)
}
