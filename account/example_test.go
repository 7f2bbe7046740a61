package account_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/storage/bolt"
)

func Example() {
	folder, err := os.MkdirTemp("", "innsigli")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	db, err := bolt.Open(filepath.Join(folder, "innsigli.db"), bolt.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	ctx := context.Background()
	accounts := account.New(db.Accounts(), db, account.Options{})
	owner, err := accounts.CreateAccount(ctx, "Example Ltd.")
	if err != nil {
		log.Fatal(err)
	}
	client, secret, err := accounts.CreateClient(ctx, owner.ID, "archive", account.Scopes())
	if err != nil {
		log.Fatal(err)
	}

	token, err := accounts.Issue(ctx, client.ID, secret, []string{account.ScopeSignatures})
	if err != nil {
		log.Fatal(err)
	}
	caller, err := accounts.Authenticate(ctx, token.Value)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(token.ExpiresIn, token.Scopes)
	fmt.Println(caller.AccountID == owner.ID, caller.Has(account.ScopePortalWrite))
	// Output:
	// 1h0m0s [api/signatures]
	// true false
}
