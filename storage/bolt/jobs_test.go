package bolt_test

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/innsigli/innsigli/storage"
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
