package bolt

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/pades/inspect"
	"github.com/innsigli/innsigli/storage"
)

var (
	accountOrder = index[accountRecord]{bucket: "account.order", key: func(accountRecord) []byte { return []byte{} }}
	accountTable = table[accountRecord]{bucket: "account", indexes: []index[accountRecord]{accountOrder}}

	clientsOfAccount = index[clientRecord]{bucket: "client.account", key: func(c clientRecord) []byte { return text(c.AccountID) }}
	clientTable      = table[clientRecord]{bucket: "client", indexes: []index[clientRecord]{clientsOfAccount}}

	tokenExpiry = index[tokenRecord]{bucket: "token.expiry", key: func(t tokenRecord) []byte { return instant(t.ExpiresAt) }}
	tokenTable  = table[tokenRecord]{bucket: "token", indexes: []index[tokenRecord]{tokenExpiry}}
)

type accountRecord struct {
	ID            string         `json:"id"`
	Name          string         `json:"name"`
	PaymentMethod bool           `json:"paymentMethod"`
	Quota         int64          `json:"quota"`
	Admins        []string       `json:"admins,omitempty"`
	FreeUsed      int64          `json:"signatures,omitempty"` // early versions counted all
	Stored        int64          `json:"stored,omitempty"`
	Documents     inspect.Policy `json:"documents,omitempty"`
	CreatedAt     time.Time      `json:"createdAt"`
	ClosedAt      time.Time      `json:"closedAt,omitzero"`
}

type clientRecord struct {
	ID         string    `json:"id"`
	AccountID  string    `json:"account"`
	Name       string    `json:"name"`
	SecretHash []byte    `json:"secretHash"` // of account.FirstSecret
	Scopes     []string  `json:"scopes"`
	CreatedAt  time.Time `json:"createdAt"`
	UsedAt     time.Time `json:"usedAt,omitzero"`

	Secrets []secretRecord `json:"secrets,omitempty"` // none: the program of before, which knew the first alone, stored it
}

type secretRecord struct {
	ID        string    `json:"id"`
	Hash      []byte    `json:"hash"`
	CreatedAt time.Time `json:"createdAt"`
	UsedAt    time.Time `json:"usedAt,omitzero"`
}

// storedClient keeps the first secret where the program of before looks for it, which then finds none
// once that is removed.
func storedClient(c account.Client) clientRecord {
	r := clientRecord{ID: c.ID, AccountID: c.AccountID, Name: c.Name, Scopes: c.Scopes, CreatedAt: c.CreatedAt, UsedAt: c.UsedAt}
	for _, s := range c.Secrets {
		if s.ID == account.FirstSecret {
			r.SecretHash = s.Hash
		}
	}
	r.Secrets = convert(c.Secrets, func(s account.Secret) secretRecord { return secretRecord(s) })
	return r
}

func (r clientRecord) client() account.Client {
	c := account.Client{ID: r.ID, AccountID: r.AccountID, Name: r.Name, Scopes: r.Scopes, CreatedAt: r.CreatedAt, UsedAt: r.UsedAt}
	c.Secrets = convert(r.Secrets, func(s secretRecord) account.Secret { return account.Secret(s) })
	if len(r.SecretHash) > 0 && len(r.Secrets) == 0 {
		c.Secrets = []account.Secret{{ID: account.FirstSecret, Hash: r.SecretHash, CreatedAt: r.CreatedAt}}
	}
	return c
}

