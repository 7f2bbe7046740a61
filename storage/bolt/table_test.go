package bolt

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage"
)

// Members of later versions are ignored, and what is no record is an error.
func TestRecordsAreDecoded(t *testing.T) {
	for stored, want := range map[string]error{
		`{"seq":7,"later":1,"record":{"id":"a","later":{"x":[]}}}`: nil,
		"": ErrDamaged, "{": ErrDamaged, "null{": ErrDamaged, `{"record":[]}`: ErrDamaged, "\x00": ErrDamaged,
	} {
		inStore(t, func(tx *boltTx) error {
			if err := tx.Bucket([]byte("account")).Put([]byte("id"), []byte(stored)); err != nil {
				return err
			}
			if r, err := accountTable.get(tx, "id"); !errors.Is(err, want) || err == nil && r.ID != "a" {
				t.Errorf("%q: %+v, %v", stored, r, err)
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

// A record that is refused changes nothing, not even the sequence: the transaction costs no commit.
func TestARefusedRecordWritesNothing(t *testing.T) {
	inStore(t, func(tx *boltTx) error {
		for _, name := range things.buckets() {
			if _, err := tx.CreateBucket([]byte(name)); err != nil {
				return err
			}
		}
		if err := things.insert(tx, "1", thing{"a", "x"}); err != nil {
			return err
		}
		tx.log.wrote = false
		for id, name := range map[string]string{"1": "y", "2": "x"} {
			if err := things.insert(tx, id, thing{"a", name}); !errors.Is(err, storage.ErrExists) || tx.log.wrote {
				t.Errorf("record %s: %v; written: %v", id, err, tx.log.wrote)
			}
		}
		tx.log.wrote = true
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
