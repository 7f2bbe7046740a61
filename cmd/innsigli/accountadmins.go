package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/innsigli/innsigli/account"
)

type accountAdmins struct {
	storeFlag
	Account   string   `arg:"" help:"ID of the account."`
	Addresses []string `arg:"" optional:"" name:"address" help:"Addresses for mail, in place of those there are."`
	None      bool     `help:"Nobody, in place of those there are."`
}

func (accountAdmins) Help() string {
	return "Without an address it prints those there are, one on a line.\n\nExample: innsigli account admins 0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11 admin@example.is"
}

func (c accountAdmins) Run(ctx context.Context, s streams) error {
	if c.None && len(c.Addresses) > 0 {
		return fmt.Errorf("%w: --none and addresses exclude each other", errUsage)
	}
	return withOperator(ctx, c.Store, func(o operator) error {
		if c.None || len(c.Addresses) > 0 {
			return o.SetAdmins(ctx, c.Account, c.Addresses)
		}
		accounts, err := o.Accounts(ctx)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(accounts, func(a account.Account) bool { return a.ID == c.Account })
		if i < 0 {
			return noAccount(c.Account)
		}
		for _, address := range accounts[i].Admins {
			fmt.Fprintln(s.out, address)
		}
		return nil
	})
}

func noAccount(id string) error { return fmt.Errorf("there is no account %q", id) }
