package sealed

import (
	"context"
	"errors"
	"fmt"

	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/storage"
)

// Reseal seals with the first key what lives long and is sealed with another, or not at
// all: the sandbox's authority and the users of the accounts. It says how many values there
// were. store is the backend's own. Requests are not gone through: the last that an older
// key sealed is forgotten when the time for ended requests has passed. Nor is what the signing page
// remembers, which is a matter of hours: without the older key, who was there logs in again.
//
// Several servers may do it at once, and while others serve.
func Reseal(ctx context.Context, tx storage.Transactor, store sandbox.Store, keys *Keys, accounts []string) (n int, err error) {
	p := people{store, keys}
	n, err = p.resealAuthority(ctx, tx)
	for _, account := range accounts {
		if err != nil {
			break
		}
		var more int
		more, err = p.resealUsers(ctx, tx, account)
		n += more
	}
	if err != nil {
		return n, fmt.Errorf("sealing with the first master key: %w", err)
	}
	return n, nil
}

func (s people) resealAuthority(ctx context.Context, tx storage.Transactor) (n int, err error) {
	err = tx.InTx(ctx, func(ctx context.Context) error {
		n = 0
		value, err := s.store.Authority(ctx)
		if errors.Is(err, storage.ErrNotFound) || err == nil && s.keys.current(value) {
			return nil
		}
		if err != nil {
			return err
		}
		encoded, err := s.keys.open(authorityKeys, theAuthority, value)
		if err != nil {
			return err
		}
		n = 1
		return s.UpdateAuthority(ctx, encoded)
	})
	return n, err
}

// resealUsers takes a transaction for each user, so that it holds up nobody.
func (s people) resealUsers(ctx context.Context, tx storage.Transactor, account string) (n int, err error) {
	users, err := s.store.Users(ctx, account)
	if err != nil {
		return 0, err
	}
	for _, u := range users {
		if s.keys.current(u.Key) {
			continue
		}
		err := tx.InTx(ctx, func(ctx context.Context) error {
			u, err := s.User(ctx, account, u.ID) // as it is now
			if err != nil {
				return err
			}
			return s.UpdateUser(ctx, u)
		})
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
