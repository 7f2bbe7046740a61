package bolt_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage/bolt"
)

// testdata/earlier/schema1.db.gz has one record of each type that there was, and a document with a revision. After the
// migration its records are read, and there are the tables of later versions.
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

	if err := db.WriteToAllTables(t.Context()); err != nil {
		t.Error(err)
	}
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
