package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxDangling is how far above the highest object number dangling references are looked for.
const maxDangling = 1 << 16

// findDangling returns the object numbers, above all that the file has, that references in it name. Such a reference is
// null (7.3.10), and has to stay so when an update adds objects. Whatever looks like a reference counts, also in the
// payload of a stream; one with a comment in it does not. Object streams that cannot be read are left out, as is what
// follows once half of the work that the file may take is done.
func (f *File) findDangling() (map[uint32]bool, error) {
	d := dangling{above: f.maxNum, numbers: make(map[uint32]bool), window: make([]byte, 64<<10)}
	if err := d.read(f, io.NewSectionReader(f.r, 0, f.size)); err != nil {
		return nil, fmt.Errorf("reading %d bytes: %w", f.size, err)
	}
	last := int64(-1)
	for _, e := range f.entries.all() {
		if e.kind != compressedEntry || e.offset == last {
			continue
		}
		last = e.offset
		o, err := f.object(f.Reference(uint32(last)))
		if IgnoreMalformed(err) != nil {
			return nil, err
		}
		stream, ok := o.(*Stream)
		if !ok {
			continue
		}
		f.spend(stream.Length)
		if r, err := f.decoder(stream, maxObjectStream); err == nil {
			_ = d.read(f, r) // what a decoder fails on is damage, and the reader of the file has been read before
		}
	}
	return d.numbers, nil
}

// dangling collects the numbers that references name, above a number.
type dangling struct {
	above   uint32
	numbers map[uint32]bool
	window  []byte
}

// read notes the references in what a reader has.
func (d *dangling) read(f *File, r io.Reader) error {
	const longest = 64 // of a reference
	kept := 0
	for !f.halfSpent() {
		n, err := io.ReadFull(r, d.window[kept:])
		f.spend(int64(n))
		d.scan(d.window[:kept+n])
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
		kept = copy(d.window, d.window[len(d.window)-longest:])
	}
	return nil
}

// scan notes the references in bytes: two numbers and an R with white space between.
func (d *dangling) scan(b []byte) {
	for at := 0; ; at++ {
		i := bytes.IndexByte(b[at:], 'R')
		if i < 0 {
			return
		}
		at += i
		if at > 0 && isSpace(b[at-1]) {
			d.reference(b[max(0, at-64):at])
		}
	}
}

// reference notes the reference whose R follows text.
func (d *dangling) reference(text []byte) {
	_, text, ok := numberBefore(text) // the generation
	if !ok || len(text) == 0 || !isSpace(text[len(text)-1]) {
		return
	}
	if num, _, ok := numberBefore(text); ok && num > int64(d.above) && num <= int64(d.above)+maxDangling {
		d.numbers[uint32(num)] = true
	}
}

// numberBefore returns the number that text ends with, white space aside, and what precedes it.
func numberBefore(text []byte) (n int64, before []byte, ok bool) {
	end := len(text)
	for end > 0 && isSpace(text[end-1]) {
		end--
	}
	start := end
	for start > 0 && isDigit(text[start-1]) {
		start--
	}
	for _, c := range text[start:end] {
		if n = 10*n + int64(c-'0'); n > 2*maxObjectNumber {
			return 0, nil, false
		}
	}
	return n, text[:start], start < end
}
