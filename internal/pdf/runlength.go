package pdf

import (
	"bufio"
	"errors"
	"io"
)

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
	return cutOff(err)
}

func (l *runLengthReader) take() (byte, error) {
	l.left--
	if l.repeat {
		return l.value, nil
	}
	c, err := l.r.ReadByte()
	return c, cutOff(err)
}

// cutOff turns an end of input in the middle of something into an error.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
