package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// writeFile puts a file in place whole or not at all.
func writeFile(path string, parts ...[]byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".innsigli-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer os.Remove(temporary.Name()) // fails once it has its name
	for _, part := range parts {
		if _, err = temporary.Write(part); err != nil {
			break
		}
	}
	if err = errors.Join(err, temporary.Chmod(0o644), temporary.Sync(), temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