type tokenRecord struct {
	Hash      []byte    `json:"hash"`
	ClientID  string    `json:"client"`
	Secret    string    `json:"secret,omitempty"`
	AccountID string    `json:"account"`
	Scopes    []string  `json:"scopes"`
	IssuedAt  time.Time `json:"issuedAt"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// accounts is the account.Store of a DB.
type accounts struct{ db *DB }

var _ account.Store = accounts{}

// Accounts is the store of accounts, clients, tokens and the ledger.
func (db *DB) Accounts() account.Store { return accounts{db} }

func (s accounts) Account(ctx context.Context, id string) (account.Account, error) {
	record, err := read(ctx, s.db, accountTable, id)
	return account.Account(record), err
}

func (s accounts) ShareAccount(ctx context.Context, id string) (account.Account, error) {
	return s.Account(ctx, id)
}

func (s accounts) Accounts(ctx context.Context) ([]account.Account, error) {
	records, err := list(ctx, s.db, accountTable, accountOrder, every())
	return convert(records, func(r accountRecord) account.Account { return account.Account(r) }), err
}

func (s accounts) AddAccount(ctx context.Context, a account.Account) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return accountTable.insert(tx, a.ID, accountRecord(a))
	})
}

func (s accounts) UpdateAccount(ctx context.Context, a account.Account) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return accountTable.update(tx, a.ID, accountRecord(a))
	})
}

func (s accounts) DeleteAccount(ctx context.Context, id string) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return accountTable.remove(tx, id)
	})
}

func (s accounts) Client(ctx context.Context, id string) (account.Client, error) {
	record, err := read(ctx, s.db, clientTable, id)
	return record.client(), err
}

func (s accounts) Clients(ctx context.Context, accountID string) ([]account.Client, error) {
	records, err := list(ctx, s.db, clientTable, clientsOfAccount, under(text(accountID)))
	return convert(records, clientRecord.client), err
}

func (s accounts) AddClient(ctx context.Context, c account.Client) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return clientTable.insert(tx, c.ID, storedClient(c))
	})
}

func (s accounts) UpdateClient(ctx context.Context, c account.Client) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return clientTable.update(tx, c.ID, storedClient(c))
	})
}

func (s accounts) DeleteClient(ctx context.Context, id string) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return clientTable.remove(tx, id)
	})
}

func (s accounts) Token(ctx context.Context, hash []byte) (account.TokenRecord, error) {
	record, err := read(ctx, s.db, tokenTable, string(hash))
	return account.TokenRecord(record), err
}

func (s accounts) AddToken(ctx context.Context, t account.TokenRecord) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return tokenTable.insert(tx, string(t.Hash), tokenRecord(t))
	})
}

func (s accounts) DeleteToken(ctx context.Context, hash []byte) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return tokenTable.remove(tx, string(hash))
	})
}

func (s accounts) DeleteExpiredTokens(ctx context.Context, now time.Time, limit int) (n int, err error) {
	err = s.db.write(ctx, func(tx *boltTx) error {
		n, err = tokenTable.removeFirst(tx, tokenExpiry, upTo(now), limit)
		return err
	})
	return n, err
}

var (
	linesOfAccount = index[lineRecord]{bucket: "account.line.account", key: func(l lineRecord) []byte { return lineTime(l.Account, l.At) }}
	lineTable      = table[lineRecord]{bucket: "account.line", indexes: []index[lineRecord]{linesOfAccount}}
)

func lineTime(account string, at time.Time) []byte { return append(text(account), instant(at)...) }

type lineRecord struct {
	ID      string      `json:"id"`
	Account string      `json:"account"`
	API     account.API `json:"api"`
	At      time.Time   `json:"at"`
	Free    bool        `json:"free,omitempty"`
}

func (r lineRecord) line() account.Line { return account.Line(r) }

func (s accounts) AddLine(ctx context.Context, l account.Line) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return lineTable.insert(tx, l.ID, lineRecord(l))
	})
}

func (s accounts) AddSignature(ctx context.Context, l account.Line) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		a, err := accountTable.get(tx, l.Account)
		if err != nil {
			return err
		}
		l.Free = a.FreeUsed < account.FreeSignatures
		if err := lineTable.insert(tx, l.ID, lineRecord(l)); errors.Is(err, storage.ErrExists) {
			return nil
		} else if err != nil || !l.Free {
			return err
		}
		a.FreeUsed++
		return accountTable.update(tx, l.Account, a)
	})
}

func (s accounts) DeleteLines(ctx context.Context, of string, limit int) (deleted []account.Line, err error) {
	err = s.db.write(ctx, func(tx *boltTx) error {
		records, err := lineTable.list(tx, linesOfAccount, under(text(of)), max(limit, 0))
		if err != nil {
			return err
		}
		deleted = convert(records, lineRecord.line)
		_, err = lineTable.removeFirst(tx, linesOfAccount, under(text(of)), len(records))
		return err
	})
	return deleted, err
}

func (s accounts) Lines(ctx context.Context, account string, from, to time.Time) iter.Seq2[account.Line, error] {
	return within(ctx, s.db, lineTable, linesOfAccount, span{from: lineTime(account, from), to: lineTime(account, to)}, lineRecord.line)
}
