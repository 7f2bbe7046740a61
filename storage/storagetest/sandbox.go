package storagetest

import (
	"context"
	"testing"
	"time"

	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/storage"
)

// exampleUser has a value in every field. Its name is also its kennitala and phone.
func exampleUser(name string) sandbox.User {
	return sandbox.User{
		ID: id(name), Account: id("a"), FullName: "Þóra " + name, Kennitala: name, Phone: name,
		Delay: 300 * time.Second, Action: sandbox.Cancel, CreatedAt: base, UpdatedAt: base.Add(time.Second),
		CertifiedName: "Þóra", Certificate: []byte{0, 1}, Key: []byte{2, 255},
	}
}

func addUsers(t *testing.T, b Backend, users ...sandbox.User) {
	t.Helper()
	for _, u := range users {
		do(t, b, func(ctx context.Context) error { return b.Sandbox.CreateUser(ctx, u) })
	}
}

var sandboxUsers = recordType[sandbox.User]{
	examples: []sandbox.User{exampleUser("u"), exampleUser("x")},
	changed: func(u sandbox.User) sandbox.User {
		u.FullName, u.Kennitala, u.Phone, u.Action = "changed", "new", "new", sandbox.Success
		return u
	},
	others: withOtherIDs("u", func(u *sandbox.User, id string) { u.ID = id }),
	get: func(ctx context.Context, b Backend, u sandbox.User) (sandbox.User, error) {
		return b.Sandbox.User(ctx, u.Account, u.ID)
	},
	add:    func(ctx context.Context, b Backend, u sandbox.User) error { return b.Sandbox.CreateUser(ctx, u) },
	update: func(ctx context.Context, b Backend, u sandbox.User) error { return b.Sandbox.UpdateUser(ctx, u) },
	remove: func(ctx context.Context, b Backend, u sandbox.User) error {
		return b.Sandbox.DeleteUser(ctx, u.Account, u.ID)
	},
	unknown: storage.ErrNotFound,
}.and(tests{
	"a user is stored with all fields, and found by ID, kennitala and phone": func(t *testing.T, open func(*testing.T) Backend) {
		b, u := open(t), exampleUser("u")
		u.Kennitala, u.Phone = "120389-456", "+354 555 0101"
		addUsers(t, b, u)
		b = b.Reopen(t)
		got, err := b.Sandbox.User(t.Context(), u.Account, u.ID)
		checkRead(t, got, err, u)
		got, err = b.Sandbox.UserByKennitala(t.Context(), u.Account, "120389456")
		checkRead(t, got, err, u)
		got, err = b.Sandbox.UserByPhone(t.Context(), u.Account, "+354 555 0101")
		checkRead(t, got, err, u)
	},

	"another account's user is not found": func(t *testing.T, open func(*testing.T) Backend) {
		b, u := open(t), exampleUser("u")
		addUsers(t, b, u)
		for _, account := range []string{id("b"), ""} {
			_, err := b.Sandbox.User(t.Context(), account, u.ID)
			checkError(t, err, storage.ErrNotFound)
			_, err = b.Sandbox.UserByKennitala(t.Context(), account, u.Kennitala)
			checkError(t, err, storage.ErrNotFound)
			_, err = b.Sandbox.UserByPhone(t.Context(), account, u.Phone)
			checkError(t, err, storage.ErrNotFound)
			doFailing(t, b, storage.ErrNotFound, func(ctx context.Context) error { return b.Sandbox.DeleteUser(ctx, account, u.ID) })
		}
	},

	"kennitala and phone are unique within the account": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addUsers(t, b, exampleUser("1234567890"), exampleUser("other"))
		kennitala, phone, elsewhere := exampleUser("x"), exampleUser("x"), exampleUser("1234567890")
		kennitala.Kennitala = "123456-7890" // the same but for the hyphen
		phone.Phone = "1234567890"
		elsewhere.ID, elsewhere.Account = id("elsewhere"), id("b")
		for _, u := range []sandbox.User{kennitala, phone} {
			doFailing(t, b, storage.ErrExists, func(ctx context.Context) error { return b.Sandbox.CreateUser(ctx, u) })
			u.ID = id("other")
			doFailing(t, b, storage.ErrExists, func(ctx context.Context) error { return b.Sandbox.UpdateUser(ctx, u) })
		}
		addUsers(t, b, elsewhere)
	},

	"a changed user is found by its new kennitala and phone": func(t *testing.T, open func(*testing.T) Backend) {
		b, u := open(t), exampleUser("u")
		addUsers(t, b, u)
		u.Kennitala, u.Phone = "new", "new"
		do(t, b, func(ctx context.Context) error { return b.Sandbox.UpdateUser(ctx, u) })
		_, err := b.Sandbox.UserByKennitala(t.Context(), u.Account, "u")
		checkError(t, err, storage.ErrNotFound)
		got, err := b.Sandbox.UserByPhone(t.Context(), u.Account, "new")
		checkRead(t, got, err, u)
		addUsers(t, b, exampleUser("x"))
		again := exampleUser("y")
		again.Kennitala, again.Phone = "u", "u" // no longer used
		addUsers(t, b, again)
	},

	"users are listed in the order of their creation": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		want := []sandbox.User{exampleUser("c"), exampleUser("a"), exampleUser("b")}
		addUsers(t, b, want...)
		got, err := b.Sandbox.Users(t.Context(), id("a"))
		checkRead(t, got, err, want)
		got, err = b.Sandbox.Users(t.Context(), id("b"))
		checkRead(t, len(got), err, 0)
	},

	"the test CA is stored once": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		_, err := b.Sandbox.Authority(t.Context())
		checkError(t, err, storage.ErrNotFound)
		checkError(t, b.Sandbox.SaveAuthority(t.Context(), []byte("a")), storage.ErrNoTx)
		do(t, b, func(ctx context.Context) error { return b.Sandbox.SaveAuthority(ctx, []byte{0, 255}) })
		doFailing(t, b, storage.ErrExists, func(ctx context.Context) error { return b.Sandbox.SaveAuthority(ctx, []byte("b")) })
		b = b.Reopen(t)
		got, err := b.Sandbox.Authority(t.Context())
		checkRead(t, got, err, []byte{0, 255})
	},

	"the test CA is replaced": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		replace := func(ctx context.Context) error { return b.Sandbox.UpdateAuthority(ctx, []byte{1}) }
		checkError(t, replace(t.Context()), storage.ErrNoTx)
		doFailing(t, b, storage.ErrNotFound, replace)
		do(t, b, func(ctx context.Context) error { return b.Sandbox.SaveAuthority(ctx, []byte{0}) })
		do(t, b, replace)
		b = b.Reopen(t)
		got, err := b.Sandbox.Authority(t.Context())
		checkRead(t, got, err, []byte{1})
	},
})
