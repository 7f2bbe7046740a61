package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
)

// writeFile puts a file in place whole or not at all, with the permissions that the
// user gives to new files.
func writeFile(path string, parts ...[]byte) error {
	var readers []io.Reader
	for _, part := range parts {
		readers = append(readers, bytes.NewReader(part))
	}
	return writeAll(path, io.MultiReader(readers...))
}

// writeAll is writeFile for what is read to its end.
func writeAll(path string, content io.Reader) error { return writeAs(path, 0o666, content) }

// writeAs is writeAll with these permissions, of which the user may take away some.
func writeAs(path string, mode os.FileMode, content io.Reader) error {
	temporary := fmt.Sprintf("%s.%s.tmp", path, rand.Text())
	file, err := os.OpenFile(temporary, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	_, err = io.Copy(file, content)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, errors.Join(err, os.Remove(temporary)))
	}
	return nil
}
