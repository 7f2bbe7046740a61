// Command own-server is the server in a program of its own: its records are in bbolt, its documents in files of its own,
// an identity provider of its own signs, and mail is printed. "innsigli account" and "innsigli client" work on its store. It is
// for trials: the keys that sign, and the root that certifies them, are new at each start, and no person can log in on a signing page.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/server"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/sealed"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	provider, err := newSeals()
	if err == nil {
		err = run(ctx, ".", "127.0.0.1:8080", provider)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// run runs the server at an address, with its files in a folder.
func run(ctx context.Context, folder, address string, provider seals) error {
	store, keyFile, documents := filepath.Join(folder, "own.db"), filepath.Join(folder, "own.key"), filepath.Join(folder, "documents")
	if err := errors.Join(sealed.MakeFile(keyFile), os.MkdirAll(documents, 0o700)); err != nil {
		return err
	}
	keys, err := sealed.ReadFile(keyFile)
	if err != nil {
		return err
	}
	if _, _, err := bolt.Migrate(store, bolt.Options{}); err != nil { // from an earlier version of the package
		return err
	}
	db, err := bolt.Open(store, bolt.Options{})
	if err != nil {
		return err
	}
	s, err := server.New(ctx, server.Config{
		BaseURL:        "http://" + address,
		Backend:        backend{db, files{documents, db, db.Pages()}},
		MasterKey:      keys,
		Provider:       provider,
		Sources:        func() ades.Sources { return provider.authority.Sources(nil) },
		Mail:           printed{},
		Webhooks:       server.Webhooks{AllowPrivate: true},
		Listen:         address,
		OperatorSocket: store + ".sock",
		Log:            slog.Default(),
	})
	if err == nil {
		err = errors.Join(s.Run(ctx), s.Close())
	}
	return errors.Join(err, db.Close())
}

// backend is bbolt with documents of its own. It embeds the interface: the methods of *bolt.DB for backups know nothing of
// these documents.
type backend struct {
	server.Backend
	documents storage.Documents
}

func (b backend) Documents() storage.Documents { return b.documents }

// printed is mail that is printed.
type printed struct{}

func (printed) Send(_ context.Context, m server.Message) error {
	_, err := fmt.Printf("To: %s\nSubject: %s\n\n%s\n", m.To, m.Subject, m.Text)
	return err
}
