package account_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/storage/bolt"
)

func Example() {
	db, remove := openStore()
	defer remove()
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

// The first three signatures of an account are free, and count for the price of the others.
func ExampleService_Statement() {
	db, remove := openStore()
	defer remove()
	ctx := context.Background()
	accounts := account.New(db.Accounts(), db, account.Options{})
	owner, err := accounts.CreateAccount(ctx, "Example Ltd.")
	if err != nil {
		log.Fatal(err)
	}
	november := time.Date(2026, time.November, 14, 12, 0, 0, 0, time.UTC)
	for range 12 {
		if err := accounts.AddSignature(ctx, owner.ID, uuid.NewString(), true, november); err != nil {
			log.Fatal(err)
		}
	}
	statement, err := accounts.Statement(ctx, owner.ID, november)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(statement.Signatures(), "signatures,", statement.Free, "of them free, at", statement.Price)
	fmt.Println(statement.Amount, "ISK")
	// Output:
	// 12 signatures, 3 of them free, at 215
	// 1935 ISK
}

// A client gets another secret, without a time in which it has no valid secret.
func ExampleService_AddSecret() {
	db, remove := openStore()
	defer remove()
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

// openStore opens a store in a temporary folder, which remove removes.
func openStore() (db *bolt.DB, remove func()) {
	folder, err := os.MkdirTemp("", "innsigli")
	if err != nil {
		log.Fatal(err)
	}
	if db, err = bolt.Open(filepath.Join(folder, "innsigli.db"), bolt.Options{}); err != nil {
		log.Fatal(err)
	}
	return db, func() {
		db.Close()
		os.RemoveAll(folder)
	}
}
