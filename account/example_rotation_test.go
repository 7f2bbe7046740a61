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

// A client gets another secret without a moment in which it has none that works.
func ExampleService_AddSecret() {
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
	client, before, err := accounts.CreateClient(ctx, owner.ID, "archive", account.Scopes())
	if err != nil {
		log.Fatal(err)
	}
	_, after, err := accounts.AddSecret(ctx, client.ID)
	if err != nil {
		log.Fatal(err)
	}
	works := func(secret string) bool {
		_, err := accounts.Issue(ctx, client.ID, secret, nil)
		return err == nil
	}
	fmt.Println(works(before), works(after))
	if err := accounts.RemoveSecret(ctx, client.ID, account.FirstSecret); err != nil {
		log.Fatal(err)
	}
	fmt.Println(works(before), works(after))
	// Output:
	// true true
	// false true
}
