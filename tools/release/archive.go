package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// entry is a file of an archive.
type entry struct {
	name    string
	mode    int64
	content []byte
}

// beside are the files of the repository that go with each program, and those for servers.
var (
	beside     = []string{"README.md", "LICENSE", "CHANGELOG.md"}
	forServers = []string{"deploy/README.md", "deploy/innsigli.service", "deploy/haproxy.cfg"}
)

func (s source) entries(b built, notices []byte) ([]entry, error) {
	program, err := os.ReadFile(b.path)
	if err != nil {
		return nil, err
	}
	all := []entry{{b.program(), 0o755, program}, {"THIRD-PARTY-NOTICES.txt", 0o644, notices}}
	names := beside
	if b.os == "linux" {
		names = append(names[:len(names):len(names)], forServers...)
	}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(s.folder, name))
		if err != nil {
			return nil, err
		}
		all = append(all, entry{name, 0o644, content})
	}
	return all, nil
}

// pack writes an archive of the form that its name says, in which everything is in one folder.
func pack(file, folder string, entries []entry, at time.Time) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if strings.HasSuffix(file, ".zip") {
		return packZip(f, folder, entries, at)
	}
	return packTar(f, folder, entries, at)
}

func packTar(w io.Writer, folder string, entries []entry, at time.Time) error {
	compressed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(compressed)
	for _, e := range entries {
		header := &tar.Header{
			Name: path.Join(folder, e.name), Mode: e.mode, Size: int64(len(e.content)), ModTime: at,
			Typeflag: tar.TypeReg, Format: tar.FormatUSTAR,
		}
		if err := t.WriteHeader(header); err != nil {
			return err
		}
		if _, err := t.Write(e.content); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), compressed.Close())
}

func packZip(w io.Writer, folder string, entries []entry, at time.Time) error {
	z := zip.NewWriter(w)
	for _, e := range entries {
		header := &zip.FileHeader{Name: path.Join(folder, e.name), Method: zip.Deflate, Modified: at}
		header.SetMode(os.FileMode(e.mode))
		part, err := z.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := part.Write(e.content); err != nil {
			return err
		}
	}
	return z.Close()
}
