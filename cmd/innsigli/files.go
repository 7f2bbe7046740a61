package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/server/config"
)

// writeFile writes a file, whole or not at all, with the default permissions of the user.
func writeFile(path string, parts ...[]byte) error {
	var readers []io.Reader
	for _, part := range parts {
		readers = append(readers, bytes.NewReader(part))
	}
	return writeAll(path, io.MultiReader(readers...))
}

// writeAll does what writeFile does, with the content of a reader.
func writeAll(path string, content io.Reader) error { return writeAs(path, newFileMode, content) }

// newFileMode are the default permissions of a file, before umask.
const newFileMode = 0o666

// writeAs does what writeAll does, with these permissions before umask.
func writeAs(path string, mode os.FileMode, content io.Reader) error {
	return writeWith(path, mode, func(w io.Writer) error {
		_, err := io.Copy(w, content)
		return err
	})
}

// writeWith is writeAs for what write writes, which is called when the file can be written.
func writeWith(path string, mode os.FileMode, write func(io.Writer) error) error {
	file, err := createOutput(path, mode)
	if err != nil {
		return err
	}
	defer file.discard()
	if err := write(file); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return file.publish()
}

// outputFile is a temporary file beside the path that it gets when it is whole.
type outputFile struct {
	*os.File
	path      string
	published bool
}

// createOutput creates the temporary file, with these permissions before umask.
func createOutput(path string, mode os.FileMode) (*outputFile, error) {
	file, err := os.OpenFile(fmt.Sprintf("%s.%s.tmp", path, rand.Text()), os.O_CREATE|os.O_EXCL|os.O_RDWR, mode)
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", path, err)
	}
	return &outputFile{File: file, path: path}, nil
}

// publish flushes the file and gives it its path, in place of a file that has it.
func (f *outputFile) publish() error {
	err := errors.Join(f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), f.path)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", f.path, err)
	}
	f.published = true
	return nil
}

// discard removes the file if it was not published. What cannot be removed has a name that says so, ".tmp".
func (f *outputFile) discard() {
	if !f.published {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
}

// copyStep is the number of bytes after which copyFrom looks whether it is to stop.
const copyStep = 64 << 20

// copyFrom appends the content of a reader and returns its length. A file is copied by the kernel, which on file systems
// that can (Btrfs, XFS) shares the blocks of both files (copy_file_range(2)).
func (f *outputFile) copyFrom(ctx context.Context, content io.Reader) (size int64, err error) {
	for err == nil && ctx.Err() == nil {
		var n int64
		n, err = io.CopyN(f.File, content, copyStep)
		size += n
	}
	switch {
	case errors.Is(err, io.EOF):
		return size, nil
	case err == nil:
		err = ctx.Err()
	}
	return size, fmt.Errorf("writing %s: %w", f.path, err)
}

// writeRevised writes a PDF and the revisions that revise makes for it. revise reads the copy, which no other program
// changes meanwhile, and the memory that is used does not depend on the length of the PDF.
func writeRevised(ctx context.Context, path string, src *source, revise func(pades.Document) ([]pades.Revision, error)) error {
	file, err := createOutput(path, newFileMode)
	if err != nil {
		return err
	}
	defer file.discard()
	size, err := file.copyFrom(ctx, src.content)
	if err != nil {
		return err
	}
	src.close()
	flushed := make(chan error, 1)
	go func() {
		if size <= copyStep {
			flushed <- nil
			return
		}
		flushed <- file.Sync() // the disk writes while the processor hashes
	}()
	revisions, err := revise(pades.Document{ReaderAt: file, Size: size})
	if flushErr := <-flushed; flushErr != nil { // a later flush does not return it again
		return errors.Join(err, fmt.Errorf("writing %s: %w", path, flushErr))
	}
	if err != nil {
		return err
	}
	for _, r := range revisions {
		if _, err := file.Write(r.Bytes); err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
	}
	return file.publish()
}

// progress shows the progress of long work in a line on a terminal. It shows nothing elsewhere.
type progress struct {
	w    io.Writer // nil: nothing is shown
	unit string
	last time.Time
}

func newProgress(w io.Writer, unit string) *progress {
	p := &progress{unit: unit, last: time.Now()}
	if config.IsTerminal(w) {
		p.w = w
	}
	return p
}

// progressInterval is the time between two updates of the line. Short work does not show it at all.
const progressInterval = 200 * time.Millisecond

func (p *progress) show(n int64) {
	if p.w == nil || time.Since(p.last) < progressInterval {
		return
	}
	p.last = time.Now()
	fmt.Fprintf(p.w, "\r\x1b[K%d %s", n, p.unit)
}

// end erases the line.
func (p *progress) end() {
	if p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
