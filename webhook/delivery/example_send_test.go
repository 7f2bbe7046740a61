package delivery_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/webhook"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// A subscription is created and activated, and receives an event. The service and the endpoint are in one process
// here.
func ExampleService() {
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

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	hooks := delivery.New(db.Webhooks(), db, db.Jobs(), delivery.Options{
		EventTypes: []string{"process.completed"},
		Endpoints:  delivery.Endpoints{AllowPrivate: true}, // it is on this machine
	})
	defer hooks.Close()
	if err := hooks.EnsureKey(ctx); err != nil {
		log.Fatal(err)
	}

	mux := http.NewServeMux()
	endpoint := httptest.NewServer(mux)
	defer endpoint.Close()
	subscription, err := hooks.Create(ctx, "my account", endpoint.URL+"/hooks", []string{"process.completed"})
	if err != nil {
		log.Fatal(err)
	}

	// The receiver's side.
	key, err := webhook.ParseKey(hex.EncodeToString(subscription.Secret))
	if err != nil {
		log.Fatal(err)
	}
	receiver := webhook.Receiver{Keys: []webhook.Key{key}}
	arrived := make(chan string, 1)
	mux.Handle("POST /hooks", receiver.Handler(func(ctx context.Context, e webhook.Event) error {
		arrived <- fmt.Sprintf("%s %s", e.Type, e.Data)
		return nil
	}))

	subscription, err = hooks.Activate(ctx, "my account", subscription.ID)
	fmt.Println("active:", subscription.Active, err)

	// The event and the change that it reports are stored together.
	err = db.InTx(ctx, func(ctx context.Context) error {
		return hooks.Emit(ctx, "my account", "process.completed", time.Now(), map[string]int{"participants": 2})
	})
	if err != nil {
		log.Fatal(err)
	}
	var worker sync.WaitGroup
	worker.Go(func() { work(ctx, hooks, db) })
	fmt.Println(<-arrived)
	cancel()
	worker.Wait()
	// Output:
	// active: true <nil>
	// process.completed {"participants":2}
}

// work does jobs one by one. A server does many at once.
func work(ctx context.Context, hooks *delivery.Service, db *bolt.DB) {
	for ctx.Err() == nil {
		for _, kind := range hooks.Work() {
			if err := workOn(ctx, kind, db); err != nil && ctx.Err() == nil {
				log.Print(err)
			}
		}
		select {
		case <-ctx.Done():
		case <-db.Jobs().Enqueued():
		case <-time.After(time.Second): // time: nothing is waited for here but what is due later
		}
	}
}

func workOn(ctx context.Context, kind delivery.Work, db *bolt.DB) error {
	var leases []storage.Lease
	err := db.InTx(ctx, func(ctx context.Context) (err error) {
		leases, err = db.Jobs().Claim(ctx, kind.Kind, time.Now(), 1, kind.PerGroup, kind.Timeout)
		return err
	})
	if err != nil || len(leases) == 0 {
		return err
	}
	then, err := kind.Do(ctx, leases[0].Job)
	if err != nil {
		return err // it is claimed again when its lease has run out
	}
	return db.InTx(ctx, func(ctx context.Context) error {
		if err := db.Jobs().Finish(ctx, leases[0]); err != nil || then == nil {
			return err
		}
		return then(ctx)
	})
}
