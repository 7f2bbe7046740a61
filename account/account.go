// Package account manages the customers of the service: accounts, their API clients, the access tokens
// that clients exchange their secrets for, and the ledger of signatures that customers pay for (spec 2,
// 2.1 and 4.7).
//
// An account owns everything that its clients make; all clients of an account have access to the same
// objects (spec 1.7). A client has an id, a secret and a set of scopes.
//
// # Secrets and tokens
//
// Secrets and tokens that the service makes are 256 random bits in base64url. The store has their SHA-256
// digests only, so a secret is shown once, when it is made, and a copy of the store does not give access.
// A secret that an operator chooses ([Service.EnsureClient]) is as strong as the operator made it: with a
// copy of the store, an attacker can test guesses against its digest at the speed of SHA-256. If the service can be
// reached from the internet, a chosen secret must be random and have at least 22 characters of base64url,
// or the same entropy in another alphabet.
//
// A client may have two secrets at a time, so that a secret can be replaced without an interruption:
// call [Service.AddSecret], configure the program with the new secret, and call [Service.RemoveSecret]
// when the old one is no longer used. All servers refuse the tokens of a removed secret from then on. A
// token expires after [TokenLifetime]; its client can revoke it before that ([Service.Revoke], RFC 7009).
//
// The package does not lock a client after wrong secrets: anyone who knows a client's id could lock it
// out. The caller, for example an HTTP server, limits guesses by the address they come from.
//
// # Ledger
//
// Every signature of an account is a [Line] of the ledger, whichever API it was made with. The price of a
// month's signatures is computed from these lines ([Service.Statement]).
//
//	accounts := account.New(store, tx, account.Options{})
//	owner, err := accounts.CreateAccount(ctx, "Example Ltd.")
//	client, secret, err := accounts.CreateClient(ctx, owner.ID, "archive", []string{account.ScopeSignatures})
//	token, err := accounts.Issue(ctx, client.ID, secret, nil)
//	caller, err := accounts.Authenticate(ctx, token.Value)
//	caller.Has(account.ScopeSignatures) // true
//	statement, err := accounts.Statement(ctx, owner.ID, time.Now())
//
// All methods of [Service] may be called from several goroutines. Methods that write join the transaction
// of their context, if it carries one.
package account

import (
	"errors"
	"time"

	"github.com/innsigli/innsigli/pades/inspect"
)

var (
	// ErrNotFound: the account, client or secret does not exist.
	ErrNotFound = errors.New("account: not found")
	// ErrExists: the client id belongs to a client with another secret or of another account.
	ErrExists = errors.New("account: client id is taken")
	// ErrInvalid: a name, an id, a secret, an address or a quota is invalid.
	ErrInvalid = errors.New("account: invalid value")
	// ErrInvalidClient: no client has this id and this secret (RFC 6749 5.2).
	ErrInvalidClient = errors.New("account: invalid client")
	// ErrInvalidScope: a scope is unknown, or the client does not have it (RFC 6749 5.2).
	ErrInvalidScope = errors.New("account: invalid scope")
	// ErrInvalidToken: the token is unknown, expired or revoked, or its client or the secret it was issued
	// for was removed (RFC 6750 3.1).
	ErrInvalidToken = errors.New("account: invalid token")
	// ErrOtherClient: the token belongs to another client of the account (RFC 7009 2.1).
	ErrOtherClient = errors.New("account: the token was issued to another client")
	// ErrTwoSecrets: the client has two secrets, which is the maximum.
	ErrTwoSecrets = errors.New("account: the client has two secrets already")
	// ErrClosed: the account is being deleted.
	ErrClosed = errors.New("account: the account is being deleted")
	// ErrLastSecret: the secret is the client's only one; without it the client could not authenticate.
	ErrLastSecret = errors.New("account: the last secret of a client cannot be removed")
)

// DefaultQuota is the document storage of an account in bytes if [Options].Quota does not set another.
const DefaultQuota int64 = 10 << 30

// TokenLifetime is how long an access token is valid (spec 2.1).
const TokenLifetime = time.Hour

// Account is one customer of the service.
type Account struct {
	ID            string // a UUID
	Name          string
	PaymentMethod bool           // the account has a payment method, so it may make more than the free signatures
	Quota         int64          // document storage in bytes; Stored counts against it
	Admins        []string       // mail addresses that are notified of problems
	FreeUsed      int64          // free signatures that were used; more than FreeSignatures if an earlier version counted all
	Stored        int64          // bytes of the account's documents that are not deleted yet
	Documents     inspect.Policy // what becomes of documents with warnings; empty: inspect.Warn
	CreatedAt     time.Time
	ClosedAt      time.Time // when its deletion began; zero: it is not being deleted
}

// Client is a program that calls the API for an account.
type Client struct {
	ID        string
	AccountID string
	Name      string
	Secrets   []Secret // one or two, the older first; none if the account is closed
	Scopes    []string // may be empty
	CreatedAt time.Time
	UsedAt    time.Time // when a token was last issued, with the precision of Secret.UsedAt; zero: never
}

// Secret is a client secret as it is stored.
type Secret struct {
	ID        string // unique among the secrets of the client, and independent of the value
	Hash      []byte // SHA-256 of the value
	CreatedAt time.Time
	// UsedAt is when a token was issued for the secret; zero: never. It is updated at most once in ten
	// minutes, so the last use may be up to ten minutes later, and a token issued then is valid for
	// another hour.
	UsedAt time.Time
}

// Token is an access token as it is returned to its client.
type Token struct {
	Value     string
	Scopes    []string
	ExpiresIn time.Duration
}

// TokenRecord is an access token as it is stored.
type TokenRecord struct {
	Hash      []byte // SHA-256 of the token's value
	ClientID  string
	Secret    string // ID of the secret it was issued for; empty in records of earlier versions: FirstSecret
	AccountID string
	Scopes    []string
	IssuedAt  time.Time
	ExpiresAt time.Time
}

// Caller is the client that an access token authenticates.
type Caller struct {
	AccountID string
	ClientID  string
	Scopes    []string
}
