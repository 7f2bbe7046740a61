package bolt

import (
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

// What bbolt writes is never taken for damage: large and small records that come and go in several buckets, some
// of them nested, with and without a stored list of free pages.
func TestNoDamageIsFoundInWhatBboltWrites(t *testing.T) {
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 0))
		path := filepath.Join(t.TempDir(), "store.db")
		file, err := openBolt(path, bbolt.Options{NoSync: true, NoGrowSync: true, NoFreelistSync: seed%2 == 0, FreelistType: bbolt.FreelistMapType})
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		keys := 20 << (2 * (seed / 2)) // 20 to 1280
		for step := range 100 {
			err := file.Update(func(tx *bbolt.Tx) error { return changeAtRandom(random, tx, keys, step/25%2 == 1) })
			if err == nil {
				err = file.View(func(tx *bbolt.Tx) error {
					c, err := newPageCheck(t.Context(), tx, file)
					if err == nil {
						err = c.root(tx)
					}
					if err == nil {
						err = c.freelist(tx)
					}
					return err
				})
			}
			if err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, step, err)
			}
		}
	}
}

// changeAtRandom changes some records, most of them to nothing if it shrinks the file.
func changeAtRandom(random *rand.Rand, tx *bbolt.Tx, keys int, shrink bool) error {
	name := func(n int) []byte { return []byte{byte('a' + random.IntN(n))} }
	b, err := tx.CreateBucketIfNotExists(name(4))
	if err != nil {
		return err
	}
	if random.IntN(3) == 0 {
		nested := name(20)
		if random.IntN(3) == 0 && b.Bucket(nested) != nil {
			return b.DeleteBucket(nested)
		}
		if b, err = b.CreateBucketIfNotExists(nested); err != nil {
			return err
		}
	}
	for range 1 + random.IntN(keys/2) {
		key := append(binary.BigEndian.AppendUint32(nil, uint32(random.IntN(keys))), make([]byte, random.IntN(3)*random.IntN(400))...)
		if shrink == (random.IntN(8) > 0) {
			k, v := b.Cursor().Seek(key) // the next one, since few are hit
			if k == nil || v == nil {
				continue
			}
			if err := b.Delete(k); err != nil {
				return err
			}
			continue
		}
		size := random.IntN(300)
		if random.IntN(50) == 0 {
			size = random.IntN(30_000)
		}
		if err := b.Put(key, make([]byte, size)); err != nil {
			return err
		}
	}
	return nil
}
