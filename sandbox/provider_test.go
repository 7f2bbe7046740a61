package sandbox_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/idptest"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/storage/bolt"
)

const account = "an account"

func openStore(t testing.TB) *bolt.DB {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "store.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func open(t *testing.T) (*sandbox.Sandbox, *bolt.DB) {
	t.Helper()
	db := openStore(t)
	s, err := sandbox.Open(t.Context(), db.Sandbox(), db, sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s, db
}

// person creates a user who answers after the delay.
func person(t *testing.T, s *sandbox.Sandbox, delay time.Duration) idp.Person {
	t.Helper()
	name, kennitala, phone := "Sandbox Signer", "0101302989", "5550101"
	_, err := s.Create(t.Context(), account, sandbox.Profile{FullName: &name, Kennitala: &kennitala, Phone: &phone, Delay: &delay})
	if err != nil {
		t.Fatal(err)
	}
	return idp.Person{Account: account, Kennitala: kennitala, Phone: phone}
}

// RetryAfter is the rest of the delay (spec 6.2), except that the app's first poll, which returns the code, is not
// delayed.
func TestRetryAfter(t *testing.T) {
	second := time.Second
	for _, test := range []struct {
		method idp.Method
		delay  time.Duration
		want   []string // events of Begin and Sign, then of polls with an interval of three seconds
	}{
		{idp.App, 0, []string{"waiting 0s", "waiting 1234 0s", "digest"}},
		{idp.App, 4 * second, []string{"waiting 0s", "waiting 1234 1s", "digest"}},
		{idp.App, 10 * second, []string{"waiting 0s", "waiting 1234 7s", "waiting 1234 4s", "waiting 1234 1s", "digest"}},
		{idp.SIM, 0, []string{"waiting 1234 0s", "signed"}},
		{idp.SIM, 3 * second, []string{"waiting 1234 3s", "signed"}},
		{idp.SIM, 7 * second, []string{"waiting 1234 7s", "waiting 1234 4s", "waiting 1234 1s", "signed"}},
	} {
		t.Run(fmt.Sprint(test.method, " ", test.delay), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := open(t)
				p := person(t, s, test.delay)
				p.Method = test.method
				state, event, err := s.Begin(t.Context(), "key", p, idp.Text{}, nil)
				if _, ok := event.(idp.NeedDigest); ok && err == nil { // with the SIM
					state, event, err = s.Sign(t.Context(), state, []ades.Digest{ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}.Digest(nil)})
				}
				got := []string{describe(event)}
				for range len(test.want) - 1 {
					if err != nil {
						t.Fatal(err)
					}
					time.Sleep(3 * time.Second)
					state, event, err = s.Poll(t.Context(), state)
					got = append(got, describe(event))
				}
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func describe(e idp.Event) string {
	switch e := e.(type) {
	case idp.Waiting:
		if e.Code == "" {
			return fmt.Sprint("waiting ", e.RetryAfter)
		}
		return fmt.Sprint("waiting ", e.Code, " ", e.RetryAfter)
	case idp.NeedDigest:
		return "digest"
	case idp.Signed:
		return "signed"
	}
	return fmt.Sprintf("%#v", e)
}

// The sandbox passes the suite of all providers.
func TestProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { golden(t) }) // a missing file is written in a bubble, since the test reads it in one
	idptest.RunInBubble(t, func(t testing.TB) idptest.Backend {
		db := openStore(t)
		stored, certificate := golden(t)
		addGoldenUser(t, db, certificate)
		store := &fallible{Store: db.Sandbox()}
		reopen := func(t testing.TB) *sandbox.Sandbox {
			s, err := sandbox.Open(t.Context(), store, db, sandbox.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		s, users := reopen(t), 0
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
			Reopen: func(t testing.TB) idp.Provider { return reopen(t) },
			Code:   func(idp.Method, []ades.Digest) string { return "1234" }, // spec 6.2
			Older:  stored,
			Lacks:  map[idptest.Need]string{idptest.Renews: "the key of a user does not change"},
		}
	})
}

// create creates the user that the suite needs.
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

// fallible is a store that cannot be read while broken is set.
type fallible struct {
	sandbox.Store
	broken bool
}

var errBroken = errors.New("the store cannot be read")

func (s *fallible) User(ctx context.Context, account, id string) (sandbox.User, error) {
	if s.broken {
		return sandbox.User{}, errBroken
	}
	return s.Store.User(ctx, account, id)
}

func (s *fallible) UserByKennitala(ctx context.Context, account, kennitala string) (sandbox.User, error) {
	if s.broken {
		return sandbox.User{}, errBroken
	}
	return s.Store.UserByKennitala(ctx, account, kennitala)
}

func (s *fallible) UserByPhone(ctx context.Context, account, phone string) (sandbox.User, error) {
	if s.broken {
		return sandbox.User{}, errBroken
	}
	return s.Store.UserByPhone(ctx, account, phone)
}

// goldenPerson is the person of the golden States.
var goldenPerson = idp.Person{Account: account, Kennitala: "9999999999", Phone: "9999999"}

// addGoldenUser adds the user of the golden States, whose key does not change.
func addGoldenUser(t testing.TB, db *bolt.DB, certificate []byte) {
	t.Helper()
	u := sandbox.User{
		ID: "0b0e0d7e-8f0e-4c5e-9a57-3f5a1c0f6a01", Account: goldenPerson.Account, Kennitala: goldenPerson.Kennitala, Phone: goldenPerson.Phone,
		Action: sandbox.Success, Certificate: certificate,
	}
	var err error
	if u.Key, err = x509.MarshalPKCS8PrivateKey(goldenKey(t)); err != nil {
		t.Fatal(err)
	}
	if err := db.InTx(t.Context(), func(ctx context.Context) error { return db.Sandbox().CreateUser(ctx, u) }); err != nil {
		t.Fatal(err)
	}
}

func goldenKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), slices.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// golden returns the States that version 1 stored, and the user's certificate.
func golden(t testing.TB) (all []idptest.Stored, certificate []byte) {
	all = idptest.Golden(t, "testdata/state-1", func() []idptest.Stored {
		issued := certtest.Issue(t, x509.Certificate{Subject: pkix.Name{SerialNumber: goldenPerson.Kennitala}}, goldenKey(t), nil, nil)
		db := openStore(t)
		addGoldenUser(t, db, issued.Raw)
		s, err := sandbox.Open(t.Context(), db.Sandbox(), db, sandbox.Options{})
		if err != nil {
			t.Fatal(err)
		}
		app, sim := goldenPerson, goldenPerson
		app.Method, sim.Method = idp.App, idp.SIM
		b := idptest.Backend{Provider: s}
		return append(idptest.Converse(t, b, app), idptest.Converse(t, b, sim)...)
	})
	return all, all[len(all)-1].Certificate
}
