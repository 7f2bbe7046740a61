package bolt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"go.etcd.io/bbolt"
)

// CopyDocuments completes the backup in the file of that path: it copies the documents
// that are in it from the folder of the store to a new one, as long as they were when the
// backup began. The store may be in use, if [DB.HoldDeletions] was called before
// [DB.Backup] and its release is called after. It returns how many there are; none of a
// backup whose documents are in its file.
//
// The backup opens with that folder when CopyDocuments has returned nil, and not before.
// A copy that broke off may be begun again.
func CopyDocuments(ctx context.Context, backup, from, to string) (n int, err error) {
	file, err := bbolt.Open(backup, 0o600, &bbolt.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		return 0, fmt.Errorf("bolt: opening the backup %s: %w", backup, refusal(err))
	}
	defer file.Close()
	err = file.View(func(tx *bbolt.Tx) error {
		n, err = copyDocuments(ctx, tx, from, to)
		return err
	})
	if err != nil {
		return n, fmt.Errorf("bolt: copying documents to %s: %w", to, meaning(err))
	}
	return n, nil
}

func copyDocuments(ctx context.Context, tx *bbolt.Tx, from, to string) (n int, err error) {
	mark, err := placeOf(tx)
	if err != nil || mark == "" {
		return 0, err
	}
	if err := makeFolder(to); err != nil {
		return 0, err
	}
	source, err := openFolder(nil, from)
	if err != nil {
		return 0, err
	}
	defer source.close()
	target, err := openFolder(nil, to)
	if err != nil {
		return 0, err
	}
	defer target.close()
	if _, err := target.mark(""); err == nil {
		return 0, fmt.Errorf("%w: %s is that of another store, or of a finished copy", ErrFolder, to)
	}
	if found, err := source.mark(""); err != nil || found != mark {
		return 0, errors.Join(ErrFolder, err)
	}
	err = tx.Bucket([]byte(documentTable.bucket)).ForEach(func(id, value []byte) error {
		var r row[documentRecord]
		if err := json.Unmarshal(value, &r); err != nil {
			return fmt.Errorf("%w: document %s: %w", ErrDamaged, id, err)
		}
		if err := ctx.Err(); err != nil || !r.Record.Complete {
			return err
		}
		n++
		return target.copy(source, string(id), r.Record.Size)
	})
	if err != nil {
		return n, err
	}
	return n, target.write(markFile, []byte(mark))
}

// copy copies the first bytes of a document's file from another folder.
func (f *folder) copy(from *folder, id string, size int64) error {
	in, err := from.root.Open(id)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := f.root.OpenFile(id, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.CopyN(out, in, size)
	return errors.Join(err, out.Sync(), out.Close())
}
