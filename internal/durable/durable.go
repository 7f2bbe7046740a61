// Package durable writes files whose content and names survive a crash. Flushing a file does not flush its name:
// the folder that contains it has to be flushed too (fsync(2)).
package durable

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// SyncParent flushes the folder that contains path. Call it after a file or folder was created or renamed. On
// Windows, where folders cannot be flushed and need not be, it does nothing.
func SyncParent(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	parent, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(parent.Sync(), parent.Close())
}

// Create creates a file of mode 0600. It flushes the content before it gives the file its name, so that the file is
// never visible with a part of its content. The error is fs.ErrExist if the name exists.
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
	return SyncParent(path)
}

// Rename renames a file whose content is flushed. The error is fs.ErrExist if the new name exists. Rename first
// creates an empty file with the new name, to reserve it, since not all file systems support links.
func Rename(file, name string) error {
	reserved, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_ = reserved.Close()
	if err := os.Rename(file, name); err != nil {
		os.Remove(name)
		return err
	}
	return SyncParent(name)
}
