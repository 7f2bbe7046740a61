package sandbox_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"slices"
	"testing"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/idptest"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/storage/bolt"
)

// stored is whom the golden States are about.
var stored = idp.Person{Account: account, Kennitala: "9999999999", Phone: "9999999"}

// addStoredUser adds that user, whose key is always the same.
func addStoredUser(t testing.TB, db *bolt.DB, certificate []byte) {
	t.Helper()
	u := sandbox.User{
		ID: "0b0e0d7e-8f0e-4c5e-9a57-3f5a1c0f6a01", Account: stored.Account, Kennitala: stored.Kennitala, Phone: stored.Phone,
		Action: sandbox.Success, Certificate: certificate,
	}
	var err error
	if u.Key, err = x509.MarshalPKCS8PrivateKey(storedKey(t)); err != nil {
		t.Fatal(err)
	}
	if err := db.InTx(t.Context(), func(ctx context.Context) error { return db.Sandbox().CreateUser(ctx, u) }); err != nil {
		t.Fatal(err)
	}
}

func storedKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), slices.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// golden is what conversations of version 1 have stored, and the user's certificate.
func golden(t testing.TB) (all []idptest.Stored, certificate []byte) {
	all = idptest.Golden(t, "testdata/state-1", func() []idptest.Stored {
		issued := certtest.Issue(t, x509.Certificate{Subject: pkix.Name{SerialNumber: stored.Kennitala}}, storedKey(t), nil, nil)
		db := openStore(t)
		addStoredUser(t, db, issued.Raw)
		s, err := sandbox.Open(t.Context(), db.Sandbox(), db, sandbox.Options{})
		if err != nil {
			t.Fatal(err)
		}
		app, sim := stored, stored
		app.Method, sim.Method = idp.App, idp.SIM
		b := idptest.Backend{Provider: s}
		return append(idptest.Converse(t, b, app), idptest.Converse(t, b, sim)...)
	})
	return all, all[len(all)-1].Certificate
}
