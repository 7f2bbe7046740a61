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

// writeFile puts a file in place whole or not at all, with the permissions that the
// user gives to new files.
func writeFile(path string, parts ...[]byte) error {
	var readers []io.Reader
	for _, part := range parts {
		readers = append(readers, bytes.NewReader(part))
	}
	return writeAll(path, io.MultiReader(readers...))
}

// writeAll is writeFile for what is read to its end.
func writeAll(path string, content io.Reader) error { return writeAs(path, 0o666, content) }

// writeAs is writeAll with these permissions, of which the user may take away some.
func writeAs(path string, mode os.FileMode, content io.Reader) error {
	return writeWith(path, mode, func(w io.Writer) error {
		_, err := io.Copy(w, content)
		return err
	})
}

// writeWith is writeAs for what write writes, which is called when the file can be written.
func writeWith(path string, mode os.FileMode, write func(io.Writer) error) error {
	temporary := fmt.Sprintf("%s.%s.tmp", path, rand.Text())
	file, err := os.OpenFile(temporary, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	err = write(file)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, errors.Join(err, os.Remove(temporary)))
	}
	return nil
}

// progress is a line that says how far a long work is. It is shown on a terminal alone.
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

// progressEvery keeps the line from slowing down the work, and that of a short one from
// being shown at all.
const progressEvery = 200 * time.Millisecond

func (p *progress) show(n int64) {
	if p.w == nil || time.Since(p.last) < progressEvery {
		return
	}
	p.last = time.Now()
	fmt.Fprintf(p.w, "\r\x1b[K%d %s", n, p.unit)
}

// end removes the line.
func (p *progress) end() {
	if p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
