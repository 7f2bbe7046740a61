package sealed

import (
	"context"
	"errors"
	"fmt"

	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/storage"
)

const (
	userKey       kind = "sandbox user"
	authorityKeys kind = "sandbox authority"

	authorityID = "" // there is one authority
)

// Sandbox returns a store that seals the keys of users and of the authority.
func Sandbox(store sandbox.Store, keys *Keys) sandbox.Store { return sandboxStore{store, keys} }

// sandboxStore does not embed the store, so that the compiler requires an implementation of a new method of the
// interface, which may have to seal. The other stores of this package do not embed theirs either.
type sandboxStore struct {
	store sandbox.Store
	keys  *Keys
}

var _ sandbox.Store = sandboxStore{}

func (s sandboxStore) CreateUser(ctx context.Context, u sandbox.User) error {
	return s.store.CreateUser(ctx, s.seal(u))
}

func (s sandboxStore) UpdateUser(ctx context.Context, u sandbox.User) error {
	return s.store.UpdateUser(ctx, s.seal(u))
}

func (s sandboxStore) DeleteUser(ctx context.Context, account, id string) error {
	return s.store.DeleteUser(ctx, account, id)
}

func (s sandboxStore) User(ctx context.Context, account, id string) (sandbox.User, error) {
	return s.open(s.store.User(ctx, account, id))
}

func (s sandboxStore) UserByKennitala(ctx context.Context, account, kennitala string) (sandbox.User, error) {
	return s.open(s.store.UserByKennitala(ctx, account, kennitala))
}

func (s sandboxStore) UserByPhone(ctx context.Context, account, phone string) (sandbox.User, error) {
	return s.open(s.store.UserByPhone(ctx, account, phone))
}

func (s sandboxStore) Users(ctx context.Context, account string) ([]sandbox.User, error) {
	list, err := s.store.Users(ctx, account)
	for i := range list {
		if list[i], err = s.open(list[i], err); err != nil {
			return nil, err
		}
	}
	return list, err
}

func (s sandboxStore) Authority(ctx context.Context) ([]byte, error) {
	value, err := s.store.Authority(ctx)
	if err != nil {
		return nil, err
	}
	return s.keys.open(authorityKeys, authorityID, value)
}

func (s sandboxStore) SaveAuthority(ctx context.Context, encoded []byte) error {
	return s.store.SaveAuthority(ctx, s.keys.seal(authorityKeys, authorityID, encoded))
}

func (s sandboxStore) UpdateAuthority(ctx context.Context, encoded []byte) error {
	return s.store.UpdateAuthority(ctx, s.keys.seal(authorityKeys, authorityID, encoded))
}

func (s sandboxStore) seal(u sandbox.User) sandbox.User {
	u.Key = s.keys.seal(userKey, u.ID, u.Key)
	return u
}

func (s sandboxStore) open(u sandbox.User, err error) (sandbox.User, error) {
	if err != nil {
		return u, err
	}
	if u.Key, err = s.keys.open(userKey, u.ID, u.Key); err != nil {
		return sandbox.User{}, err
	}
	return u, nil
}

// Reseal seals the sandbox's authority and the users of the accounts with the first key, where they are
// sealed with another key, and returns how many values it sealed. store is the backend's store. Reseal does not
// reseal requests, which are deleted when the retention time of ended requests has passed, nor records of the
// signing page, which expire within hours: without the older key, the visitors log in again.
//
// Several servers may call it at the same time, and while other servers are running.
func Reseal(ctx context.Context, tx storage.Transactor, store sandbox.Store, keys *Keys, accounts []string) (n int, err error) {
	s := sandboxStore{store, keys}
	n, err = s.resealAuthority(ctx, tx)
	for _, account := range accounts {
		if err != nil {
			break
		}
		var more int
		more, err = s.resealUsers(ctx, tx, account)
		n += more
	}
	if err != nil {
		return n, fmt.Errorf("encrypting with the first master key: %w", err)
	}
	return n, nil
}

func (s sandboxStore) resealAuthority(ctx context.Context, tx storage.Transactor) (n int, err error) {
	err = tx.InTx(ctx, func(ctx context.Context) error {
		n = 0
		value, err := s.store.Authority(ctx)
		if errors.Is(err, storage.ErrNotFound) || err == nil && s.keys.isCurrent(value) {
			return nil
		}
		if err != nil {
			return err
		}
		encoded, err := s.keys.open(authorityKeys, authorityID, value)
		if err != nil {
			return err
		}
		n = 1
		return s.UpdateAuthority(ctx, encoded)
	})
	return n, err
}

// resealUsers uses a short transaction for each user, so that it does not block other writers.
func (s sandboxStore) resealUsers(ctx context.Context, tx storage.Transactor, account string) (n int, err error) {
	users, err := s.store.Users(ctx, account)
	if err != nil {
		return 0, err
	}
	for _, u := range users {
		if s.keys.isCurrent(u.Key) {
			continue
		}
		err := tx.InTx(ctx, func(ctx context.Context) error {
			u, err := s.User(ctx, account, u.ID) // again, in the transaction
			if err != nil {
				return err
			}
			return s.UpdateUser(ctx, u)
		})
		if errors.Is(err, ErrPlain) {
			continue // it is reported
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
