package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/internal/queue"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/postgres"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// backend is a store of what servers keep.
type backend interface {
	storage.Transactor
	Jobs() storage.Jobs
	Documents() storage.Documents
	EvidenceLog() storage.EvidenceLog
	Accounts() account.Store
	Requests() signing.Store
	Processes() portal.Store
	Webhooks() delivery.Store
	Close() error
}

// openBackend opens the store at a URL of Postgres, or in a file. Calls wait that long for a
// connection, 0: as long as in a server.
func openBackend(ctx context.Context, store string, wait time.Duration) (backend, error) {
	if !strings.Contains(store, "://") {
		return orNone(bolt.Open(store, bolt.Options{}))
	}
	if _, _, err := postgres.Migrate(ctx, store, postgres.Options{}); err != nil {
		return nil, err
	}
	return orNone(postgres.Open(ctx, store, postgres.Options{ConnectTimeout: wait}))
}

// orNone keeps a nil pointer from becoming a store that is not nil.
func orNone[B backend](b B, err error) (backend, error) {
	if err != nil {
		return nil, err
	}
	return b, nil
}

// office sends events.
type office struct {
	backend
	hooks *delivery.Service
}

// eventType is the only one.
const eventType = "process.completed"

// patient is what a trial waits for a connection: its events happen whatever else the machine does.
const patient = 3 * time.Minute

func openOffice(ctx context.Context, store string, wait time.Duration) (*office, error) {
	db, err := openBackend(ctx, store, wait)
	if err != nil {
		return nil, err
	}
	o := &office{db, delivery.New(db.Webhooks(), db, db.Jobs(), delivery.Options{
		EventTypes: []string{eventType},
		Endpoints:  delivery.Endpoints{AllowPrivate: true},
	})}
	if err := o.hooks.EnsureKey(ctx); err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

func (o *office) close() error {
	o.hooks.Close()
	return o.Close()
}

// open lets the office do its work until the context ends. lease, unless zero, is how long a
// process that died holds up its jobs.
func (o *office) open(ctx context.Context, lease time.Duration) error {
	r := queue.Runner{Jobs: o.Jobs(), Tx: o, Lease: lease, Failed: func(_ context.Context, job storage.Job, err error) {
		fmt.Fprintf(os.Stderr, "trial: %s: %v\n", cmp.Or(job.Kind, "the store"), err)
	}}
	for _, w := range o.hooks.Work() {
		r.Kinds = append(r.Kinds, queue.Kind{
			Name: w.Kind, DoThen: w.Do, Concurrency: w.Concurrency, PerGroup: w.PerGroup, Timeout: w.Timeout, MaxAttempts: w.MaxAttempts,
		})
	}
	return r.Run(ctx)
}

// news is what events tell: their number, and about as much as a document of two signers does.
type news struct {
	Number     int    `json:"number"`
	Signatures string `json:"signatures"`
}

// emit has the subscriptions of an account told, in the transaction of the context.
func (o *office) emit(ctx context.Context, account string, number int) error {
	signatures := base64.StdEncoding.EncodeToString(make([]byte, 2*256))
	return o.hooks.Emit(ctx, account, eventType, time.Now(), news{number, signatures})
}
