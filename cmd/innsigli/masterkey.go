package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/sealed"
)

// masterKeyFlag names the file of the keys that secrets in the store are sealed with.
type masterKeyFlag struct {
	MasterKeyFile string `name:"master-key-file" placeholder:"FILE" help:"Keys that secrets in the store are sealed with, readable by its owner and at most its group: 32 random bytes in Base64 on a line; the first seals, all open. In the sandbox it is made where there is none, and is by default STORE.key, or innsigli-sandbox.key with Postgres. Several servers need the same."`
}

// masterKeyHelp is for the commands that have the flag.
const masterKeyHelp = "Secrets in the store are lost without the master key: keep a copy of its file, away from those of the store. To change the key, append the new one at the end of the file on all servers and start them again, so that each can open what another seals with it; then move it to the top on all and start them again, which seals with it what the old one sealed; remove the old one when the requests of before are forgotten (24 hours, or what [retention] says)."

// file is where the keys for a store are.
func (f masterKeyFlag) file(of place) string {
	if of.inPostgres() {
		return cmp.Or(f.MasterKeyFile, "innsigli-sandbox.key")
	}
	return cmp.Or(f.MasterKeyFile, of.path+".key")
}

// masterKeys reads the keys. The first start of a sandbox on a store makes them; where
// something is sealed already a missing file is to be found, not made anew.
func (c setup) masterKeys(ctx context.Context, people sandbox.Store) (*sealed.Keys, error) {
	authority, err := people.Authority(ctx)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return nil, err
	}
	if !c.production && !sealed.Is(authority) {
		if err := sealed.MakeFile(c.masterKey); err != nil {
			return nil, fmt.Errorf("--master-key-file: %w", err)
		}
	}
	keys, err := sealed.ReadFile(c.masterKey)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("--master-key-file: %w: this store was sealed with the key of another file, as a backup is: name that, --master-key-file OLD.key", err)
	case err != nil:
		return nil, fmt.Errorf("--master-key-file: %w", err)
	}
	return keys, nil
}

// reseal seals what lives long with the first of the keys, and says how much there was.
func reseal(ctx context.Context, db store, keys *sealed.Keys) (int, error) {
	accounts, err := db.Accounts().Accounts(ctx)
	if err != nil {
		return 0, err
	}
	var ids []string
	for _, a := range accounts {
		ids = append(ids, a.ID)
	}
	n, err := sealed.Reseal(ctx, db, db.Sandbox(), keys, ids)
	if err != nil {
		return n, err
	}
	certificates, err := sealed.ResealCertificates(ctx, db, db.Requests(), db.AllCertificates(ctx), keys)
	if err != nil {
		return n + certificates, err
	}
	hooks, err := sealed.ResealWebhooks(ctx, db, db.Webhooks(), db.AllSubscriptions(ctx), keys)
	if err != nil {
		return n + certificates + hooks, err
	}
	processes, err := sealed.ResealProcesses(ctx, db, db.Processes(), db.AllUnopened(ctx), keys)
	return n + certificates + hooks + processes, err
}
