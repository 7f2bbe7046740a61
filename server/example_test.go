package server_test

import (
	"context"
	"log"
	"os"
	"os/signal"

	"github.com/innsigli/innsigli/idp/simulated"
	"github.com/innsigli/innsigli/server"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/sealed"
)

// The whole server in a program of one's own. A provider of real people takes the place of the simulated ones, and a backend
// of one's own that of bbolt.
func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	keys, err := sealed.ReadFile("sign.key") // that sealed.MakeFile has made once
	if err != nil {
		log.Fatal(err)
	}
	db, err := bolt.Open("sign.db", bolt.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	provider, err := simulated.New(simulated.Options{})
	if err != nil {
		log.Fatal(err)
	}
	s, err := server.New(ctx, server.Config{
		BaseURL:   "https://sign.example",
		Backend:   db,
		MasterKey: keys,
		Provider:  provider,
		Listen:    "127.0.0.1:8080",
	})
	if err != nil {
		log.Fatal(err) // which names all that is missing
	}
	defer s.Close()
	if err := s.Run(ctx); err != nil {
		log.Fatal(err)
	}
}
