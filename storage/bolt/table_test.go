package bolt

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/internal/document"
)

// What earlier versions stored is read by every later version of this package.
func TestRecordsStayReadable(t *testing.T) {
	at, user := time.Date(2026, 3, 1, 12, 30, 15, 123456000, time.UTC), "jon"
	t.Run("account", stays(accountTable,
		`{"seq":7,"record":{"id":"a","name":"Þór","paymentMethod":true,"quota":1024,"createdAt":"2026-03-01T12:30:15.123456Z"}}`,
		accountRecord{ID: "a", Name: "Þór", PaymentMethod: true, Quota: 1024, CreatedAt: at}))
	t.Run("client", stays(clientTable,
		`{"seq":7,"record":{"id":"c","account":"a","name":"n","secretHash":"AQI=","scopes":["portal/read"],"createdAt":"2026-03-01T12:30:15.123456Z"}}`,
		clientRecord{ID: "c", AccountID: "a", Name: "n", SecretHash: []byte{1, 2}, Scopes: []string{"portal/read"}, CreatedAt: at}))
	t.Run("client with two secrets", stays(clientTable,
		`{"seq":7,"record":{"id":"c","account":"a","name":"n","secretHash":null,"scopes":null,"createdAt":"2026-03-01T12:30:15.123456Z","usedAt":"2026-03-01T12:30:15.123456Z","secrets":[{"id":"s","hash":"AQI=","createdAt":"2026-03-01T12:30:15.123456Z"}]}}`,
		clientRecord{ID: "c", AccountID: "a", Name: "n", CreatedAt: at, UsedAt: at, Secrets: []secretRecord{{ID: "s", Hash: []byte{1, 2}, CreatedAt: at}}}))
	t.Run("token", stays(tokenTable,
		`{"seq":7,"record":{"hash":"AQI=","client":"c","account":"a","scopes":null,"issuedAt":"2026-03-01T12:30:15.123456Z","expiresAt":"2026-03-01T12:30:15.123456Z"}}`,
		tokenRecord{Hash: []byte{1, 2}, ClientID: "c", AccountID: "a", IssuedAt: at, ExpiresAt: at}))
	t.Run("busy signal", stays(signalTable,
		`{"seq":7,"record":{"id":"s","account":"a","createdAt":"2026-03-01T12:30:15.123456Z","usedAt":"2026-03-01T12:30:15.123456Z","holder":{"id":"r","userId":"jon","since":"2026-03-01T12:30:15.123456Z"}}}`,
		signalRecord{ID: "s", Account: "a", CreatedAt: at, UsedAt: at, Holder: &holderRecord{ID: "r", UserID: &user, Since: at}}))
	t.Run("document", stays(documentTable,
		`{"seq":7,"record":{"startedAt":"2026-03-01T12:30:15.123456Z","kept":true,"size":5,"hashed":[{"hash":5,"offset":5,"state":"AQI="}]}}`,
		documentRecord{StartedAt: at, Kept: true, Size: 5, Hashed: []document.Midstate{{Hash: 5, Offset: 5, State: []byte{1, 2}}}}))
	t.Run("members of a later version", stays(accountTable,
		`{"seq":7,"later":1,"record":{"id":"a","later":{"x":[]}}}`, accountRecord{ID: "a"}))
}

func stays[R any](in table[R], stored string, want R) func(*testing.T) {
	return func(t *testing.T) {
		inStore(t, func(tx *boltTx) error {
			if err := tx.Bucket([]byte(in.bucket)).Put([]byte("id"), []byte(stored)); err != nil {
				return err
			}
			got, err := in.get(tx, "id")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
			return err
		})
	}
}

func TestADamagedRecordIsSaidToBe(t *testing.T) {
	for _, stored := range []string{"", "{", "null{", `{"record":[]}`, "\x00"} {
		inStore(t, func(tx *boltTx) error {
			if err := tx.Bucket([]byte("account")).Put([]byte("id"), []byte(stored)); err != nil {
				return err
			}
			if _, err := accountTable.get(tx, "id"); !errors.Is(err, ErrDamaged) {
				t.Errorf("%q: %v", stored, err)
			}
			return nil
		})
	}
}

type thing struct{ Owner, Name string }

var (
	byOwner = index[thing]{bucket: "thing.owner", key: func(r thing) []byte { return text(r.Owner) }}
	byName  = index[thing]{bucket: "thing.name", unique: true, key: func(r thing) []byte {
		if r.Name == "" {
			return nil
		}
		return text(r.Name)
	}}
	things = table[thing]{bucket: "thing", indexes: []index[thing]{byOwner, byName}}
)

func TestIndexes(t *testing.T) {
	inStore(t, func(tx *boltTx) error {
		for _, name := range things.buckets() {
			if _, err := tx.CreateBucket([]byte(name)); err != nil {
				return err
			}
		}
		steps := []struct {
			rule string
			err  error
			want error
		}{
			{"a new record", things.insert(tx, "1", thing{"a", "x"}), nil},
			{"an id twice", things.insert(tx, "1", thing{"a", "y"}), storage.ErrExists},
			{"a unique key twice", things.insert(tx, "2", thing{"a", "x"}), storage.ErrExists},
			{"another key", things.insert(tx, "2", thing{"a", "y"}), nil},
			{"no key", things.insert(tx, "3", thing{"b", ""}), nil},
			{"no key again", things.insert(tx, "4", thing{"b", ""}), nil},
			{"an update to a key that is taken", things.update(tx, "2", thing{"b", "x"}), storage.ErrExists},
			{"an update of itself", things.update(tx, "1", thing{"a", "x"}), nil},
			{"an update frees the key", things.update(tx, "1", thing{"b", "z"}), nil},
			{"for another", things.insert(tx, "5", thing{"a", "x"}), nil},
			{"a removal frees the key", things.remove(tx, "2"), nil},
			{"for another again", things.insert(tx, "6", thing{"a", "y"}), nil},
			{"an update of none", things.update(tx, "7", thing{"a", "q"}), storage.ErrNotFound},
			{"a removal of none", things.remove(tx, "7"), storage.ErrNotFound},
		}
		for _, step := range steps {
			if !errors.Is(step.err, step.want) {
				t.Errorf("%s: %v, want %v", step.rule, step.err, step.want)
			}
		}
		for owner, want := range map[string][]string{"a": {"5", "6"}, "b": {"1", "3", "4"}, "": nil} {
			if diff := cmp.Diff(want, byOwner.ids(tx, under(text(owner)), noLimit)); diff != "" {
				t.Errorf("of %q (-want +got):\n%s", owner, diff)
			}
		}
		if diff := cmp.Diff([]string{"5", "6", "1"}, byName.ids(tx, every(), noLimit)); diff != "" {
			t.Errorf("by name (-want +got):\n%s", diff)
		}
		return nil
	})
}

// inStore runs fn in a transaction of a new store.
func inStore(t *testing.T, fn func(*boltTx) error) {
	t.Helper()
	db, err := Open(filepath.Join(t.TempDir(), "store.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.update(fn); err != nil {
		t.Fatal(err)
	}
}
