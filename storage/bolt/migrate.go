package bolt

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"
)

// Migrate brings the store in the file of that path to the version that this package needs, and returns at which
// version it was, and at which it is, also with an error; 0 is none. It makes a store where there is none. A store
// that has this version and is compacted is not touched. If Migrate breaks off, it goes on when it is called again. Until the
// version has changed, the version before can use the store.
//
// Before version 4, a store could have its documents in the file. They become files in the folder, which needs as
// much room again until the end. Then Migrate compacts the file, because the bytes of these documents, and of
// documents that were deleted before, are still in it. If that does not succeed, the error is [ErrNotCompacted]:
// the store can be used, and the next call compacts it.
//
// Errors: those of [Open], and ErrNotCompacted.
func Migrate(path string, opts Options) (from, to int, err error) {
	db := newDB(path, opts)
	if from, err = db.migrate(); err == nil {
		return from, schemaVersion, db.close()
	}
	to = from
	if db.file.Load() != nil {
		if version, unread := db.version(); unread == nil {
			to = version
		}
	}
	return from, to, db.abandon(err)
}

func (db *DB) migrate() (from int, err error) {
	uncompacted := false
	from, err = db.inspect(func(tx *boltTx, version int) bool {
		uncompacted = version == schemaVersion && isUncompacted(tx)
		return version < schemaVersion || uncompacted
	})
	if err != nil || from == schemaVersion && !uncompacted {
		return from, err
	}
	if from > schemaVersion {
		return from, checkVersion(from)
	}
	if err := db.openFile(); err != nil {
		return from, err
	}
	if from, err = db.version(); err != nil {
		return from, err
	}
	switch { // another process may have changed it meanwhile
	case from == 0:
		return from, db.create()
	case from > schemaVersion:
		return from, checkVersion(from)
	case from < schemaVersion:
		if err := db.upgrade(from); err != nil {
			return from, err
		}
	}
	return from, db.compactMigrated()
}

// chunkBucket has, before version 4, a bucket for each document, in which a key is an offset and
// its value the bytes of the document from there on. In metaBucket, movingKey is the mark of the
// folder that they are being moved to, and uncompactedKey is there from the commit of the new version
// until the file is compacted.
const (
	chunkBucket    = bucket("document.chunks")
	movingKey      = "documents.moving"
	uncompactedKey = "uncompacted"
)

// chunkedRecord is the record of a document before version 4.
type chunkedRecord struct {
	Complete bool  `json:"complete"` // its Create has ended
	Size     int64 `json:"size"`
}

// upgrade brings a store of an earlier version to this one, without compacting it.
func (db *DB) upgrade(from int) error {
	var mark string
	err := db.view(func(tx *boltTx) error {
		mark = string(metaBucket.get(tx).Get([]byte(folderKey)))
		return nil
	})
	if err != nil {
		return err
	}
	if mark != "" { // its documents are in a folder already
		if err := db.openDocuments(); err != nil {
			return err
		}
		return db.update(func(tx *boltTx) error {
			if from >= 4 {
				return setSchema(tx, mark)
			}
			return withoutChunks(tx, mark)
		})
	}
	if mark, err = db.copyDocuments(); err != nil {
		return err
	}
	return db.update(func(tx *boltTx) error {
		return errors.Join(withoutChunks(tx, mark), metaBucket.get(tx).Put([]byte(uncompactedKey), []byte("1")))
	})
}

// isUncompacted reports whether the documents in a file became files, and the file was not compacted since.
func isUncompacted(tx *boltTx) bool { return metaBucket.get(tx).Get([]byte(uncompactedKey)) != nil }

// compactMigrated compacts the file, if its documents became files.
func (db *DB) compactMigrated() error {
	ctx := context.Background()
	if err := db.pause(ctx); err != nil {
		return err
	}
	defer db.resume()
	uncompacted := false
	err := db.view(func(tx *boltTx) error {
		uncompacted = isUncompacted(tx)
		return nil
	})
	if err != nil || !uncompacted {
		return err
	}
	if _, _, err = db.compact(ctx); err != nil && !db.unflushed {
		err = fmt.Errorf("%w: bytes of its documents, and of deleted ones, are still in it: %w", ErrNotCompacted, translate(err))
	}
	return err
}

