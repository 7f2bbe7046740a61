package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

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
func writeAll(path string, content io.Reader) error { return writeAs(path, 0o666, content) }

// writeAs does what writeAll does, with these permissions before umask.
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
