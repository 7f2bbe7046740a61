package account

import (
	"context"
	"iter"
	"time"
)

// Store stores accounts, clients, tokens and the ledger.
//
// Methods that write join the transaction of their context and return storage.ErrNoTx outside one. A record
// that a transaction has read is not changed by others until the transaction ends. Lists are in the order of
// creation. A method returns storage.ErrNotFound for a record that does not exist.
type Store interface {
	AccountStore
	ClientStore
	TokenStore
	LedgerStore
}

// AccountStore stores accounts by ID.
type AccountStore interface {
	Account(ctx context.Context, id string) (Account, error)
	// ShareAccount is like Account for a transaction that does not change the account: it does not wait for others that
	// have called ShareAccount, and those that change the account wait for it.
	ShareAccount(ctx context.Context, id string) (Account, error)
	Accounts(ctx context.Context) ([]Account, error)
	// AddAccount returns storage.ErrExists if the ID is taken.
	AddAccount(ctx context.Context, a Account) error
	// UpdateAccount replaces the account with a.ID.
	UpdateAccount(ctx context.Context, a Account) error
	// DeleteAccount deletes the account. It does not delete the records that belong to the account.
	DeleteAccount(ctx context.Context, id string) error
}

// ClientStore stores clients by ID, which is unique across all accounts.
type ClientStore interface {
	Client(ctx context.Context, id string) (Client, error)
	Clients(ctx context.Context, accountID string) ([]Client, error)
	// AddClient returns storage.ErrExists if the ID is taken.
	AddClient(ctx context.Context, c Client) error
	// UpdateClient replaces the client with c.ID. Its position in lists does not change.
	UpdateClient(ctx context.Context, c Client) error
	DeleteClient(ctx context.Context, id string) error
}

// TokenStore stores tokens by Hash. Deleting a client does not delete its tokens.
type TokenStore interface {
	Token(ctx context.Context, hash []byte) (TokenRecord, error)
	// AddToken returns storage.ErrExists if the Hash is taken.
	AddToken(ctx context.Context, t TokenRecord) error
	DeleteToken(ctx context.Context, hash []byte) error
	// DeleteExpiredTokens deletes up to limit tokens whose ExpiresAt is now or earlier, the earliest first,
	// and returns how many it deleted.
	DeleteExpiredTokens(ctx context.Context, now time.Time, limit int) (int, error)
}

// LedgerStore stores the ledger.
type LedgerStore interface {
	// AddLine returns storage.ErrExists if a line with that ID exists.
	AddLine(ctx context.Context, l Line) error
	// AddSignature adds a line to an account, unless a line with that ID exists. It sets Free: the line is free if the
	// account's FreeUsed is less than [FreeSignatures], and FreeUsed is then incremented. Transactions that add lines to an
	// account whose free signatures are used do not wait for each other. It returns storage.ErrNotFound if there is no such
	// account.
	AddSignature(ctx context.Context, l Line) error
	// Lines returns the lines of an account with from <= At < to, in the order of their times. Lines that are
	// added during the iteration may be included or not.
	Lines(ctx context.Context, account string, from, to time.Time) iter.Seq2[Line, error]
	// DeleteLines deletes up to limit lines of an account and returns those that it deleted.
	DeleteLines(ctx context.Context, account string, limit int) ([]Line, error)
}
