package bolt_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/storage/bolt"
)

// A file of a version that did not list processes gets the lists of those it has when it is migrated.
func TestAnOlderFileGetsItsLists(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	db := open(t, path)
	at := time.Date(2026, 3, 1, 12, 30, 15, 0, time.UTC)
	one := func(id string, signature *portal.Signature) portal.Process {
		return portal.Process{ID: id, Account: "a", Origin: portal.API, CreatedAt: at, Participants: []portal.Participant{
			{Participant: process.Participant{ID: "1", Role: portal.Signer, Link: portal.Link{InvitedAt: at}, Signature: signature}},
		}}
	}
	waiting, completed := one("waiting", nil), one("completed", &portal.Signature{At: at})
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		return errors.Join(db.Processes().CreateProcess(ctx, waiting), db.Processes().CreateProcess(ctx, completed))
	})
	is(t, err, nil, nil)
	db.Close()

	file, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = file.Update(func(tx *bbolt.Tx) error {
		var failed []error
		for _, index := range []string{"listed", "status", "overdue", "ended"} {
			failed = append(failed, tx.DeleteBucket([]byte("portal.process."+index)))
		}
		failed = append(failed, tx.Bucket([]byte("meta")).Put([]byte("schema"), []byte("3")))
		return errors.Join(failed...)
	})
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}

	if _, _, err := bolt.Migrate(path, bolt.Options{}); err != nil {
		t.Fatal(err)
	}
	db = open(t, path)
	for status, want := range map[portal.Status][]portal.Process{"": {completed, waiting}, portal.Waiting: {waiting}, portal.Completed: {completed}, portal.Expired: nil} {
		got, err := db.Processes().ListProcesses(t.Context(), portal.Listing{Account: "a", Origin: portal.API, Status: status}, portal.Position{}, 10)
		is(t, got, err, want)
	}
	ended, err := db.Processes().Ended(t.Context(), at.Add(time.Second), 10)
	is(t, ended, err, []portal.Process{completed})
	for p, err := range db.Processes().Overdue(t.Context(), at.AddDate(1, 0, 0)) {
		is(t, p, err, waiting)
	}
}
