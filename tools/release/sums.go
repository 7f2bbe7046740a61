package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
)

const sums = "SHA256SUMS"

// released are the files of a release in a folder, in the order of their names.
func released(folder string) ([]string, error) {
	return filepath.Glob(filepath.Join(folder, "innsigli-*-*-*.[tzc]*"))
}

// removeReleased takes away an earlier release, of which nothing may be left among the checksums.
func removeReleased(folder string) error {
	files, err := released(folder)
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	return os.RemoveAll(filepath.Join(folder, sums))
}

// writeSums writes the checksums, as sha256sum --check reads them.
func writeSums(folder string) error {
	files, err := released(folder)
	if err != nil {
		return err
	}
	list := new(bytes.Buffer)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		fmt.Fprintf(list, "%x  %s\n", sha256.Sum256(content), filepath.Base(file))
	}
	return os.WriteFile(filepath.Join(folder, sums), list.Bytes(), 0o644)
}
