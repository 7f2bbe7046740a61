package sealed

import (
	"context"
	"time"

	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
)

const (
	userKey       kind = "sandbox user"
	authorityKeys kind = "sandbox authority"
	stateSecret   kind = "signing request"
	certificate   kind = "kept certificate"
)

// theAuthority is the ID of the only authority there is.
const theAuthority = ""

// Sandbox is a store in which the keys of users and of the authority are sealed.
func Sandbox(store sandbox.Store, keys *Keys) sandbox.Store { return people{store, keys} }

// people embeds no store: a method that is new in the interface is to be thought about.
type people struct {
	store sandbox.Store
	keys  *Keys
}

var _ sandbox.Store = people{}

func (s people) CreateUser(ctx context.Context, u sandbox.User) error {
	return s.store.CreateUser(ctx, s.sealed(u))
}

func (s people) UpdateUser(ctx context.Context, u sandbox.User) error {
	return s.store.UpdateUser(ctx, s.sealed(u))
}

func (s people) DeleteUser(ctx context.Context, account, id string) error {
	return s.store.DeleteUser(ctx, account, id)
}

func (s people) User(ctx context.Context, account, id string) (sandbox.User, error) {
	return s.opened(s.store.User(ctx, account, id))
}

func (s people) UserByKennitala(ctx context.Context, account, kennitala string) (sandbox.User, error) {
	return s.opened(s.store.UserByKennitala(ctx, account, kennitala))
}

func (s people) UserByPhone(ctx context.Context, account, phone string) (sandbox.User, error) {
	return s.opened(s.store.UserByPhone(ctx, account, phone))
}

func (s people) Users(ctx context.Context, account string) ([]sandbox.User, error) {
	list, err := s.store.Users(ctx, account)
	for i := range list {
		if list[i], err = s.opened(list[i], err); err != nil {
			return nil, err
		}
	}
	return list, err
}

func (s people) Authority(ctx context.Context) ([]byte, error) {
	value, err := s.store.Authority(ctx)
	if err != nil {
		return nil, err
	}
	return s.keys.open(authorityKeys, theAuthority, value)
}

func (s people) SaveAuthority(ctx context.Context, encoded []byte) error {
	return s.store.SaveAuthority(ctx, s.keys.seal(authorityKeys, theAuthority, encoded))
}

func (s people) UpdateAuthority(ctx context.Context, encoded []byte) error {
	return s.store.UpdateAuthority(ctx, s.keys.seal(authorityKeys, theAuthority, encoded))
}

func (s people) sealed(u sandbox.User) sandbox.User {
	u.Key = s.keys.seal(userKey, u.ID, u.Key)
	return u
}

func (s people) opened(u sandbox.User, err error) (sandbox.User, error) {
	if err != nil {
		return u, err
	}
	if u.Key, err = s.keys.open(userKey, u.ID, u.Key); err != nil {
		return sandbox.User{}, err
	}
	return u, nil
}

// Requests is a store in which the secret part of each request's State is sealed, and kept
// certificates are.
func Requests(store signing.Store, keys *Keys) signing.Store { return requests{store, keys} }

// requests embeds no store either.
type requests struct {
	store signing.Store
	keys  *Keys
}

var _ signing.Store = requests{}

func (s requests) CreateRequest(ctx context.Context, r signing.Request) error {
	return s.store.CreateRequest(ctx, s.sealed(r))
}

func (s requests) UpdateRequest(ctx context.Context, r signing.Request) error {
	return s.store.UpdateRequest(ctx, s.sealed(r))
}

func (s requests) Request(ctx context.Context, id string) (signing.Request, error) {
	return s.opened(s.store.Request(ctx, id))
}

func (s requests) RequestByKey(ctx context.Context, client, key string) (signing.Request, error) {
	return s.opened(s.store.RequestByKey(ctx, client, key))
}

func (s requests) DeleteRequest(ctx context.Context, id string) error {
	return s.store.DeleteRequest(ctx, id)
}

func (s requests) Abandoned(ctx context.Context, account string, before time.Time, limit int) ([]signing.Request, error) {
	list, err := s.store.Abandoned(ctx, account, before, limit)
	return s.toClear(list), err
}

func (s requests) RequestsBefore(ctx context.Context, before time.Time, limit int) ([]signing.Request, error) {
	list, err := s.store.RequestsBefore(ctx, before, limit)
	return s.toClear(list), err
}

func (s requests) Unfinished(ctx context.Context, before time.Time, limit int) ([]signing.Request, error) {
	list, err := s.store.Unfinished(ctx, before, limit)
	return s.toClear(list), err
}

func (s requests) sealed(r signing.Request) signing.Request {
	r.State.Secret = s.keys.seal(stateSecret, r.ID, r.State.Secret)
	return r
}

// opened opens the secret of a request. One that has ended needs it no more, and is
// remembered also when its key is gone.
func (s requests) opened(r signing.Request, err error) (signing.Request, error) {
	if err != nil {
		return r, err
	}
	r.State.Secret, err = s.keys.open(stateSecret, r.ID, r.State.Secret)
	if err != nil && r.Phase != signing.Ended {
		return signing.Request{}, err
	}
	return r, nil
}

// toClear opens the secrets of requests that are listed to be cleared away. One that does
// not open is left out: it must not keep the others from being cleared.
func (s requests) toClear(list []signing.Request) []signing.Request {
	for i, r := range list {
		list[i].State.Secret, _ = s.keys.open(stateSecret, r.ID, r.State.Secret)
	}
	return list
}
