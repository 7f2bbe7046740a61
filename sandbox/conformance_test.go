package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/idptest"
	"github.com/innsigli/innsigli/sandbox"
)

// The sandbox is a provider like another.
func TestProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { golden(t) }) // made in a bubble if at all, where it is to be read
	idptest.RunInBubble(t, func(t testing.TB) idptest.Backend {
		db := openStore(t)
		older, certificate := golden(t)
		addStoredUser(t, db, certificate)
		store := &shaky{Store: db.Sandbox()}
		openAgain := func(t testing.TB) *sandbox.Sandbox {
			s, err := sandbox.Open(t.Context(), store, db, sandbox.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		s, users := openAgain(t), 0
		return idptest.Backend{
			Provider: s,
			Methods:  []idp.Method{idp.App, idp.SIM},
			Person: func(t testing.TB, _ idp.Method, n idptest.Need) idp.Person {
				users++
				p := idp.Person{Account: account, Kennitala: fmt.Sprintf("%010d", users), Phone: fmt.Sprintf("%07d", users)}
				if n != idptest.Unknown {
					create(t, s, p, n)
				}
				return p
			},
			Break:  func(_ testing.TB, on bool) { store.broken = on },
			Reopen: func(t testing.TB) idp.Provider { return openAgain(t) },
			Code:   func(idp.Method, []ades.Digest) string { return "1234" }, // spec 6.2
			Older:  older,
			Lacks:  map[idptest.Need]string{idptest.Renews: "a user has one key for good"},
		}
	})
}

// create makes the user whom the suite needs.
func create(t testing.TB, s *sandbox.Sandbox, p idp.Person, n idptest.Need) {
	t.Helper()
	name, delay, action := "Sandbox Signer", time.Duration(0), sandbox.Success
	switch n {
	case idptest.Late:
		delay = 3 * time.Second
	case idptest.Silent:
		delay = sandbox.Expiry + time.Second
	case idptest.Refuses:
		action = sandbox.Cancel
	}
	_, err := s.Create(t.Context(), account, sandbox.Profile{FullName: &name, Kennitala: &p.Kennitala, Phone: &p.Phone, Delay: &delay, Action: &action})
	if err != nil {
		t.Fatal(err)
	}
}

// shaky is a store that cannot be read while it is broken.
type shaky struct {
	sandbox.Store
	broken bool
}

var errBroken = errors.New("the store cannot be read")

func (s *shaky) User(ctx context.Context, account, id string) (sandbox.User, error) {
	if s.broken {
		return sandbox.User{}, errBroken
	}
	return s.Store.User(ctx, account, id)
}

func (s *shaky) UserByKennitala(ctx context.Context, account, kennitala string) (sandbox.User, error) {
	if s.broken {
		return sandbox.User{}, errBroken
	}
	return s.Store.UserByKennitala(ctx, account, kennitala)
}

func (s *shaky) UserByPhone(ctx context.Context, account, phone string) (sandbox.User, error) {
	if s.broken {
		return sandbox.User{}, errBroken
	}
	return s.Store.UserByPhone(ctx, account, phone)
}
