package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/server/config"
	"github.com/innsigli/innsigli/server/operator"
)

// A backup of a store in use has its documents, also when they are deleted afterwards.
func TestBackupHasTheDocuments(t *testing.T) {
	s := served(t)
	id := s.keep(t, document)
	copied := config.Store{Path: s.store.Path + ".copy", Documents: s.store.Path + ".copy" + documentsSuffix}
	var talk bytes.Buffer
	if status := run(t.Context(), []string{"backup", "--store", "bolt:" + s.store.Path, "-o", copied.Path}, io.Discard, &talk); status != done {
		t.Fatalf("exit status %d: %s", status, &talk)
	}
	s.remove(t, id)
	db, err := copied.Open(t.Context(), "")
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

// The files of deleted documents stay for as long as somebody is connected who holds them.
func TestHoldEndsWithItsConnection(t *testing.T) {
	s := served(t)
	id := s.keep(t, document)
	documents, release, err := operator.NewClient(s.store.Socket()).Hold(t.Context())
	if err != nil || documents != s.store.Documents {
		t.Fatalf("the documents are in %q, %v", documents, err)
	}
	s.remove(t, id)
	path := filepath.Join(documents, id)
	if _, err := os.Stat(path); err != nil {
		t.Errorf("while it is held: %v", err)
	}
	release()
	testenv.Wait(t, "the end of the file", func() bool {
		_, err := os.Stat(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return err != nil
	})
}

// breaksOff is a store whose backup ends in the middle.
type breaksOff struct{ *operator.Service }

func (breaksOff) Backup(_ context.Context, w io.Writer) error {
	_, err := w.Write([]byte("the beginning"))
	return errors.Join(err, io.ErrUnexpectedEOF)
}

// copyStops is one whose documents are not where they are said to be.
type copyStops struct{ *operator.Service }

func (o copyStops) Hold(ctx context.Context) (string, func(), error) {
	documents, release, err := o.Service.Hold(ctx)
	return documents + ".elsewhere", release, err
}

// A backup that breaks off leaves nothing that could be taken for one.
func TestBackupThatBreaksOff(t *testing.T) {
	s := served(t)
	s.keep(t, document)
	for name, o := range map[string]operator.Operator{"in the file": breaksOff{s.operator()}, "in the documents": copyStops{s.operator()}} {
		out := s.store.Path + ".copy"
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
	id := s.keep(t, []byte("a document"))
	c := backupCommand{Out: filepath.Join(t.TempDir(), "copy.db")}
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
	if content, err := os.ReadFile(filepath.Join(c.Out+documentsSuffix, id)); err != nil || string(content) != "a document" {
		t.Errorf("the document of the backup: %q, %v", content, err)
	}
}
