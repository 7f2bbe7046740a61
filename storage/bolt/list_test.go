package bolt_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// Lists are read in parts, which meet without a gap: also where many records have the same
// time, and while the reader writes.
func TestLongLists(t *testing.T) {
	const many = 600
	db := open(t, filepath.Join(t.TempDir(), "store.db"))
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var ids []string
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		for i := range many {
			id, at := fmt.Sprintf("%03d", (i*7)%many), at.Add(time.Duration(i/500)*time.Second)
			err := errors.Join(
				db.Accounts().AddToken(ctx, account.TokenRecord{Hash: []byte(id), ExpiresAt: at}),
				db.BusySignals().AddSignal(ctx, busysignal.Signal{ID: id, UsedAt: at}),
				db.Requests().CreateRequest(ctx, signing.Request{ID: id, CreatedAt: at}),
				db.Requests().KeepCertificate(ctx, signing.KeptCertificate{Person: id, Expires: at}),
				db.Jobs().Enqueue(ctx, storage.Job{Kind: "k", Unique: id, Due: at}),
				db.Webhooks().CreateSubscription(ctx, delivery.Subscription{ID: id}, many),
				db.Webhooks().AddAttempt(ctx, delivery.Attempt{Subscription: id, At: at}),
				db.Webhooks().AddDropped(ctx, delivery.Dropped{Event: id, Subscription: id, At: at}),
				db.Processes().CreateProcess(ctx, portal.Process{ID: id, Participants: []portal.Participant{{Participant: process.Participant{Link: portal.Link{InvitedAt: at, Hash: []byte{1}}}}}}),
				db.Processes().CreateKey(ctx, portal.Key{Value: id, CreatedAt: at}),
				db.Accounts().AddLine(ctx, account.Line{ID: id, At: at}),
			)
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("tokens", lists(db, db.AllTokens(t.Context()), func(r account.TokenRecord) string { return string(r.Hash) }, ids))
	t.Run("signals", lists(db, db.AllSignals(t.Context()), func(s busysignal.Signal) string { return s.ID }, ids))
	t.Run("requests", lists(db, db.AllRequests(t.Context()), func(r signing.Request) string { return r.ID }, ids))
	t.Run("certificates", lists(db, db.AllCertificates(t.Context()), func(c signing.KeptCertificate) string { return c.Person }, ids))
	t.Run("jobs", lists(db, db.AllJobs(t.Context()), func(j storage.Job) string { return j.Unique }, ids))
	t.Run("subscriptions", lists(db, db.AllSubscriptions(t.Context()), func(s delivery.Subscription) string { return s.ID }, ids))
	t.Run("attempts", lists(db, db.AllAttempts(t.Context()), func(a delivery.Attempt) string { return a.Subscription }, ids))
	t.Run("dropped events", lists(db, db.AllDropped(t.Context()), func(d delivery.Dropped) string { return d.Event }, ids))
	t.Run("unopened processes", lists(db, db.AllUnopened(t.Context()), func(p portal.Process) string { return p.ID }, ids))
	t.Run("processes", lists(db, db.AllProcesses(t.Context()), func(p portal.Process) string { return p.ID }, slices.Sorted(slices.Values(ids))))
	t.Run("keys", lists(db, db.AllKeys(t.Context()), func(k portal.Key) string { return k.Value }, ids))
	t.Run("lines", lists(db, db.AllLines(t.Context()), func(l account.Line) string { return l.ID }, ids))
}

func lists[T any](db *bolt.DB, list iter.Seq2[T, error], id func(T) string, want []string) func(*testing.T) {
	return func(t *testing.T) {
		var got []string
		for one, err := range list {
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, id(one)); len(got)%100 == 0 {
				if err := db.InTx(t.Context(), func(context.Context) error { return nil }); err != nil {
					t.Fatal(err)
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the list (-want +got):\n%s", diff)
		}
		for range list {
			break // a reader may stop
		}
	}
}

func TestAListEndsWithItsError(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "store.db"))
	db.Close()
	n := 0
	for _, err := range db.AllRequests(t.Context()) {
		if n++; !errors.Is(err, bolt.ErrClosed) {
			t.Errorf("AllRequests: %v", err)
		}
	}
	if n != 1 {
		t.Errorf("%d times", n)
	}
}
