package account

import (
	"context"
	"iter"
	"time"
)

// Store keeps accounts, clients and tokens.
//
// Methods that write join the transaction of their context and answer
// storage.ErrNoTx outside one. A record read in a transaction stays as it was
// read until that transaction ends, but for what the transaction itself writes.
// Lists are in the order of creation. What is not there is storage.ErrNotFound.
type Store interface {
	AccountStore
	ClientStore
	TokenStore
	LedgerStore
}

// AccountStore keeps accounts by ID.
type AccountStore interface {
	Account(ctx context.Context, id string) (Account, error)
	Accounts(ctx context.Context) ([]Account, error)
	// AddAccount answers storage.ErrExists when the ID is taken.
	AddAccount(ctx context.Context, a Account) error
	// UpdateAccount replaces the account of that ID.
	UpdateAccount(ctx context.Context, a Account) error
	// DeleteAccount removes the account alone; what belongs to it is for others to delete.
	DeleteAccount(ctx context.Context, id string) error
}

// ClientStore keeps clients by ID, which is unique over all accounts.
type ClientStore interface {
	Client(ctx context.Context, id string) (Client, error)
	Clients(ctx context.Context, accountID string) ([]Client, error)
	// AddClient answers storage.ErrExists when the ID is taken.
	AddClient(ctx context.Context, c Client) error
	// UpdateClient replaces the client of that ID, which keeps its place in lists.
	UpdateClient(ctx context.Context, c Client) error
	DeleteClient(ctx context.Context, id string) error
}

// TokenStore keeps tokens by Hash. A token stays until it is deleted, whatever becomes of
// its client.
type TokenStore interface {
	Token(ctx context.Context, hash []byte) (TokenRecord, error)
	// AddToken answers storage.ErrExists when the Hash is taken.
	AddToken(ctx context.Context, t TokenRecord) error
	DeleteToken(ctx context.Context, hash []byte) error
	// DeleteExpiredTokens deletes tokens whose ExpiresAt is now or before, those
	// that expired first and at most limit of them, and says how many.
	DeleteExpiredTokens(ctx context.Context, now time.Time, limit int) (int, error)
}

// LedgerStore keeps the ledger.
type LedgerStore interface {
	// AddLine answers storage.ErrExists when there is a line of that ID.
	AddLine(ctx context.Context, l Line) error
	// Lines lists the lines of an account from a time, which is included, to another, which is
	// not, in the order of their times. Lines that are added meanwhile may be in it or not.
	Lines(ctx context.Context, account string, from, to time.Time) iter.Seq2[Line, error]
	// DeleteLines removes up to limit lines of an account and returns how many.
	DeleteLines(ctx context.Context, account string, limit int) (int, error)
}
