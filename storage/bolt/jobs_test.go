package bolt_test

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/innsigli/innsigli/storage"
	"go.etcd.io/bbolt"
)

// A server that has nothing to do asks for jobs once a second. That does not write to the
// disk.
func TestAClaimOfNothingIsNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	db, now := open(t, path), time.Now()
	claim := func(ctx context.Context) error {
		_, err := db.Jobs().Claim(ctx, "k", now, 10, 10, time.Minute)
		return err
	}
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		return db.Jobs().Enqueue(ctx, storage.Job{Kind: "k", Group: "g", Due: now.Add(time.Hour)})
	})
	if err != nil {
		t.Fatal(err)
	}
	before := read(t, path)
	if err := db.InTx(t.Context(), claim); err != nil || !bytes.Equal(before, read(t, path)) {
		t.Errorf("the file has changed, error %v", err)
	}
	now = now.Add(time.Hour)
	if err := db.InTx(t.Context(), claim); err != nil || bytes.Equal(before, read(t, path)) {
		t.Errorf("a claim changes nothing, error %v", err)
	}
}

// A parked job is stored in this form, which later versions read.
func TestParkedJobAsItIsStored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	db, at := open(t, path), time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	var id string
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		if err := db.Jobs().Enqueue(ctx, storage.Job{Kind: "k", Group: "g", Unique: "u", Due: at, Payload: []byte("p")}); err != nil {
			return err
		}
		leases, err := db.Jobs().Claim(ctx, "k", at, 1, 1, time.Minute)
		if err != nil {
			return err
		}
		id = leases[0].ID
		return db.Jobs().Fail(ctx, leases[0], storage.Failure{Error: "því miður", At: at.Add(time.Second)})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	var stored string
	err = openFile(t, path).View(func(tx *bbolt.Tx) error {
		stored = string(tx.Bucket([]byte("job")).Get([]byte(id)))
		return nil
	})
	want := `{"seq":1,"record":{"id":"` + id + `","kind":"k","group":"g","unique":"u","due":"9999-12-31T00:00:00Z","attempt":1,"payload":"cA==",` +
		`"failures":1,"lastError":"því miður","failedAt":"2026-11-27T12:00:01Z","parked":true}}`
	if diff := cmp.Diff(want, stored); diff != "" || err != nil {
		t.Errorf("error %v, stored (-want +got):\n%s", err, diff)
	}
}
