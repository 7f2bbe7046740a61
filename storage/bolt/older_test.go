package bolt_test

import (
	"context"
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

// testdata/earlier/schema1.db.gz was written before there were jobs, an evidence log, kept
// certificates, folders of documents, webhooks, processes and a signing page: one record of each kind, and a document with a
// revision.
func TestAStoreOfTheFirstVersion(t *testing.T) {
	path := earlier(t, 1)
	if from, to, err := bolt.Migrate(path, bolt.Options{}); from != 1 || to != 6 || err != nil {
		t.Fatalf("Migrate: %d -> %d, %v", from, to, err)
	}
	db := open(t, path)

	at, user := time.Date(2026, 3, 1, 12, 30, 15, 123456000, time.UTC), "jon"
	accounts, err := db.Accounts().Accounts(t.Context())
	is(t, accounts, err, []account.Account{{ID: "a", Name: "Þór", PaymentMethod: true, Quota: 1024, CreatedAt: at}})
	clients, err := db.Accounts().Clients(t.Context(), "a")
	is(t, clients, err, []account.Client{{ID: "c", AccountID: "a", Name: "n", Secrets: []account.Secret{{ID: account.FirstSecret, Hash: []byte{1, 2}, CreatedAt: at}}, Scopes: []string{"portal/read"}, CreatedAt: at}})
	token, err := db.Accounts().Token(t.Context(), []byte{1, 2})
	is(t, token.ExpiresAt, err, at)
	signal, err := db.BusySignals().Signal(t.Context(), "s")
	is(t, signal.Holder, err, &busysignal.Holder{ID: "r", UserID: &user, Since: at})
	someone, err := db.Sandbox().UserByPhone(t.Context(), "a", "5550001")
	is(t, someone.FullName, err, "Jón")
	authority, err := db.Sandbox().Authority(t.Context())
	is(t, string(authority), err, "authority")
	request, err := db.Requests().RequestByKey(t.Context(), "c", "k")
	is(t, request.Phase, err, signing.Signed)
	unfinished, err := db.Requests().Unfinished(t.Context(), time.Now(), 10)
	is(t, unfinished, err, []signing.Request{request})
	is(t, string(readDocument(t, db, request.Document)), nil, "a document, signed")

	certificate := signing.KeptCertificate{Person: "p", Certificate: []byte{1}, Expires: at}
	p := portal.Process{ID: "p", Participants: []portal.Participant{{Participant: process.Participant{ID: "1", Link: portal.Link{Hash: []byte{1}}}}}}
	record := storage.Record{Key: []byte{1}, Value: []byte{2}, Expires: at}
	line := account.Line{ID: "r", Account: "a", At: at}
	err = db.InTx(t.Context(), func(ctx context.Context) error {
		if err := db.Requests().KeepCertificate(ctx, certificate); err != nil {
			return err
		}
		if err := db.Processes().CreateProcess(ctx, p); err != nil {
			return err
		}
		if err := db.Accounts().AddLine(ctx, line); err != nil {
			return err
		}
		if err := db.Webhooks().AddAttempt(ctx, delivery.Attempt{Subscription: "s", Event: "1", At: at}); err != nil {
			return err
		}
		if err := db.Pages().PutRecord(ctx, record); err != nil {
			return err
		}
		return db.Jobs().Enqueue(ctx, storage.Job{Kind: "k", Due: at})
	})
	is(t, err, nil, nil)
	kept, err := db.Requests().KeptCertificate(t.Context(), "p")
	is(t, kept, err, certificate)
	linked, err := db.Processes().ProcessByLink(t.Context(), []byte{1})
	is(t, linked, err, p)
	remembered, err := db.Pages().Record(t.Context(), record.Key)
	is(t, remembered, err, record)
	for one, err := range db.Accounts().Lines(t.Context(), "a", at, time.Now()) {
		is(t, one, err, line)
	}
	due, err := db.Jobs().NextDue(t.Context(), "k")
	is(t, due["k"], err, at)
	for attempt, err := range db.Webhooks().Attempts(t.Context(), "s") {
		is(t, attempt.Event, err, "1")
	}
	subscriptions, err := db.Webhooks().Subscriptions(t.Context(), "a")
	is(t, len(subscriptions), err, 0)
	entries, err := db.EvidenceLog().EntriesAfter(t.Context(), 0, 1)
	is(t, len(entries), err, 0)
}

// is fails the test unless what was read is what was wanted.
func is[T any](t *testing.T, got T, err error, want T) {
	t.Helper()
	if err != nil {
		t.Errorf("reading: %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
}
