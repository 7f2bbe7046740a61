package server

import (
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/server/operator"
	"github.com/innsigli/innsigli/storage/bolt"
)

// spec 6.5: an account that an operator makes has a payment method in a sandbox, by the server's word or else by the store's, and
// none in production.
func TestNewAccountsHaveAPaymentMethodInASandbox(t *testing.T) {
	_, sandbox := newServer(t, filepath.Join(t.TempDir(), "sandbox.db"), nil)
	production, err := bolt.Open(filepath.Join(t.TempDir(), "production.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer production.Close()
	for name, test := range map[string]struct {
		store operator.Store
		says  *bool
		want  bool
	}{
		"a sandbox's store":                       {sandbox, nil, true},
		"a production's store":                    {production, nil, false},
		"a trial's server":                        {sandbox, new(false), false},
		"a sandbox's server without an authority": {production, new(true), true},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := operator.New(test.store, operator.Options{PaymentMethod: test.says}).CreateAccount(t.Context(), "Example Ltd.")
			if err != nil || a.PaymentMethod != test.want || a.Quota != 10<<30 {
				t.Errorf("%+v, %v", a, err)
			}
		})
	}
}
