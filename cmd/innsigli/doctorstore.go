package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/sealed"
)

// store looks at the store, and at what is sealed in it.
func (d doctor) store(ctx context.Context, sheet *checkSheet) {
	const what = "store"
	place, err := parseStore(d.flags.Store)
	if err != nil {
		return // which is a fault of the configuration
	}
	if !place.inPostgres() {
		_, err := os.Stat(place.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			sheet.ok(what, place.path+" is made at the first start")
			return
		case newSocketClient(place.socket()).answers(ctx):
			sheet.ok(what, "a server has it open, and answers")
			d.secrets(ctx, newSocketClient(place.socket()), nil, place, sheet)
			return
		}
	}
	db, err := place.openAs(ctx, "innsigli doctor")
	if err != nil {
		sheet.fault(what, plainly(err), storeAdvice(err))
		return
	}
	defer db.Close()
	d.pace(ctx, db, sheet)
	d.secrets(ctx, newDirect(db, place), db.Sandbox(), place, sheet)
}

func storeAdvice(err error) string {
	if advice := databaseAdvice(err); advice != "" {
		return advice
	}
	if errors.Is(err, bolt.ErrLocked) {
		return "Another process has it open and is no server that answers: one that starts or stops, or a backup."
	}
	if errors.Is(err, storage.ErrUnavailable) {
		return "See the host and the port in --store, and whether a firewall is in between."
	}
	return ""
}

// slowStore is an answer that makes itself felt: a call of the API takes several.
const slowStore = 50 * time.Millisecond

// pace is the quickest answer of several: a connection has to be made for the first.
func (d doctor) pace(ctx context.Context, db store, sheet *checkSheet) {
	const what = "store"
	least := time.Duration(0)
	for range 5 {
		began := time.Now()
		if err := storeAnswers(ctx, db); err != nil {
			sheet.fault(what, plainly(err), storeAdvice(err))
			return
		}
		if took := time.Since(began); least == 0 || took < least {
			least = took
		}
	}
	says := fmt.Sprintf("it has its tables, and answers in %v", least.Round(10*time.Microsecond))
	if least > slowStore {
		sheet.doubt(what, says, "Each call of the API waits for several answers: put the servers near the database.")
		return
	}
	sheet.ok(what, says)
}

// storeAnswers is what a server does to find out whether its store does.
func storeAnswers(ctx context.Context, db store) error {
	if db, ok := db.(checked); ok {
		return db.Check(ctx)
	}
	_, err := db.Accounts().Accounts(ctx)
	return err
}

func countKeys(n int, sheet *checkSheet) {
	const what = "webhook keys"
	switch n {
	case 0:
		sheet.ok(what, "one is made at the first start")
	case 1:
		sheet.ok(what, "one signs")
	default:
		sheet.ok(what, fmt.Sprintf("%d sign, until the overlap of a rotation is over", n))
	}
}

// secrets opens what is sealed for long: the keys of webhooks, and the sandbox's authority where no server
// has the store.
func (d doctor) secrets(ctx context.Context, of operator, users sandbox.Store, in place, sheet *checkSheet) {
	const what = "master key"
	path := d.flags.file(in)
	stored, err := of.SealedKeys(ctx)
	if err != nil {
		sheet.fault("webhook keys", plainly(err), storeAdvice(err))
		return
	}
	countKeys(len(stored), sheet)
	keys, err := sealed.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && len(stored) == 0:
		sheet.ok(what, path+" is made at the first start")
		return
	case err != nil:
		sheet.fault(what, plainly(err), "A store that was copied needs the key file of where it comes from.")
		return
	}
	_, err = keys.OpenSigningKeys(stored)
	if err == nil && users != nil {
		_, err = sealed.Sandbox(users, keys).Authority(ctx)
	}
	switch {
	case err != nil && !errors.Is(err, storage.ErrNotFound):
		sheet.fault(what, plainly(err), "Without that key what it sealed is lost.")
	case len(stored) == 0:
		sheet.ok(what, "nothing is sealed yet")
	default:
		sheet.ok(what, "opens what is sealed in the store")
	}
}

const (
	littleRoom = 1 << 30
	noRoom     = 100 << 20
)

// disk looks at the room where a store that is a file grows.
func (d doctor) disk(_ context.Context, sheet *checkSheet) {
	const what = "disk"
	place, err := parseStore(d.flags.Store)
	if err != nil || place.inPostgres() {
		return
	}
	folders := []string{filepath.Dir(place.path)}
	if place.documents != "" {
		folders = append(folders, filepath.Dir(filepath.Clean(place.documents)))
	}
	for _, folder := range folders {
		free, known, err := freeSpace(folder)
		says := fmt.Sprintf("%d MB are free in %s", free>>20, folder)
		switch {
		case err != nil:
			sheet.fault(what, plainly(err), "")
		case !known:
		case free < noRoom:
			sheet.fault(what, says, "Requests are about to be refused with 507: make room.")
		case free < littleRoom:
			sheet.doubt(what, says, "A full disk has requests refused with 507: make room.")
		default:
			sheet.ok(what, says)
		}
	}
}
