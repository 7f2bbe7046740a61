package main

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/postgres"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// store is an open store; each backend's DB is one.
type store interface {
	storage.Transactor
	Accounts() account.Store
	BusySignals() busysignal.Store
	Requests() signing.Store
	Sandbox() sandbox.Store
	Documents() storage.Documents
	Jobs() storage.Jobs
	EvidenceLog() storage.EvidenceLog
	Webhooks() delivery.Store
	Processes() portal.Store
	Pages() storage.Records
	AllCertificates(ctx context.Context) iter.Seq2[signing.KeptCertificate, error]
	AllSubscriptions(ctx context.Context) iter.Seq2[delivery.Subscription, error]
	AllProcesses(ctx context.Context) iter.Seq2[portal.Process, error]
	AllUnopened(ctx context.Context) iter.Seq2[portal.Process, error]
	Close() error
}

var (
	_ transferable = (*bolt.DB)(nil)
	_ transferable = (*postgres.DB)(nil)
)

// place is where a store is, as --store says.
type place struct {
	path      string // of bbolt's file; empty: the store is in Postgres
	documents string // folder of its documents; empty: they are in the file
	url       string // of the database, which may have a password in it
}

// storeForms are the forms of a --store.
const storeForms = "bolt:PATH, bolt:PATH?documents=FOLDER or postgres://HOST/DATABASE"

// parseStore reads a --store. What is wrong is not repeated: it may have a password in it.
func parseStore(text string) (place, error) {
	if strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://") {
		if postgres.CheckURL(text) != nil { // whose error says no more
			return place{}, fmt.Errorf("%w: --store is not of the form %s", errUsage, storeForms)
		}
		return place{url: text}, nil
	}
	rest, ok := strings.CutPrefix(text, "bolt:")
	path, folder, inFolder := strings.Cut(rest, "?documents=")
	if !ok || path == "" || strings.Contains(path, "?") || inFolder && folder == "" {
		return place{}, fmt.Errorf("%w: --store is not of the form %s", errUsage, storeForms)
	}
	return place{path: path, documents: folder}, nil
}

// inPostgres says that the store is in a database, which several servers may use.
func (p place) inPostgres() bool { return p.url != "" }

// socket is where a server that has the store listens for its operator's commands; empty
// for a database, which the commands open themselves.
func (p place) socket() string {
	if p.inPostgres() {
		return ""
	}
	return p.path + ".sock"
}

func (p place) options() bolt.Options { return bolt.Options{DocumentFolder: p.documents} }

// open opens the store. A database has to have its tables already.
func (p place) open(ctx context.Context) (store, error) { return p.openAs(ctx, "") }

// openAs opens it with connections of that name, if it is a database.
func (p place) openAs(ctx context.Context, name string) (store, error) {
	if !p.inPostgres() {
		return orNil(bolt.Open(p.path, p.options()))
	}
	return orNil(postgres.Open(ctx, p.url, postgres.Options{Name: name}))
}

// orNil keeps a nil pointer from becoming a store that is not nil.
func orNil[S store](db S, err error) (store, error) {
	if err != nil {
		return nil, err
	}
	return db, nil
}

// openToServe opens the store for a server. Of several that start at once on a database
// one makes the tables, while the others wait; each change of them only adds, so that
// servers of the version before go on.
func (p place) openToServe(ctx context.Context) (store, error) {
	if p.inPostgres() {
		if _, _, err := postgres.Migrate(ctx, p.url); err != nil {
			return nil, err
		}
	}
	return p.open(ctx)
}
