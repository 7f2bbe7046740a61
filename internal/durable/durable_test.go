package durable_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/innsigli/innsigli/internal/durable"
)

// Of concurrent calls for one name, one succeeds, and the file has its content.
func TestConcurrentCalls(t *testing.T) {
	for name, take := range map[string]func(path, content string) error{
		"Create": func(path, content string) error { return durable.Create(path, []byte(content)) },
		"Rename": func(path, content string) error {
			file := path + content
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				return err
			}
			return durable.Rename(file, path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			contents := []string{"a", "b", "c", "d"}
			failed := make([]error, len(contents))
			var all sync.WaitGroup
			for i, content := range contents {
				all.Go(func() { failed[i] = take(path, content) })
			}
			all.Wait()
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for i, content := range contents {
				if want := content != string(got); errors.Is(failed[i], fs.ErrExist) != want {
					t.Errorf("%s: %v, and the file contains %s", content, failed[i], got)
				}
			}
		})
	}
}

// Create creates one file, which only its owner may read.
func TestCreate(t *testing.T) {
	folder := t.TempDir()
	if err := durable.Create(filepath.Join(folder, "file"), []byte("content")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 || entries[0].Name() != "file" {
		t.Fatalf("%v, %v", entries, err)
	}
	if stat, err := entries[0].Info(); err != nil || stat.Mode() != 0o600 {
		t.Errorf("mode %v, %v", stat.Mode(), err)
	}
}
