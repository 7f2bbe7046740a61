package jsonbody

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// lexer reads the bytes and tokens of a body, and counts the bytes that are not content.
type lexer struct {
	in        *bufio.Reader
	offset    int64
	remaining int64 // of Options.Limit
	held      int64 // bytes in memory
	reserve   func() error
	inContent bool // the content is not counted
	rune      [utf8.UTFMax]byte
}

// window returns the buffered bytes, at least one. They are valid until the next call that reads beyond them.
func (l *lexer) window() ([]byte, error) {
	if _, err := l.in.Peek(1); err != nil {
		return nil, l.readError(err)
	}
	ready, err := l.in.Peek(l.in.Buffered())
	if err != nil {
		return nil, l.readError(err)
	}
	if l.inContent || l.remaining >= int64(len(ready)) {
		return ready, nil
	}
	if l.remaining <= 0 {
		return nil, ErrTooLarge
	}
	return ready[:l.remaining], nil
}

// take consumes exactly n bytes, where n is small. If they exceed the limit, the next call of window returns the
// error: these bytes are never the end of a body.
func (l *lexer) take(n int) ([]byte, error) {
	b, err := l.in.Peek(n)
	if err != nil {
		return nil, l.readError(err)
	}
	return b, l.advance(n)
}

func (l *lexer) advance(n int) error {
	if _, err := l.in.Discard(n); err != nil {
		return l.readError(err)
	}
	l.offset += int64(n)
	if l.inContent {
		return nil
	}
	l.remaining -= int64(n)
	l.held += int64(n)
	return l.reserveOnce()
}

// reserveOnce calls Options.Reserve, once, when more than unreserved bytes are held.
func (l *lexer) reserveOnce() error {
	if l.held <= unreserved || l.reserve == nil {
		return nil
	}
	reserve := l.reserve
	l.reserve = nil
	if err := reserve(); err != nil {
		return l.readError(err)
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

// token skips white space (RFC 8259 section 2) and returns the next byte without consuming it.
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

// expect skips white space and consumes c.
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

// atEnd skips white space and reports whether the body ends after it.
func (l *lexer) atEnd() (bool, error) {
	_, err := l.token()
	if errors.Is(err, errEnded) {
		return true, nil
	}
	return false, err
}

// errEnded is returned at the end of the body, where it is a syntax error unless atEnd expects it. It replaces
// io.EOF, which would report to a sink that its content is complete.
var errEnded error = &SyntaxError{Path: wholeBody, Message: "The body is not valid JSON: it ends too early."}

func (l *lexer) readError(err error) error {
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

// text reads a string with its quotes.
func (l *lexer) text() (string, error) {
	if err := l.expect('"'); err != nil {
		return "", err
	}
	var b strings.Builder
	err := l.restOfString(&b)
	return b.String(), err
}

// restOfString decodes the rest of a string, to its closing quote, into w. w is a strings.Builder or io.Discard,
// which do not return errors.
func (l *lexer) restOfString(w io.Writer) error {
	for {
		ready, err := l.window()
		if err != nil {
			return err
		}
		n := plainRun(ready)
		w.Write(ready[:n])
		all, closed := n == len(ready), n < len(ready) && ready[n] == '"'
		if err := l.advance(n); err != nil {
			return err
		}
		if closed {
			return l.advance(1)
		}
		if all {
			continue
		}
		if err := l.special(w); err != nil {
			return err
		}
	}
}

// special decodes one character that plainRun does not accept.
func (l *lexer) special(w io.Writer) error {
	c, err := l.peek()
	switch {
	case err != nil:
		return err
	case c < ' ':
		return unexpected(l.offset)
	case c != '\\':
		return l.multibyte(w)
	}
	r, err := l.escape()
	if err != nil {
		return err
	}
	w.Write(utf8.AppendRune(l.rune[:0], r))
	return nil
}

// multibyte copies one character of two to four bytes, which may cross the end of a window.
func (l *lexer) multibyte(w io.Writer) error {
	b, err := l.in.Peek(utf8.UTFMax)
	if err != nil && err != io.EOF {
		return l.readError(err)
	}
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError && n <= 1 {
		return bodyError("The body is not valid UTF-8 at byte offset %d.", l.offset)
	}
	if b, err = l.take(n); err == nil {
		w.Write(b)
	}
	return err
}

// escape reads one escaped character (RFC 8259 section 7).
func (l *lexer) escape() (rune, error) {
	at := l.offset
	b, err := l.take(2)
	if err != nil {
		return 0, err
	}
	if b[1] == 'u' {
		return l.unicode(at)
	}
	i := bytes.IndexByte([]byte(`"\/bfnrt`), b[1])
	if i < 0 {
		return 0, badEscape(at)
	}
	return rune("\"\\/\b\f\n\r\t"[i]), nil
}

// unicode reads the hexadecimal digits after \u. It refuses an unpaired surrogate (RFC 7493 section 2.1).
func (l *lexer) unicode(at int64) (rune, error) {
	high, err := l.hex4(at)
	if err != nil || !utf16.IsSurrogate(high) {
		return high, err
	}
	b, err := l.take(2)
	if err != nil {
		return 0, err
	}
	if b[0] != '\\' || b[1] != 'u' {
		return 0, badEscape(at)
	}
	low, err := l.hex4(at)
	if err != nil {
		return 0, err
	}
	r := utf16.DecodeRune(high, low)
	if r == utf8.RuneError {
		return 0, badEscape(at)
	}
	return r, nil
}

func (l *lexer) hex4(at int64) (rune, error) {
	b, err := l.take(4)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(string(b), 16, 16)
	if err != nil {
		return 0, badEscape(at)
	}
	return rune(n), nil
}

func badEscape(offset int64) error {
	return bodyError("The body is not valid JSON: invalid escape at byte offset %d.", offset)
}

// plainRun returns how many leading bytes are unescaped characters of a string. It stops before an incomplete
// character.
func plainRun(b []byte) int {
	n := 0
	for n < len(b) {
		c := b[n]
		if c < ' ' || c == '"' || c == '\\' {
			break
		}
		if c < utf8.RuneSelf {
			n++
			continue
		}
		r, size := utf8.DecodeRune(b[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}

// number reads a number and returns its text.
func (l *lexer) number() (string, error) {
	at := l.offset
	var b strings.Builder
	for {
		c, err := l.peek()
		if err != nil {
			return "", err
		}
		if strings.IndexByte("+-.0123456789Ee", c) < 0 {
			break
		}
		b.WriteByte(c)
		if err := l.advance(1); err != nil {
			return "", err
		}
	}
	if !isNumber(b.String()) {
		return "", bodyError("The body is not valid JSON: invalid number at byte offset %d.", at)
	}
	return b.String(), nil
}

// isNumber reports whether s is a number by the grammar of RFC 8259 section 6.
func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole, s := digits(s)
	if whole == "" || len(whole) > 1 && whole[0] == '0' {
		return false
	}
	if fraction, ok := strings.CutPrefix(s, "."); ok {
		if fraction, s = digits(fraction); fraction == "" {
			return false
		}
	}
	if s == "" {
		return true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	exponent, s := digits(s)
	return exponent != "" && s == ""
}

// digits splits s after its leading digits.
func digits(s string) (leading, rest string) {
	rest = strings.TrimLeft(s, "0123456789")
	return s[:len(s)-len(rest)], rest
}
