// Package account knows who calls, and what they owe: accounts, their API clients, and the access
// tokens that clients exchange their secrets for (spec 2 and 2.1).
//
// An account owns everything that its clients make; any client of an account
// sees the same (spec 1.7). A client has an id, a secret and a set of
// scopes. Secrets and tokens that the service makes are 256 random bits in
// base64url. The store keeps SHA-256 digests of them and nothing else, so a secret
// is shown once, when it is made, and a copy of the store lets nobody in. A secret
// that an operator chooses ([Service.EnsureClient]) is as good as the operator
// made it: who has a copy of the store can try guesses against its digest as fast as
// a machine computes SHA-256. It has to be random, of at least 22 characters of
// base64 or as much in another alphabet, wherever strangers reach the service.
//
// A client may have two secrets at once, so that one can take the other's place without
// a moment in which neither works: [Service.AddSecret], then the program is given the new
// one, and when the old one is not used any more, [Service.RemoveSecret]. What was got
// with a secret ends with it: its tokens are refused from then on, on every server. A
// token ends by itself after [TokenLifetime], and before that when its client revokes it
// ([Service.Revoke], RFC 7009).
//
// Wrong secrets are counted for nobody: whoever knows a client's id could lock it out
// otherwise. Slowing those down who guess is the business of what serves them, by where
// they are.
//
// Every signature of an account is a [Line] in the ledger, whichever API it was made with;
// what the signatures of a month cost is computed from the lines ([Service.Statement]).
//
//	accounts := account.New(store, tx, account.Options{})
//	owner, err := accounts.CreateAccount(ctx, "Example Ltd.")
//	client, secret, err := accounts.CreateClient(ctx, owner.ID, "archive", []string{account.ScopeSignatures})
//	token, err := accounts.Issue(ctx, client.ID, secret, nil)
//	caller, err := accounts.Authenticate(ctx, token.Value)
//	caller.Has(account.ScopeSignatures) // true
//	statement, err := accounts.Statement(ctx, owner.ID, time.Now())
//
// All methods of [Service] may be called from several goroutines. Those that
// change something join the transaction of their context, if it carries one.
package account

import (
	"errors"
	"time"
)

var (
	// ErrNotFound: there is no such account, client or secret.
	ErrNotFound = errors.New("account: not found")
	// ErrExists: the client id is taken by a client with another secret or of
	// another account.
	ErrExists = errors.New("account: client id is taken")
	// ErrInvalid: a name, an id, a secret or a quota is not one that can be kept.
	ErrInvalid = errors.New("account: invalid value")
	// ErrInvalidClient: no client has that id and that secret (RFC 6749 5.2).
	ErrInvalidClient = errors.New("account: invalid client")
	// ErrInvalidScope: a scope is unknown or is not one of the client's
	// (RFC 6749 5.2).
	ErrInvalidScope = errors.New("account: invalid scope")
	// ErrInvalidToken: the token is unknown, has expired or was revoked, or its client or
	// the secret that it was got with was removed (RFC 6750 3.1).
	ErrInvalidToken = errors.New("account: invalid token")
	// ErrOtherClient: the token is another client's of the account (RFC 7009 2.1).
	ErrOtherClient = errors.New("account: the token is another client's")
	// ErrTwoSecrets: the client has two secrets, which is as many as there are at once.
	ErrTwoSecrets = errors.New("account: the client has two secrets already")
	// ErrClosed: the account is being deleted.
	ErrClosed = errors.New("account: the account is being deleted")
	// ErrLastSecret: without the secret, nobody could use the client any more.
	ErrLastSecret = errors.New("account: the client has no other secret")
)

// DefaultQuota is the document storage of an account when nothing else is said,
// in bytes. Account.Stored counts against it.
const DefaultQuota int64 = 10 << 30

// TokenLifetime is how long an access token is good for (spec 2.1).
const TokenLifetime = time.Hour

// Account is one customer of the service.
type Account struct {
	ID            string // a UUID
	Name          string
	PaymentMethod bool     // one is on file, so that more than the free signatures can be made
	Quota         int64    // document storage in bytes
	Admins        []string // who is told of trouble: addresses for mail
	Signatures    int64    // made so far, those that cost nothing included
	Stored        int64    // bytes of its documents that are there until they are deleted
	CreatedAt     time.Time
	ClosedAt      time.Time // since when it is being deleted; zero: it is not
}

// Client is a program that calls the API for an account.
type Client struct {
	ID        string
	AccountID string
	Name      string
	Secrets   []Secret // one or two, the older first
	Scopes    []string // may be none
	CreatedAt time.Time
	UsedAt    time.Time // when it got a token, as exactly as that of a Secret; zero: never
}

// Token is an access token as its client gets it.
type Token struct {
	Value     string
	Scopes    []string
	ExpiresIn time.Duration
}

// TokenRecord is an access token as it is stored.
type TokenRecord struct {
	Hash      []byte // SHA-256 of the token's value
	ClientID  string
	Secret    string // the ID of the one it was got with; empty: it is from when clients had one only, FirstSecret
	AccountID string
	Scopes    []string
	IssuedAt  time.Time
	ExpiresAt time.Time
}

// Caller is whom a token speaks for.
type Caller struct {
	AccountID string
	ClientID  string
	Scopes    []string
}
