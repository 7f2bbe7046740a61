package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/storage"
)

var (
	userTable = table[userRow]{
		name: "sandbox_users",
		columns: []string{
			"id", "account", "full_name", "kennitala", "normal_kennitala", "phone", "delay", "action",
			"created_at", "updated_at", "certified_name", "certificate", "key",
		},
		fields: func(u *userRow) []any {
			return []any{
				&u.ID, &u.Account, &u.FullName, &u.Kennitala, &u.normalKennitala, &u.Phone, (*int64)(&u.Delay), (*string)(&u.Action),
				&u.CreatedAt, &u.UpdatedAt, &u.CertifiedName, &u.Certificate, &u.Key,
			}
		},
	}

	authorityTable = table[authorityRow]{
		name:    "sandbox_authority",
		columns: []string{"single", "encoded"},
		fields:  func(a *authorityRow) []any { return []any{&a.single, &a.encoded} },
	}
)

// userRow is a stored user, with the normalized kennitala by which the user is found.
type userRow struct {
	sandbox.User
	normalKennitala string
}

func storedUser(u sandbox.User) userRow { return userRow{u, idp.NormalizeKennitala(u.Kennitala)} }

func (r userRow) user() sandbox.User { return r.User }

// authorityRow is the row of the test CA.
type authorityRow struct {
	single  bool // always true: the key of the only row
	encoded []byte
}

// sandboxes is the sandbox.Store of a DB.
type sandboxes struct{ db *DB }

var _ sandbox.Store = sandboxes{}

// Sandbox returns the store of sandbox users and of the test CA.
func (db *DB) Sandbox() sandbox.Store { return sandboxes{db} }

func (s sandboxes) CreateUser(ctx context.Context, u sandbox.User) error {
	return s.db.write(ctx, func(tx pgx.Tx) error { return userTable.insert(ctx, tx, storedUser(u)) })
}

// UpdateUser sets a savepoint: if the update conflicts with another user, the transaction can go on.
func (s sandboxes) UpdateUser(ctx context.Context, u sandbox.User) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		return pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error { return userTable.replace(ctx, tx, storedUser(u)) })
	})
}

func (s sandboxes) DeleteUser(ctx context.Context, account, id string) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		if !storable(account, id) {
			return storage.ErrNotFound
		}
		tag, err := tx.Exec(ctx, "DELETE FROM sandbox_users WHERE account = $1 AND id = $2", account, id)
		if err == nil && tag.RowsAffected() == 0 {
			return storage.ErrNotFound
		}
		return err
	})
}

func (s sandboxes) User(ctx context.Context, account, id string) (sandbox.User, error) {
	return s.find(ctx, "account = $1 AND id = $2", account, id)
}

func (s sandboxes) UserByKennitala(ctx context.Context, account, kennitala string) (sandbox.User, error) {
	return s.find(ctx, "account = $1 AND normal_kennitala = $2", account, kennitala)
}

func (s sandboxes) UserByPhone(ctx context.Context, account, phone string) (sandbox.User, error) {
	return s.find(ctx, "account = $1 AND phone = $2", account, phone)
}

func (s sandboxes) find(ctx context.Context, condition string, args ...any) (sandbox.User, error) {
	row, err := find(ctx, s.db, userTable, condition, args...)
	return row.user(), err
}

func (s sandboxes) Users(ctx context.Context, account string) ([]sandbox.User, error) {
	rows, err := list(ctx, s.db, userTable, "account = $1 ORDER BY seq", account)
	return convert(rows, userRow.user), err
}

func (s sandboxes) Authority(ctx context.Context) ([]byte, error) {
	row, err := find(ctx, s.db, authorityTable, "single")
	return row.encoded, err
}

func (s sandboxes) SaveAuthority(ctx context.Context, encoded []byte) error {
	return s.db.write(ctx, func(tx pgx.Tx) error { return authorityTable.insert(ctx, tx, authorityRow{true, encoded}) })
}

func (s sandboxes) UpdateAuthority(ctx context.Context, encoded []byte) error {
	return s.db.write(ctx, func(tx pgx.Tx) error { return authorityTable.replace(ctx, tx, authorityRow{true, encoded}) })
}
