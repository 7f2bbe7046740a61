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

// lzwReader decodes LZWDecode. compress/lzw is of no use here: with EarlyChange, which
// is the default, codes get longer one entry sooner.
type lzwReader struct {
	r      io.ByteReader
	early  int
	bits   uint
	acc    uint32 // input not yet used, in its lowest bits
	have   uint   // number of those bits
	prefix [1 << lzwMaxBits]uint16
	suffix [1 << lzwMaxBits]byte
	next   int // code of the next entry
	last   int // code before, -1 after a clear
	out    [1 << lzwMaxBits]byte
	left   []byte // of out
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

// decode reads one code and, if it stands for bytes, makes them available.
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

// expand writes the bytes of an entry into out, from the end. The entry that is only
// about to be made is the one before and its first byte again.
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

// code reads the next code, highest bit first.
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
		low, err := h.digit() // 0 at the end: a missing last digit
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

// digit returns the next digit; 0 and done at the end of the input.
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

// untilTilde ends at the tilde that ASCII85Decode ends with (7.4.3), which
// encoding/ascii85 does not know.
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
	left   int // bytes left of the run
	repeat bool
	value  byte
}

// runLengthEnd is the length that ends the stream.
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
		_ = l.r.UnreadByte() // the next call has to end too
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

// cutOff turns an end of input in the middle of something into an error.
func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
