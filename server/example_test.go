package server_test

import (
	"context"
	"crypto/x509"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/online"
	"github.com/innsigli/innsigli/idp/simulated"
	"github.com/innsigli/innsigli/server"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/sealed"
)

// The whole server in a program of one's own. A provider of real people takes the place of the simulated ones, and a backend
// of one's own that of bbolt. Sources are for levels above B: timestamps, revocation, and the roots that are trusted.
func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
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
	sources := ades.Sources{
		Roots:      x509.NewCertPool(), // with those of the provider
		Time:       &online.TSA{URL: "https://tsa.example"},
		Revocation: &online.Revocation{},
	}
	provider, err := simulated.New(simulated.Options{})
	if err != nil {
		log.Fatal(err)
	}
	s, err := server.New(ctx, server.Config{
		BaseURL:   "https://sign.example",
		Backend:   db,
		MasterKey: keys,
		Provider:  provider,
		Sources:   func() ades.Sources { return sources },
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
