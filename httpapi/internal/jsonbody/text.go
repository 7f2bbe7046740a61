package jsonbody

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// text reads the string that starts here, with its quotes.
func (l *lexer) text() (string, error) {
	if err := l.expect('"'); err != nil {
		return "", err
	}
	var b strings.Builder
	err := l.rest(&b)
	return b.String(), err
}

// rest decodes a string into w, from within it to its closing quote. w is
// a strings.Builder or io.Discard, which never fail.
func (l *lexer) rest(w io.Writer) error {
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

// special decodes one character that plainRun stops at.
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

// multibyte copies one character of two to four bytes, which may lie on the edge
// of a window.
func (l *lexer) multibyte(w io.Writer) error {
	b, err := l.in.Peek(utf8.UTFMax)
	if err != nil && err != io.EOF {
		return l.broken(err)
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

// unicode reads what follows \u. A surrogate without its other half is refused
// (RFC 7493 section 2.1): it stands for no character.
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

// plainRun counts the leading bytes that stand for themselves in a string. It
// stops before a character that is not all there.
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
