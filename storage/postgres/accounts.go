package postgres

import (
	"context"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/storage"
)

var (
	accountTable = table[account.Account]{
		name:    "accounts",
		columns: []string{"id", "name", "payment_method", "quota", "admins", "signatures", "stored", "created_at", "closed_at", "documents"},
		fields: func(a *account.Account) []any {
			return []any{&a.ID, &a.Name, &a.PaymentMethod, &a.Quota, &a.Admins, &a.FreeUsed, &a.Stored, &a.CreatedAt, (*moment)(&a.ClosedAt), (*string)(&a.Documents)}
		},
	}

	clientTable = table[clientRow]{
		name:    "clients",
		columns: []string{"id", "account", "name", "secret_hash", "scopes", "created_at", "secrets", "used_at"},
		fields: func(c *clientRow) []any {
			return []any{&c.ID, &c.AccountID, &c.Name, &c.firstHash, &c.Scopes, &c.CreatedAt, encoded[[]account.Secret]{&c.Secrets}, (*moment)(&c.UsedAt)}
		},
	}

	tokenTable = table[account.TokenRecord]{
		name:    "tokens",
		columns: []string{"hash", "client", "secret", "account", "scopes", "issued_at", "expires_at"},
		fields: func(t *account.TokenRecord) []any {
			return []any{&t.Hash, &t.ClientID, &t.Secret, &t.AccountID, &t.Scopes, &t.IssuedAt, &t.ExpiresAt}
		},
	}
)

// clientRow is a stored client. It also has the hash of account.FirstSecret in a column of its own, the only
// one that the version before reads and writes.
type clientRow struct {
	account.Client
	firstHash []byte
}

// storedClient returns the row of a client.
func storedClient(c account.Client) clientRow {
	row := clientRow{c, []byte{}} // the hash of no secret, for a client whose first one was removed
	for _, s := range c.Secrets {
		if s.ID == account.FirstSecret {
			row.firstHash = s.Hash
		}
	}
	return row
}

// client returns the client of a row.
func (r clientRow) client() account.Client {
	c := r.Client
	if len(r.firstHash) > 0 && len(c.Secrets) == 0 {
		c.Secrets = []account.Secret{{ID: account.FirstSecret, Hash: r.firstHash, CreatedAt: c.CreatedAt}}
	}
	return c
}

// accounts is the account.Store of a DB.
type accounts struct{ db *DB }

var _ account.Store = accounts{}

// Accounts returns the store of accounts, clients, tokens and the ledger.
func (db *DB) Accounts() account.Store { return accounts{db} }

func (s accounts) Account(ctx context.Context, id string) (account.Account, error) {
	return find(ctx, s.db, accountTable, "id = $1", id)
}

func (s accounts) ShareAccount(ctx context.Context, id string) (a account.Account, err error) {
	err = s.db.read(ctx, func(q querier) error {
		a, err = accountTable.share(ctx, q, "id = $1", id)
		return err
	})
	return a, err
}

func (s accounts) Accounts(ctx context.Context) ([]account.Account, error) {
	return list(ctx, s.db, accountTable, "true ORDER BY seq")
}

func (s accounts) AddAccount(ctx context.Context, a account.Account) error {
	return s.db.write(ctx, func(tx pgx.Tx) error { return accountTable.insert(ctx, tx, a) })
}

func (s accounts) UpdateAccount(ctx context.Context, a account.Account) error {
	return s.db.write(ctx, func(tx pgx.Tx) error { return accountTable.replace(ctx, tx, a) })
}

func (s accounts) DeleteAccount(ctx context.Context, id string) error {
	return s.db.write(ctx, func(tx pgx.Tx) error { return accountTable.remove(ctx, tx, id) })
}

func (s accounts) Client(ctx context.Context, id string) (account.Client, error) {
	row, err := find(ctx, s.db, clientTable, "id = $1", id)
	return row.client(), err
}

func (s accounts) Clients(ctx context.Context, accountID string) ([]account.Client, error) {
	rows, err := list(ctx, s.db, clientTable, "account = $1 ORDER BY seq", accountID)
	return convert(rows, clientRow.client), err
}

