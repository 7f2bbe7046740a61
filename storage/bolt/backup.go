package bolt

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// Backup writes an archive of the store, which may be in use, as it is at one moment: a tar
// file with the store's file, compacted, and its folder of documents. Where the archive is
// extracted is a store that [Open] opens. What was deleted before is not in it.
//
// The records are copied first, to a temporary file beside the store's, which Open removes if a crash left it. The
// files of documents that are deleted while the archive is written stay until the end, and take space on the disk
// until then: w should not be slow. If there are more than some thousand of them, the next Sweep removes the rest.
// Errors of w are returned wrapped.
func (db *DB) Backup(ctx context.Context, w io.Writer) error {
	if err := db.backUp(ctx, w); err != nil {
		return fmt.Errorf("bolt: writing a backup: %w", translate(err))
	}
	return nil
}

// backupSuffix ends the names of the temporary files of Backup, which are the name of the store's file, a point, a
// number, and this.
const backupSuffix = ".tmp"

// isBackupSuffix reports whether the name of the store's file with that suffix is one of a temporary file of Backup.
func isBackupSuffix(suffix string) bool {
	number, hasSuffix := strings.CutSuffix(suffix, backupSuffix)
	number, hasPoint := strings.CutPrefix(number, ".")
	_, err := strconv.ParseUint(number, 10, 64)
	return hasSuffix && hasPoint && err == nil
}

func (db *DB) backUp(ctx context.Context, w io.Writer) error {
	release := db.folder.hold()
	defer release()
	name := filepath.Base(db.path)
	temporary, err := os.CreateTemp(filepath.Dir(db.path), name+".*"+backupSuffix)
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	defer temporary.Close()
	records, err := openBolt(temporary.Name(), copySettings)
	if err != nil {
		return err
	}
	defer records.Close()
	size, err := db.snapshot(ctx, records)
	if err != nil {
		return err
	}
	a := archive{ctx, tar.NewWriter(w), time.Now()}
	if err := a.add(name, size, temporary); err != nil {
		return err
	}
	if err := a.addDocuments(name+documentsSuffix+"/", records, db.folder); err != nil {
		return err
	}
	return a.Close()
}

// snapshot copies the records to another file. Compact may close the file that it was about to
// read.
func (db *DB) snapshot(ctx context.Context, to *boltFile) (size int64, err error) {
	for {
		file := db.file.Load()
		size, err = copyRecords(ctx, to, file)
		if !errors.Is(err, bolterrors.ErrDatabaseNotOpen) || db.file.Load() == file {
			return size, err
		}
	}
}

// archive is a tar file that is being written.
type archive struct {
	ctx context.Context
	*tar.Writer
	at time.Time
}

// add adds a file with the first bytes of its content.
func (a archive) add(name string, size int64, content io.Reader) error {
	err := a.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: a.at})
	if err != nil {
		return err
	}
	n, err := io.CopyN(a, untilEnded{a.ctx, content}, size)
	if err == io.EOF {
		err = fmt.Errorf("%w: %s has %d bytes of %d", ErrDamaged, name, n, size)
	}
	return err
}

// untilEnded is a reader that returns the error of a context when it has ended.
type untilEnded struct {
	ctx context.Context
	io.Reader
}

// Read implements [io.Reader].
func (r untilEnded) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// addDocuments adds the folder, with the documents that have a record.
func (a archive) addDocuments(prefix string, records *boltFile, f *folder) error {
	err := a.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: prefix, Mode: 0o700, ModTime: a.at})
	if err != nil {
		return err
	}
	addFile := func(id string, size int64) error {
		file, err := f.root.Open(id)
		if err != nil {
			return err
		}
		defer file.Close()
		return a.add(prefix+id, size, file)
	}
	return records.View(func(tx *bbolt.Tx) error {
		if err := addFile(markFile, int64(len(tx.Bucket([]byte(metaBucket)).Get([]byte(folderKey))))); err != nil {
			return err
		}
		return tx.Bucket([]byte(documentTable.bucket)).ForEach(func(id, value []byte) error {
			var r row[documentRecord]
			if err := json.Unmarshal(value, &r); err != nil {
				return fmt.Errorf("%w: document %s: %w", ErrDamaged, id, err)
			}
			return addFile(string(id), r.Record.Size)
		})
	})
}
