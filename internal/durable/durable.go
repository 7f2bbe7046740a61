// Package durable writes files whose content and names survive a crash. A name is not safe with
// the content of its file: it is lost unless the folder that it is in is flushed, too (fsync(2)).
package durable

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// SyncName flushes the folder of a file or folder that was made or renamed. On Windows, which cannot
// flush folders and need not, it does nothing.
func SyncName(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	above, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(above.Sync(), above.Close())
}

// Create makes a file of mode 0600. The name is taken once the content is flushed, so that the file
// is never seen in part. The error is fs.ErrExist when the name is taken already.
func Create(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Link(file.Name(), path); err != nil {
		return err
	}
	return SyncName(path)
}

// Rename renames a file whose content is flushed. The error is fs.ErrExist when the new name is
// taken already. For a moment the new name is that of an empty file, which takes the name: not all
// file systems have links.
func Rename(file, name string) error {
	claim, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_ = claim.Close() // of a file without content
	if err := os.Rename(file, name); err != nil {
		os.Remove(name)
		return err
	}
	return SyncName(name)
}
