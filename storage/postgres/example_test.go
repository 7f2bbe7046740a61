package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/postgres"
)

// A database is migrated once, before the first server of a new version starts. Open returns an error if it was not.
func ExampleOpen() {
	ctx, url := context.Background(), os.Getenv("DATABASE_URL")
	if _, _, err := postgres.Migrate(ctx, url, postgres.Options{}); err != nil {
		log.Fatal(err)
	}
	db, err := postgres.Open(ctx, url, postgres.Options{Connections: 20})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	accounts := account.New(db.Accounts(), db, account.Options{})
	list, err := accounts.Accounts(ctx)
	if errors.Is(err, storage.ErrUnavailable) {
		fmt.Println("the database is unavailable")
	}
	fmt.Println(len(list))
}

// Records of several domains are stored in one transaction.
func ExampleDB_InTx() {
	ctx, url := context.Background(), os.Getenv("DATABASE_URL")
	db, err := postgres.Open(ctx, url, postgres.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	accounts := account.New(db.Accounts(), db, account.Options{})
	signals := busysignal.New(db.BusySignals(), db, busysignal.Options{})
	err = db.InTx(ctx, func(ctx context.Context) error {
		owner, err := accounts.CreateAccount(ctx, "Example Ltd.")
		if err != nil {
			return err
		}
		_, err = signals.Create(ctx, owner.ID)
		return err // after an error, the account is not stored either
	})
	fmt.Println(err)
}