func (s accounts) AddClient(ctx context.Context, c account.Client) error {
	return s.db.write(ctx, func(tx pgx.Tx) error { return clientTable.insert(ctx, tx, storedClient(c)) })
}

func (s accounts) UpdateClient(ctx context.Context, c account.Client) error {
	return s.db.write(ctx, func(tx pgx.Tx) error { return clientTable.replace(ctx, tx, storedClient(c)) })
}

func (s accounts) DeleteClient(ctx context.Context, id string) error {
	return s.db.write(ctx, func(tx pgx.Tx) error { return clientTable.remove(ctx, tx, id) })
}

func (s accounts) Token(ctx context.Context, hash []byte) (account.TokenRecord, error) {
	return find(ctx, s.db, tokenTable, "hash = $1", hash)
}

func (s accounts) AddToken(ctx context.Context, t account.TokenRecord) error {
	return s.db.write(ctx, func(tx pgx.Tx) error { return tokenTable.insert(ctx, tx, t) })
}

func (s accounts) DeleteToken(ctx context.Context, hash []byte) error {
	return s.db.write(ctx, func(tx pgx.Tx) error { return tokenTable.remove(ctx, tx, hash) })
}

func (s accounts) DeleteExpiredTokens(ctx context.Context, now time.Time, limit int) (n int, err error) {
	err = s.db.write(ctx, func(tx pgx.Tx) error {
		n, err = tokenTable.removeFirst(ctx, tx, "expires_at", now, limit)
		return err
	})
	return n, err
}

var ledgerTable = table[account.Line]{
	name:    "ledger",
	columns: []string{"id", "account", "api", "at", "free"},
	fields: func(l *account.Line) []any {
		return []any{&l.ID, &l.Account, (*string)(&l.API), &l.At, &l.Free}
	},
}

func (s accounts) AddLine(ctx context.Context, l account.Line) error {
	return s.db.write(ctx, func(tx pgx.Tx) error { return ledgerTable.insert(ctx, tx, l) })
}

// addSignature adds a line that is not free, and does not lock the account. The line is then made free if the account still
// has free signatures, which locks the account until the end of the transaction.
const (
	addSignature = `WITH owner AS (SELECT signatures FROM accounts WHERE id = $2),
		line AS (INSERT INTO ledger (id, account, api, at, free) SELECT $1, $2, $3, $4, false FROM owner ON CONFLICT DO NOTHING RETURNING id)
		SELECT signatures < $5 AND EXISTS (SELECT FROM line) FROM owner`
	makeFree = `WITH owner AS (UPDATE accounts SET signatures = signatures + 1 WHERE id = $2 AND signatures < $3 RETURNING id)
		UPDATE ledger SET free = true FROM owner WHERE ledger.id = $1`
)

func (s accounts) AddSignature(ctx context.Context, l account.Line) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		if !storable(l.ID, l.Account) {
			return storage.ErrNotFound
		}
		var perhapsFree bool
		err := tx.QueryRow(ctx, addSignature, l.ID, l.Account, string(l.API), l.At, account.FreeSignatures).Scan(&perhapsFree)
		if err != nil || !perhapsFree {
			return err
		}
		_, err = tx.Exec(ctx, makeFree, l.ID, l.Account, account.FreeSignatures)
		return err
	})
}

func (s accounts) DeleteLines(ctx context.Context, of string, limit int) (lines []account.Line, err error) {
	err = s.db.write(ctx, func(tx pgx.Tx) error {
		lines, err = deleteReturning(ctx, tx, ledgerTable, "account", of, limit)
		return err
	})
	return lines, err
}

func (s accounts) Lines(ctx context.Context, account string, from, to time.Time) iter.Seq2[account.Line, error] {
	return walk(ctx, s.db, ledgerTable, keysetOrder{
		where: "account = $1 AND at >= $2 AND at < $3", args: []any{account, from, to}, order: []string{"at", "seq"},
	})
}
