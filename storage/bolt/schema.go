package bolt

import (
	"context"
	"fmt"
	"strconv"

	"go.etcd.io/bbolt"
)

// schemaVersion counts the changes that an earlier version of this package could
// not read. A member more in a record is none of them.
const schemaVersion = 1

// metaBucket keeps what is to be known before anything else is read.
const metaBucket = "meta"

// schema are the tables of all domains; a new domain adds its own here.
var schema = []interface{ buckets() []string }{
	accountTable, clientTable, tokenTable,
	signalTable,
	requestTable,
	userTable, authorityTable,
	documentTable, chunkBuckets,
}

// prepare makes the buckets that a new or an older file does not have.
func (db *DB) prepare(ctx context.Context) error {
	return db.write(ctx, func(tx *bbolt.Tx) error {
		if err := checkVersion(tx); err != nil {
			return err
		}
		return createBuckets(tx)
	})
}

func checkVersion(tx *bbolt.Tx) error {
	meta := tx.Bucket([]byte(metaBucket))
	if meta == nil {
		return nil
	}
	version, err := strconv.Atoi(string(meta.Get([]byte("schema"))))
	if err != nil {
		return fmt.Errorf("%w: the schema's version: %w", ErrDamaged, err)
	}
	if version > schemaVersion {
		return fmt.Errorf("%w: schema %d, known up to %d", ErrSchema, version, schemaVersion)
	}
	return nil
}

func createBuckets(tx *bbolt.Tx) error {
	names := []string{metaBucket}
	for _, table := range schema {
		names = append(names, table.buckets()...)
	}
	for _, name := range names {
		if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
			return fmt.Errorf("bolt: bucket %s: %w", name, err)
		}
	}
	return tx.Bucket([]byte(metaBucket)).Put([]byte("schema"), []byte(strconv.Itoa(schemaVersion)))
}