// copyDocuments copies the documents that the file has to the folder, and returns the mark of
// the folder.
func (db *DB) copyDocuments() (mark string, err error) {
	err = db.update(func(tx *boltTx) error {
		if mark = string(metaBucket.get(tx).Get([]byte(movingKey))); mark != "" {
			return nil // an earlier call broke off
		}
		mark = uuid.NewString()
		return metaBucket.get(tx).Put([]byte(movingKey), []byte(mark))
	})
	if err != nil {
		return "", err
	}
	if err := makeFolder(db.opts.DocumentFolder); err != nil {
		return "", err
	}
	if db.folder, err = openFolder(db, db.opts.DocumentFolder); err != nil {
		return "", err
	}
	if os.Geteuid() == 0 {
		if err := db.folder.belongsLike(db.path); err != nil {
			return "", err
		}
	}
	if err := db.folder.checkMark(mark, true); err != nil {
		return "", err
	}
	err = db.view(func(tx *boltTx) error {
		return tx.Bucket([]byte(documentTable.bucket)).ForEach(func(id, value []byte) error {
			var r row[chunkedRecord]
			if err := json.Unmarshal(value, &r); err != nil {
				return fmt.Errorf("%w: document %s: %w", ErrDamaged, id, err)
			}
			if !r.Record.Complete {
				return nil
			}
			var chunks *bbolt.Bucket
			if all := chunkBucket.get(tx); all != nil {
				chunks = all.Bucket.Bucket(id)
			}
			return db.folder.copyDocument(string(id), r.Record.Size, func() io.Reader { return newChunkReader(chunks) })
		})
	})
	return mark, errors.Join(err, db.folder.self.Sync())
}

// copyDocument makes the file of a document, unless an earlier call has, and flushes it. content returns
// a reader of the document from its beginning.
func (f *folder) copyDocument(id string, size int64, content func() io.Reader) error {
	file, err := f.root.OpenFile(id, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	same, err := sameContent(file, content())
	if err == nil && !same {
		err = rewrite(file, content())
	}
	if err == nil {
		err = hasSize(file, size)
	}
	if err != nil {
		return fmt.Errorf("bolt: moving document %s: %w", id, err)
	}
	return errors.Join(f.own(file, 0o600), file.Sync())
}

// rewrite replaces the content of a file.
func rewrite(file *os.File, content io.Reader) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := io.Copy(io.NewOffsetWriter(file, 0), content)
	return err
}

// hasSize returns an error unless a file has as many bytes as the record of its document says.
func hasSize(file *os.File, size int64) error {
	stat, err := file.Stat()
	if err == nil && stat.Size() != size {
		err = fmt.Errorf("%w: it has %d bytes of %d", ErrDamaged, stat.Size(), size)
	}
	return err
}

// sameContent reports whether two readers deliver the same.
func sameContent(a, b io.Reader) (bool, error) {
	var p, q [64 << 10]byte
	for {
		n, aEnd := io.ReadFull(a, p[:])
		m, bEnd := io.ReadFull(b, q[:])
		for _, err := range []error{aEnd, bEnd} {
			if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
				return false, err
			}
		}
		if !bytes.Equal(p[:n], q[:m]) || aEnd != bEnd {
			return false, nil
		}
		if aEnd != nil {
			return true, nil
		}
	}
}

// chunkReader reads a document from its chunks.
type chunkReader struct {
	next   func() (key, value []byte)
	rest   []byte // of the chunk
	offset int64
}

func newChunkReader(chunks *bbolt.Bucket) io.Reader {
	if chunks == nil {
		return bytes.NewReader(nil)
	}
	c := chunks.Cursor()
	r := &chunkReader{}
	r.next = func() (key, value []byte) {
		r.next = c.Next
		return c.First()
	}
	return r
}

// Read implements [io.Reader].
func (r *chunkReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		key, value := r.next()
		if key == nil {
			return 0, io.EOF
		}
		if !bytes.Equal(key, number(uint64(r.offset))) {
			return 0, fmt.Errorf("%w: there is no byte %d", ErrDamaged, r.offset)
		}
		r.rest = value
	}
	n := copy(p, r.rest)
	r.rest, r.offset = r.rest[n:], r.offset+int64(n)
	return n, nil
}

// withoutChunks brings the records of an earlier version to this one, when all documents are in
// the folder with that mark. Documents whose Create did not end are gone with it.
func withoutChunks(tx *boltTx, mark string) error {
	if err := setSchema(tx, mark); err != nil {
		return err
	}
	var incomplete []string
	err := tx.Bucket([]byte(documentTable.bucket)).ForEach(func(id, value []byte) error {
		var r row[chunkedRecord]
		if err := json.Unmarshal(value, &r); err != nil {
			return fmt.Errorf("%w: document %s: %w", ErrDamaged, id, err)
		}
		if !r.Record.Complete {
			incomplete = append(incomplete, string(id))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range incomplete {
		if err := documentTable.remove(tx, id); err != nil {
			return err
		}
	}
	if chunkBucket.get(tx) != nil {
		if err := tx.DeleteBucket([]byte(chunkBucket)); err != nil {
			return err
		}
	}
	return metaBucket.get(tx).Delete([]byte(movingKey))
}
