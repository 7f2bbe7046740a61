package pdf

import (
	"bufio"
	"fmt"
	"io"
)

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
type untilTilde struct {
	r    *bufio.Reader
	done bool
}

func (u *untilTilde) Read(b []byte) (n int, err error) {
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
