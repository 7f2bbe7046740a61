package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/server/config"
	"github.com/innsigli/innsigli/server/operator"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/sealed"
)

// store checks the store, the master key and the jobs.
func (d doctor) store(ctx context.Context, r *Results) {
	const what = "store"
	s := d.conf.Store
	if s == (config.Store{}) {
		return // the configuration has a fault about it
	}
	if !s.InPostgres() {
		_, err := os.Stat(s.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			r.ok(what, s.Path+" is created at the first start")
			return
		case operator.NewClient(s.Socket()).Answers(ctx):
			r.ok(what, "a running server has it open, and answers")
			d.secrets(ctx, operator.NewClient(s.Socket()), nil, r)
			d.jobs(ctx, operator.NewClient(s.Socket()), r)
			return
		}
	}
	db, err := s.Open(ctx, "innsigli doctor")
	if err != nil {
		r.fault(what, oneLine(err), storeAdvice(err))
		return
	}
	defer db.Close()
	if s.InsecureTLS {
		r.doubt(what, "--insecure-database-tls permits a connection to the database that is not verified", "Use sslmode=verify-full in the URL, and leave the flag out.")
	}
	d.latency(ctx, db, r)
	o := operator.New(db, operator.Options{})
	d.secrets(ctx, o, db.Sandbox(), r)
	d.jobs(ctx, o, r)
}

// jobs adds a finding if jobs are parked.
func (d doctor) jobs(ctx context.Context, of operator.Operator, r *Results) {
	const what = "jobs"
	parked, err := of.ParkedJobs(ctx)
	if err != nil {
		r.fault(what, oneLine(err), storeAdvice(err))
		return
	}
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(parked)) {
		kinds = append(kinds, fmt.Sprintf("%d of kind %s", parked[kind], kind))
	}
	if kinds != nil {
		r.doubt(what, "parked: "+strings.Join(kinds, ", "), "\"innsigli job list --state parked\" shows the errors, and \"innsigli job retry\" tries them again.")
	}
}

func storeAdvice(err error) string {
	if advice := config.Advice(err); advice != "" {
		return advice
	}
	if errors.Is(err, bolt.ErrLocked) {
		return "Another process has it open: a server that is starting or stopping, or another command."
	}
	if errors.Is(err, storage.ErrUnavailable) {
		return "Check the host and the port in --store, and whether a firewall blocks the connection."
	}
	return ""
}

// slowStore is a latency that clients notice, since an API call waits for several answers of the store.
const slowStore = 50 * time.Millisecond

// latency checks the shortest latency of several calls of the store. The first call also opens a connection.
func (d doctor) latency(ctx context.Context, db config.DB, r *Results) {
	const what = "store"
	least := time.Duration(0)
	for range 5 {
		began := time.Now()
		if err := storeAnswers(ctx, db); err != nil {
			r.fault(what, oneLine(err), storeAdvice(err))
			return
		}
		if took := time.Since(began); least == 0 || took < least {
			least = took
		}
	}
	says := fmt.Sprintf("its schema is current, and it answers in %v", least.Round(10*time.Microsecond))
	if least > slowStore {
		r.doubt(what, says, "Each API call makes several queries: run the servers near the database.")
		return
	}
	r.ok(what, says)
}

// storeAnswers checks that the store answers, as /readyz of a server does.
func storeAnswers(ctx context.Context, db config.DB) error {
	if db, ok := db.(interface{ Check(context.Context) error }); ok {
		return db.Check(ctx)
	}
	_, err := db.Accounts().Accounts(ctx)
	return err
}

// countKeys adds a finding about the number of webhook keys.
func countKeys(n int, r *Results) {
	const what = "webhook keys"
	switch n {
	case 0:
		r.ok(what, "one is created at the first start")
	case 1:
		r.ok(what, "one key signs")
	default:
		r.ok(what, fmt.Sprintf("%d keys sign, until the overlap of a rotation ends", n))
	}
}

// secrets checks that the master key decrypts the secrets that are stored for long: the keys of webhooks and, if users
// is not nil, the key of the test authority of a sandbox.
func (d doctor) secrets(ctx context.Context, of operator.Operator, users sandbox.Store, r *Results) {
	const what = "master key"
	path := d.conf.Flags.KeyFile(d.conf.Store)
	stored, err := of.SealedKeys(ctx)
	if err != nil {
		r.fault("webhook keys", oneLine(err), storeAdvice(err))
		return
	}
	countKeys(len(stored), r)
	keys, err := sealed.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && len(stored) == 0:
		r.ok(what, path+" is created at the first start")
		return
	case err != nil:
		r.fault(what, oneLine(err), "A copied store needs the key file of the original store.")
		return
	}
	_, err = keys.OpenSigningKeys(stored)
	if err == nil && users != nil {
		_, err = sealed.Sandbox(users, keys).Authority(ctx)
	}
	switch {
	case errors.Is(err, sealed.ErrPlain):
		r.fault(what, oneLine(err), "Another program has changed the store: find out who can write to it.")
	case err != nil && !errors.Is(err, storage.ErrNotFound):
		r.fault(what, oneLine(err), "Use the key file that the store was encrypted with: without it the secrets in the store are lost.")
	case len(stored) == 0:
		r.ok(what, "no secret is encrypted with it yet")
	default:
		r.ok(what, "decrypts the secrets in the store")
	}
}

const (
	lowSpace    = 1 << 30
	hardlySpace = 100 << 20
)

// disk checks the free space for a store of the form bolt:PATH.
func (d doctor) disk(_ context.Context, r *Results) {
	const what = "disk"
	s := d.conf.Store
	if s.Path == "" {
		return
	}
	folders := []string{filepath.Dir(s.Path)}
	if s.Documents != "" {
		folders = append(folders, filepath.Dir(filepath.Clean(s.Documents)))
	}
	for _, folder := range folders {
		free, known, err := freeSpace(folder)
		says := fmt.Sprintf("%d MB are free in %s", free>>20, folder)
		switch {
		case err != nil:
			r.fault(what, oneLine(err), "")
		case !known:
		case free < hardlySpace:
			r.fault(what, says, "Requests will soon be refused with status 507: free disk space.")
		case free < lowSpace:
			r.doubt(what, says, "When the disk is full, requests are refused with status 507: free disk space.")
		default:
			r.ok(what, says)
		}
	}
}
