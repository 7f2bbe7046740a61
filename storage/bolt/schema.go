package bolt

import (
	"context"
	"fmt"
	"strconv"

	"go.etcd.io/bbolt"
)

// schemaVersion counts the changes that an earlier version of this package could
// not read. A member more in a record is none of them. With 2 came sealed secrets, which
// the one before would take for keys; with 3 requests that sign a document of several, which the
// one before would take for the request's own and discard with it; with 4 lists of processes, to
// which the one before would add none. An older file is brought there when it is opened.
const schemaVersion = 4

// metaBucket keeps what is to be known before anything else is read.
const metaBucket = "meta"

// schema are the tables of all domains; a new domain adds its own here.
var schema = []interface {
	buckets() []string
	create(*bbolt.Tx) error // what of them the file does not have
}{
	accountTable, clientTable, tokenTable, lineTable,
	signalTable,
	requestTable, certificateTable,
	userTable, authorityTable,
	documentTable, chunkBuckets,
	jobTable,
	entryTable,
	subscriptionTable, signingKeyTable, attemptTable, droppedTable,
	processTable, processKeyTable,
	pageRecordTable,
}

// prepare makes the buckets that a new or an older file does not have. It writes nothing
// when all are there, so that a store on a full disk can be opened.
func (db *DB) prepare(ctx context.Context) error {
	ready := false
	err := db.read(ctx, func(tx *bbolt.Tx) error {
		ready = prepared(tx)
		if err := checkVersion(tx); err != nil {
			return err
		}
		return db.checkPlace(tx)
	})
	if err != nil || ready {
		return err
	}
	return db.write(ctx, db.createBuckets)
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

func bucketNames() []string {
	names := []string{metaBucket}
	for _, table := range schema {
		names = append(names, table.buckets()...)
	}
	return names
}

func prepared(tx *bbolt.Tx) bool {
	for _, name := range bucketNames() {
		if tx.Bucket([]byte(name)) == nil {
			return false
		}
	}
	return string(tx.Bucket([]byte(metaBucket)).Get([]byte("schema"))) == strconv.Itoa(schemaVersion)
}

func (db *DB) createBuckets(tx *bbolt.Tx) error {
	isNew := tx.Bucket([]byte(metaBucket)) == nil
	for _, table := range schema {
		if err := table.create(tx); err != nil {
			return err
		}
	}
	if err := bucket(metaBucket).create(tx); err != nil {
		return err
	}
	if isNew {
		if err := db.claimPlace(tx); err != nil {
			return err
		}
	}
	return tx.Bucket([]byte(metaBucket)).Put([]byte("schema"), []byte(strconv.Itoa(schemaVersion)))
}
