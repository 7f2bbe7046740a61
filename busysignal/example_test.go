package busysignal_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/storage/bolt"
)

func ExampleService_Take() {
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
	signals := busysignal.New(db.BusySignals(), db, busysignal.Options{})
	signal, err := signals.Create(ctx, "my account")
	if err != nil {
		log.Fatal(err)
	}

	user := "anna"
	err = signals.Take(ctx, "my account", signal, busysignal.Holder{ID: "request 1", UserID: &user})
	fmt.Println("request 1:", err)

	err = signals.Take(ctx, "my account", signal, busysignal.Holder{ID: "request 2"})
	var held *busysignal.HeldError
	if errors.As(err, &held) && held.UserID != nil {
		fmt.Println("request 2: held for", *held.UserID)
	}

	if err := signals.Release(ctx, signal, "request 1"); err != nil {
		log.Fatal(err)
	}
	err = signals.Take(ctx, "my account", signal, busysignal.Holder{ID: "request 2"})
	fmt.Println("request 2:", err)
	// Output:
	// request 1: <nil>
	// request 2: held for anna
	// request 2: <nil>
}
