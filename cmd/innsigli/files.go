package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
)

// writeFile puts a file in place whole or not at all, with the permissions that the
// user gives to new files.
func writeFile(path string, parts ...[]byte) error {
	temporary := fmt.Sprintf("%s.%s.tmp", path, rand.Text())
	file, err := os.OpenFile(temporary, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	for _, part := range parts {
		if _, err = file.Write(part); err != nil {
			break
		}
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, errors.Join(err, os.Remove(temporary)))
	}
	return nil
}
