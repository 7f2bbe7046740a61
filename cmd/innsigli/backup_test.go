package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/server/config"
	"github.com/innsigli/innsigli/server/operator"
)

// A backup of a store in use has its documents, also when they are deleted afterwards, and tar makes a store of it.
func TestBackupHasTheDocuments(t *testing.T) {
	s := served(t)
	id := s.keep(t, document)
	archive, folder := s.store.Path+".tar", t.TempDir()
	var talk bytes.Buffer
	if status := run(t.Context(), []string{"backup", "--store", "bolt:" + s.store.Path, "-o", archive}, io.Discard, &talk); status != done {
		t.Fatalf("exit status %d: %s", status, &talk)
	}
	s.remove(t, id)
	if out, err := exec.CommandContext(t.Context(), "tar", "-xf", archive, "-C", folder).CombinedOutput(); err != nil {
		t.Fatalf("tar: %v: %s", err, out)
	}
	db, err := config.Store{Path: filepath.Join(folder, filepath.Base(s.store.Path))}.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	blob, err := db.Documents().Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer blob.Close()
	content, err := io.ReadAll(io.NewSectionReader(blob, 0, blob.Size()))
	if err != nil || !bytes.Equal(content, document) {
		t.Errorf("the document has %d bytes of %d, %v", len(content), len(document), err)
	}
}

// A backup that breaks off leaves nothing that could be taken for one, also when a server makes it.
func TestBackupThatBreaksOff(t *testing.T) {
	s := served(t)
	id := s.keep(t, document)
	if err := os.Truncate(filepath.Join(s.store.Path+".documents", id), 1); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]operator.Operator{"in this process": s.operator(), "in the server": operator.NewClient(s.store.Socket())} {
		out := s.store.Path + ".tar"
		if err := (backupCommand{Out: out}).copy(t.Context(), streams{io.Discard, io.Discard}, o); err == nil {
			t.Errorf("%s: no error", name)
		}
		left, err := filepath.Glob(out + "*")
		if err != nil || len(left) > 0 {
			t.Errorf("%s: left are %v, %v", name, left, err)
		}
	}
}

// Of two backups to one name one is refused, and the other is whole.
func TestTwoBackups(t *testing.T) {
	s := served(t)
	s.keep(t, []byte("a document"))
	c := backupCommand{Out: filepath.Join(t.TempDir(), "copy.tar")}
	o := s.operator()
	quiet := streams{io.Discard, io.Discard}
	errs := make(chan error, 2)
	for range 2 {
		go func() { errs <- c.copy(t.Context(), quiet, o) }()
	}
	one, other := <-errs, <-errs
	if (one == nil) == (other == nil) {
		t.Errorf("the backups: %v, %v, want one refused", one, other)
	}
	if content, err := os.ReadFile(c.Out); err != nil || !bytes.Contains(content, []byte("a document")) {
		t.Errorf("the archive has %d bytes without the document, %v", len(content), err)
	}
}
