package bolt

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// schemaVersion is that of a store which this version of the package writes. It is one more
// for each change that an earlier version could not read or would not keep up, such as a new
// index. A member more in a record is none of them.
//
//   - With 2 came sealed secrets, which the version before would take for keys.
//   - With 3 came requests that sign a document of several, which the version before would
//     take for the request's own and discard with it.
//   - With 4 documents left the file: see migrate.go. Processes are in lists, to which the version
//     before would add none.
//   - With 5 came the chain of the evidence log, from which the version before would delete entries.
const schemaVersion = 5

// metaBucket has what is to be known before anything else is read. schemaKey is the
// version of the schema, and folderKey the mark of the folder of documents; see folder.mark.
const (
	metaBucket = bucket("meta")
	schemaKey  = "schema"
	folderKey  = "documents"
)

// bucket is a bucket that is no table.
type bucket string

func (b bucket) buckets() []string { return []string{string(b)} }

func (b bucket) create(tx *boltTx) error {
	if _, err := tx.CreateBucketIfNotExists([]byte(b)); err != nil {
		return fmt.Errorf("bolt: bucket %s: %w", b, err)
	}
	return nil
}

// get returns the bucket, nil if there is none.
func (b bucket) get(tx *boltTx) *boltBucket { return tx.Bucket([]byte(b)) }

// schema are the tables of all domains; a new domain adds its own here.
var schema = []interface {
	buckets() []string
	create(*boltTx) error // what of them the file does not have
}{
	metaBucket,
	accountTable, clientTable, tokenTable, lineTable,
	signalTable,
	requestTable, certificateTable,
	userTable, authorityTable,
	documentTable,
	jobTable,
	entryTable, batchTable, saltBucket,
	subscriptionTable, signingKeyTable, attemptTable, droppedTable,
	processTable, processKeyTable,
	pageRecordTable,
}

// versionOf returns the version of a store, 0 of a new file.
func versionOf(tx *boltTx) (int, error) {
	meta := metaBucket.get(tx)
	if meta == nil {
		if name, _ := tx.Cursor().First(); name != nil {
			return 0, fmt.Errorf("%w: it has buckets, but none named %s", ErrDamaged, metaBucket)
		}
		return 0, nil
	}
	version, err := strconv.Atoi(string(meta.Get([]byte(schemaKey))))
	if err == nil && version < 1 {
		err = errors.New("not a number from 1 on")
	}
	if err != nil {
		return 0, fmt.Errorf("%w: the schema's version: %w", ErrDamaged, err)
	}
	return version, nil
}

// hasTables returns an error if a store lacks a table of its version. Of an earlier version that is the table
// which Migrate reads; it makes the others.
func hasTables(tx *boltTx, version int) error {
	names := documentTable.buckets()[:1]
	if version == schemaVersion {
		names = nil
		for _, table := range schema {
			names = append(names, table.buckets()...)
		}
	}
	for _, name := range names {
		if tx.Bucket([]byte(name)) == nil {
			return fmt.Errorf("%w: it lacks the table %s; restore a backup", ErrDamaged, name)
		}
	}
	return nil
}

// checkVersion returns an error unless a store of a version is one for this program.
func checkVersion(version int) error {
	switch {
	case version < schemaVersion:
		return fmt.Errorf("%w: it is at %d, but this program needs %d: run innsigli migrate", ErrSchema, version, schemaVersion)
	case version > schemaVersion:
		return fmt.Errorf("%w: it is at %d, but this program knows only %d: use a newer version of the program", ErrSchema, version, schemaVersion)
	}
	return nil
}

// create makes a store of a new file.
func (db *DB) create() error {
	if err := makeFolder(db.opts.DocumentFolder); err != nil {
		return err
	}
	var err error
	if db.folder, err = openFolder(db, db.opts.DocumentFolder); err != nil {
		return err
	}
	mark, err := db.folder.newMark()
	if err == nil {
		err = db.update(func(tx *boltTx) error { return setSchema(tx, mark) })
	}
	if err != nil {
		return err
	}
	return db.folder.writeMark(mark)
}

// setSchema makes what a file does not have of this version's schema, and deletes the index that it no longer has. mark is that of the
// folder of documents.
func setSchema(tx *boltTx, mark string) error {
	for _, table := range schema {
		if err := table.create(tx); err != nil {
			return err
		}
	}
	if entriesByTimeBucket.get(tx) != nil {
		if err := tx.DeleteBucket([]byte(entriesByTimeBucket)); err != nil {
			return err
		}
	}
	meta := metaBucket.get(tx)
	return errors.Join(
		meta.Put([]byte(folderKey), []byte(mark)),
		meta.Put([]byte(schemaKey), []byte(strconv.Itoa(schemaVersion))),
	)
}

// update runs fn in a transaction of its own.
func (db *DB) update(fn func(*boltTx) error) error {
	return db.InTx(context.Background(), func(ctx context.Context) error { return db.write(ctx, fn) })
}
