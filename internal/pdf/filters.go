package pdf

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Codes of LZWDecode (7.4.4.2).
const (
	lzwClear   = 256
	lzwEnd     = 257
	lzwMinBits = 9
	lzwMaxBits = 12
)

// lzwReader decodes LZWDecode. The package compress/lzw cannot: with EarlyChange, which is the
// default, the code length grows one entry earlier.
type lzwReader struct {
	r      io.ByteReader
	early  int
	bits   uint
	acc    uint32 // unused input, in the lowest bits
	have   uint   // number of unused bits in acc
	prefix [1 << lzwMaxBits]uint16
	suffix [1 << lzwMaxBits]byte
	next   int // code of the next entry
	last   int // previous code, -1 after a clear
	out    [1 << lzwMaxBits]byte
	left   []byte // part of out that Read has not yet returned
	err    error
}

func newLZWReader(r io.ByteReader, early bool) *lzwReader {
	l := &lzwReader{r: r}
	if early {
		l.early = 1
	}
	for i := range 256 {
		l.suffix[i] = byte(i)
	}
	l.clear()
	return l
}

func (l *lzwReader) clear() { l.bits, l.next, l.last = lzwMinBits, lzwEnd+1, -1 }

func (l *lzwReader) Read(b []byte) (int, error) {
	for len(l.left) == 0 && l.err == nil {
		l.err = l.decode()
	}
	if len(l.left) == 0 {
		return 0, l.err
	}
	n := copy(b, l.left)
	l.left = l.left[n:]
	return n, nil
}

// decode reads one code. If the code stands for bytes, decode sets left to them.
func (l *lzwReader) decode() error {
	code, err := l.code()
	switch {
	case err != nil:
		return err
	case code == lzwEnd:
		return io.EOF
	case code == lzwClear:
		l.clear()
		return nil
	case code > l.next || code == l.next && l.last < 0:
		return errors.New("LZW code without an entry")
	}
	l.expand(code)
	if l.last >= 0 && l.next < 1<<lzwMaxBits {
		l.prefix[l.next], l.suffix[l.next] = uint16(l.last), l.left[0]
		l.next++
	}
	l.last = code
	if l.next+l.early >= 1<<l.bits && l.bits < lzwMaxBits {
		l.bits++
	}
	return nil
}

// expand writes the bytes of an entry to the end of out. The code of the entry that is created next
// stands for the previous entry followed by its first byte.
func (l *lzwReader) expand(code int) {
	i := len(l.out)
	pending := code == l.next
	if pending {
		code = l.last
		i--
	}
	for ; code > lzwEnd; code = int(l.prefix[code]) {
		i--
		l.out[i] = l.suffix[code]
	}
	i--
	l.out[i] = byte(code)
	if pending {
		l.out[len(l.out)-1] = l.out[i]
	}
	l.left = l.out[i:]
}

// code reads the next code; its highest bit comes first.
func (l *lzwReader) code() (int, error) {
	for l.have < l.bits {
		c, err := l.r.ReadByte()
		if err != nil {
			return 0, err
		}
		l.acc = l.acc<<8 | uint32(c)
		l.have += 8
	}
	l.have -= l.bits
	return int(l.acc>>l.have) & (1<<l.bits - 1), nil
}

// hexReader decodes ASCIIHexDecode (7.4.2).
type hexReader struct {
	r    *bufio.Reader
	done bool
}

func (h *hexReader) Read(b []byte) (n int, err error) {
	for n < len(b) && !h.done {
		high, err := h.digit()
		if err != nil {
			return n, err
		}
		if h.done {
			break
		}
		low, err := h.digit() // 0 at the end: a missing last digit counts as 0
		if err != nil {
			return n, err
		}
		b[n] = byte(high<<4 | low)
		n++
	}
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// digit returns the value of the next digit. At the end of the input it sets done and returns 0.
func (h *hexReader) digit() (int, error) {
	for !h.done {
		c, err := h.r.ReadByte()
		switch {
		case err == io.EOF || c == '>':
			h.done = true
		case err != nil:
			return 0, err
		case hexValue(c) >= 0:
			return hexValue(c), nil
		case !isSpace(c):
			return 0, fmt.Errorf("hexadecimal digit expected instead of %q", c)
		}
	}
	return 0, nil
}

// ascii85Payload ends at the tilde of the end-of-data marker of ASCII85Decode (7.4.3), which
// encoding/ascii85 does not support.
type ascii85Payload struct {
	r    *bufio.Reader
	done bool
}

func (u *ascii85Payload) Read(b []byte) (n int, err error) {
	for n < len(b) && !u.done {
		c, err := u.r.ReadByte()
		if err != nil && err != io.EOF {
			return n, err
		}
		if u.done = err == io.EOF || c == '~'; !u.done {
			b[n] = c
			n++
		}
	}
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// runLengthReader decodes RunLengthDecode (7.4.5).
type runLengthReader struct {
	r      *bufio.Reader
	left   int // remaining bytes of the run
	repeat bool
	value  byte
}

// runLengthEnd is the length byte that ends the data.
const runLengthEnd = 128

func (l *runLengthReader) Read(b []byte) (n int, err error) {
	for n < len(b) {
		if l.left == 0 {
			if err := l.start(); err != nil {
				return n, err
			}
		}
		if b[n], err = l.take(); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func (l *runLengthReader) start() error {
	length, err := l.r.ReadByte()
	if err != nil {
		return err
	}
	if length == runLengthEnd {
		_ = l.r.UnreadByte() // so that the next call of Read returns io.EOF too
		return io.EOF
	}
	l.repeat = length > runLengthEnd
	if !l.repeat {
		l.left = int(length) + 1
		return nil
	}
	l.left = 257 - int(length)
	l.value, err = l.r.ReadByte()
	return unexpectedEnd(err)
}

func (l *runLengthReader) take() (byte, error) {
	l.left--
	if l.repeat {
		return l.value, nil
	}
	c, err := l.r.ReadByte()
	return c, unexpectedEnd(err)
}

// unexpectedEnd turns io.EOF into io.ErrUnexpectedEOF.
func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
