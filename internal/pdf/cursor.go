package pdf

import (
	"errors"
	"fmt"
	"io"
)

// cursor parses a file from an offset on through a window that follows what is parsed.
type cursor struct {
	file   *File
	base   int64 // offset of the window
	window int   // size that the window has or is to have
	p      parser
}

// cursor returns a cursor at an absolute offset. window is the number of bytes to read
// first; up to maxObjectBytes are read when one step needs them.
func (f *File) cursor(offset int64, window int) *cursor {
	return &cursor{file: f, base: offset, window: window}
}

// offset returns where the cursor stands in the file.
func (c *cursor) offset() int64 { return c.base + int64(c.p.pos) }

// step parses at the cursor and moves it behind what was parsed. parse may be called
// several times, always at the same offset; only its last result counts.
func (c *cursor) step(parse func(*parser) error) error {
	if c.p.buf == nil {
		if err := c.more(); err != nil {
			return err
		}
	}
	for {
		start := c.p.pos
		c.p.ran, c.p.doubled, c.p.depth, c.p.items = false, false, 0, 0
		err := parse(&c.p)
		c.file.spend(int64(c.p.pos - start))
		if !c.p.ran {
			return err
		}
		c.p.pos = start
		if err := c.more(); err != nil {
			return err
		}
	}
}

// more moves the window to the cursor, and makes it four times as large if it was there already.
func (c *cursor) more() error {
	if c.p.pos == 0 && len(c.p.buf) > 0 {
		c.window *= 4
	}
	if c.window > maxObjectBytes {
		return fmt.Errorf("%w: object of more than %d bytes", ErrLimit, maxObjectBytes)
	}
	c.base = c.offset()
	n := min(int64(c.window), max(c.file.size-c.base, 0))
	buf, err := c.file.read(c.base, int(n))
	if err != nil {
		return err
	}
	c.p = parser{buf: buf, final: c.base+n >= c.file.size}
	return nil
}

// read returns n bytes at an absolute offset; all of them are inside of the file.
func (f *File) read(offset int64, n int) ([]byte, error) {
	f.spend(int64(n))
	buf := make([]byte, n)
	got, err := f.r.ReadAt(buf, offset)
	if got == n {
		return buf, nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return nil, fmt.Errorf("reading %d bytes at %d: %w", n, offset, err)
}
