package bolt

import (
	"context"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/storage"
)

var (
	usersOfAccount = index[userRecord]{bucket: "sandbox.user.account", key: func(u userRecord) []byte { return text(u.Account) }}

	usersByKennitala = index[userRecord]{bucket: "sandbox.user.kennitala", unique: true, key: func(u userRecord) []byte {
		return append(text(u.Account), text(idp.NormalizeKennitala(u.Kennitala))...)
	}}

	usersByPhone = index[userRecord]{bucket: "sandbox.user.phone", unique: true, key: func(u userRecord) []byte {
		return append(text(u.Account), text(u.Phone)...)
	}}

	userTable = table[userRecord]{bucket: "sandbox.user", indexes: []index[userRecord]{usersOfAccount, usersByKennitala, usersByPhone}}

	authorityTable = table[authorityRecord]{bucket: "sandbox.authority"}
)

type userRecord struct {
	ID            string         `json:"id"`
	Account       string         `json:"account"`
	FullName      string         `json:"fullName"`
	Kennitala     string         `json:"kennitala"`
	Phone         string         `json:"phone"`
	Delay         time.Duration  `json:"delay"`
	Action        sandbox.Action `json:"action"`
	CreatedAt     time.Time      `json:"createdAt"`
	UpdatedAt     time.Time      `json:"updatedAt"`
	CertifiedName string         `json:"certifiedName"`
	Certificate   []byte         `json:"certificate"`
	Key           []byte         `json:"key"`
}

type authorityRecord struct {
	Encoded []byte `json:"encoded"`
}

// theAuthority is the id of the only authority there is.
const theAuthority = "sandbox"

// sandboxes is the sandbox.Store of a DB.
type sandboxes struct{ db *DB }

var _ sandbox.Store = sandboxes{}

// Sandbox is the store of sandbox users and their authority.
func (db *DB) Sandbox() sandbox.Store { return sandboxes{db} }

func (s sandboxes) CreateUser(ctx context.Context, u sandbox.User) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return userTable.insert(tx, u.ID, userRecord(u))
	})
}

func (s sandboxes) UpdateUser(ctx context.Context, u sandbox.User) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return userTable.update(tx, u.ID, userRecord(u))
	})
}

func (s sandboxes) DeleteUser(ctx context.Context, account, id string) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return userTable.removeIf(tx, id, func(r userRecord) error {
			if r.Account != account {
				return storage.ErrNotFound
			}
			return nil
		})
	})
}

func (s sandboxes) User(ctx context.Context, account, id string) (sandbox.User, error) {
	record, err := read(ctx, s.db, userTable, id)
	if err == nil && record.Account != account {
		return sandbox.User{}, storage.ErrNotFound
	}
	return sandbox.User(record), err
}

func (s sandboxes) UserByKennitala(ctx context.Context, account, kennitala string) (sandbox.User, error) {
	return s.find(ctx, usersByKennitala, append(text(account), text(kennitala)...))
}

func (s sandboxes) UserByPhone(ctx context.Context, account, phone string) (sandbox.User, error) {
	return s.find(ctx, usersByPhone, append(text(account), text(phone)...))
}

func (s sandboxes) find(ctx context.Context, ix index[userRecord], key []byte) (u sandbox.User, err error) {
	err = s.db.read(ctx, func(tx *boltTx) error {
		record, err := userTable.find(tx, ix, key)
		u = sandbox.User(record)
		return err
	})
	return u, err
}

func (s sandboxes) Users(ctx context.Context, account string) ([]sandbox.User, error) {
	records, err := list(ctx, s.db, userTable, usersOfAccount, under(text(account)))
	return convert(records, func(r userRecord) sandbox.User { return sandbox.User(r) }), err
}

func (s sandboxes) Authority(ctx context.Context) ([]byte, error) {
	record, err := read(ctx, s.db, authorityTable, theAuthority)
	return record.Encoded, err
}

func (s sandboxes) SaveAuthority(ctx context.Context, encoded []byte) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return authorityTable.insert(tx, theAuthority, authorityRecord{encoded})
	})
}

func (s sandboxes) UpdateAuthority(ctx context.Context, encoded []byte) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return authorityTable.update(tx, theAuthority, authorityRecord{encoded})
	})
}
