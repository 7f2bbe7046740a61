package jsonbody

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// lexer hands out the bytes of a body and counts those that are not content.
type lexer struct {
	in        *bufio.Reader
	offset    int64
	left      int64 // of Options.Limit
	held      int64 // of what is not content
	hold      func() error
	unmetered bool // inside the content, which has no limit here
	rune      [utf8.UTFMax]byte
}

// window returns the bytes that lie ready, at least one. They are valid until
// the next call that looks beyond them.
func (l *lexer) window() ([]byte, error) {
	if _, err := l.in.Peek(1); err != nil {
		return nil, l.broken(err)
	}
	ready, err := l.in.Peek(l.in.Buffered())
	if err != nil {
		return nil, l.broken(err)
	}
	if l.unmetered || l.left >= int64(len(ready)) {
		return ready, nil
	}
	if l.left <= 0 {
		return nil, ErrTooLarge
	}
	return ready[:l.left], nil
}

// take consumes exactly n bytes, a few. When they are more than what is left of
// the limit, the next window says so: a body never ends with them.
func (l *lexer) take(n int) ([]byte, error) {
	b, err := l.in.Peek(n)
	if err != nil {
		return nil, l.broken(err)
	}
	return b, l.advance(n)
}

func (l *lexer) advance(n int) error {
	if _, err := l.in.Discard(n); err != nil {
		return l.broken(err)
	}
	l.offset += int64(n)
	if l.unmetered {
		return nil
	}
	l.left -= int64(n)
	l.held += int64(n)
	return l.afford()
}

// afford asks once whether there is memory for more.
func (l *lexer) afford() error {
	if l.held <= freelyHeld || l.hold == nil {
		return nil
	}
	hold := l.hold
	l.hold = nil
	if err := hold(); err != nil {
		return l.broken(err)
	}
	return nil
}

func (l *lexer) peek() (byte, error) {
	ready, err := l.window()
	if err != nil {
		return 0, err
	}
	return ready[0], nil
}

// token skips white space (RFC 8259 section 2) and shows the byte after it.
func (l *lexer) token() (byte, error) {
	for {
		c, err := l.peek()
		if err != nil || !isSpace(c) {
			return c, err
		}
		if err := l.advance(1); err != nil {
			return 0, err
		}
	}
}

// expect consumes white space and then c.
func (l *lexer) expect(c byte) error {
	found, err := l.token()
	if err != nil {
		return err
	}
	if found != c {
		return unexpected(l.offset)
	}
	return l.advance(1)
}

// atEnd skips white space and tells whether the body ends there.
func (l *lexer) atEnd() (bool, error) {
	_, err := l.token()
	if errors.Is(err, errEnded) {
		return true, nil
	}
	return false, err
}

// errEnded is a syntax error wherever more was to come. It takes the place of
// io.EOF, which would tell a sink that its content is whole.
var errEnded error = &SyntaxError{Path: wholeBody, Message: "The body is not valid JSON: it ends too early."}

func (l *lexer) broken(err error) error {
	if err == io.EOF {
		return errEnded
	}
	return fmt.Errorf("jsonbody: read body: %w", err)
}

func unexpected(offset int64) error {
	return bodyError("The body is not valid JSON: unexpected character at byte offset %d.", offset)
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r'
}
