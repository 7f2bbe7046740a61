package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// packed is what an archive says of a file.
type packed struct {
	Name, Content string
	Mode          os.FileMode
	Time          time.Time
}

// Both forms of an archive have the same in them, at the time of the commit, and are the same bytes each time.
func TestArchives(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 30, 10, 0, time.UTC)
	entries := []entry{{"innsigli", 0o755, []byte("a program")}, {"deploy/README.md", 0o644, []byte("a page")}}
	want := []packed{
		{"innsigli-v1/innsigli", "a program", 0o755, at},
		{"innsigli-v1/deploy/README.md", "a page", 0o644, at},
	}
	for name, read := range map[string]func(*testing.T, []byte) []packed{"a.tar.gz": readTar, "a.zip": readZip} {
		t.Run(name, func(t *testing.T) {
			first, second := packTo(t, name, entries, at), packTo(t, name, entries, at)
			if diff := cmp.Diff(want, read(t, first)); diff != "" {
				t.Error(diff)
			}
			if !bytes.Equal(first, second) {
				t.Error("the same files are packed in different ways")
			}
		})
	}
}

func packTo(t *testing.T, name string, entries []entry, at time.Time) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := pack(file, "innsigli-v1", entries, at); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func readTar(t *testing.T, archive []byte) (files []packed) {
	t.Helper()
	decompressed, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(decompressed); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if header.Uid != 0 || header.Gid != 0 || header.Uname != "" {
			t.Errorf("%s belongs to %d:%d %s", header.Name, header.Uid, header.Gid, header.Uname)
		}
		files = append(files, packed{header.Name, string(content), header.FileInfo().Mode(), header.ModTime.UTC()})
	}
}

func readZip(t *testing.T, archive []byte) (files []packed) {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.File {
		part, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(part)
		if err := errors.Join(err, part.Close()); err != nil {
			t.Fatal(err)
		}
		files = append(files, packed{f.Name, string(content), f.Mode(), f.Modified.UTC()})
	}
	return files
}
