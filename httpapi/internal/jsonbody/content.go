package jsonbody

import (
	"encoding/base64"
	"errors"
	"io"
	"strings"
)

// contentValue reads the member that holds the document.
func (p *parser) contentValue() (*value, error) {
	first, err := p.token()
	if err != nil {
		return nil, err
	}
	if first == '"' {
		return &value{kind: content}, p.stream()
	}
	v, err := p.value()
	if err == nil && v.kind != null {
		p.faults.add(strings.Join(p.content, "."), mustBe(text))
	}
	return v, err
}

// stream hands the content to the sink and reads on to its closing quote.
func (p *parser) stream() error {
	if err := p.advance(1); err != nil {
		return err
	}
	p.unmetered = true
	defer func() { p.unmetered = false }()

	decoded := newContentReader(&p.lexer)
	sinkErr := p.pour(decoded)
	refused := decoded.err == ErrBase64
	switch {
	case decoded.err != nil && decoded.err != io.EOF && !refused:
		return decoded.err // whatever the sink made of it
	case sinkErr != nil && !(refused && errors.Is(sinkErr, ErrBase64)):
		return sinkErr
	case refused:
		p.faults.add(strings.Join(p.content, "."), msgBase64)
	}
	return p.rest(io.Discard)
}

// pour lets the sink read, and reads what it left.
func (p *parser) pour(decoded *contentReader) error {
	if p.sink != nil {
		if err := p.sink(decoded); err != nil {
			return err
		}
	}
	for decoded.err == nil {
		decoded.err = decoded.fill()
	}
	return nil
}

// contentReader decodes the Base64 of a JSON string, up to its closing quote. It
// works on blocks, for a decoder that is fed small pieces costs several times
// the decoding.
type contentReader struct {
	in      *lexer
	chars   []byte // gathered, not decoded yet
	block   []byte
	decoded []byte // part of block, not read yet
	some    bool   // there was content
	padded  bool   // padding was seen: nothing may follow
	err     error
}

func newContentReader(l *lexer) *contentReader {
	return &contentReader{
		in:    l,
		chars: make([]byte, 0, blockBuffer),
		block: make([]byte, base64.StdEncoding.DecodedLen(blockBuffer)),
	}
}

func (c *contentReader) Read(p []byte) (int, error) {
	for len(c.decoded) == 0 {
		if c.err != nil {
			return 0, c.err
		}
		c.err = c.fill()
	}
	n := copy(p, c.decoded)
	c.decoded = c.decoded[n:]
	return n, nil
}

// fill decodes the next block. It returns io.EOF with the last one.
func (c *contentReader) fill() error {
	ended, err := c.gather()
	if err != nil {
		return err
	}
	whole := len(c.chars) / 4 * 4
	n, err := base64.StdEncoding.Decode(c.block, c.chars[:whole])
	if err != nil || whole > 0 && c.padded {
		return ErrBase64
	}
	c.some = c.some || n > 0
	c.padded = c.padded || n < base64.StdEncoding.DecodedLen(whole)
	c.decoded = c.block[:n]
	c.chars = append(c.chars[:0], c.chars[whole:]...)
	if !ended {
		return nil
	}
	if len(c.chars) > 0 || !c.some {
		c.decoded = nil
		return ErrBase64
	}
	return io.EOF
}

// gather fills chars with characters of the alphabet, so that the decoder meets
// none of the line breaks it would skip, and tells when the string ends.
func (c *contentReader) gather() (ended bool, err error) {
	for len(c.chars) < cap(c.chars) {
		ready, err := c.in.window()
		if err != nil {
			return false, err
		}
		n := c.run(ready)
		more := n == len(ready) || len(c.chars) == cap(c.chars)
		closed := n < len(ready) && ready[n] == '"'
		if err := c.in.advance(n); err != nil || closed {
			return closed, err
		}
		if more {
			continue
		}
		if err := c.escaped(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// run gathers the leading characters of ready, as many as there is room for, and
// returns how many bytes they take. It knows \/ itself: writers that escape
// slashes do so every 64 characters or so.
func (c *contentReader) run(ready []byte) (n int) {
	for {
		room := min(len(ready)-n, cap(c.chars)-len(c.chars))
		plain := alphabetRun(ready[n : n+room])
		c.chars = append(c.chars, ready[n:n+plain]...)
		n += plain
		if len(c.chars) == cap(c.chars) || len(ready)-n < 2 || ready[n] != '\\' || ready[n+1] != '/' {
			return n
		}
		c.chars = append(c.chars, '/')
		n += 2
	}
}

// escaped gathers a character that is written as an escape; any other character
// that is not of the alphabet is left to be judged as part of a string.
func (c *contentReader) escaped() error {
	next, err := c.in.peek()
	if err != nil {
		return err
	}
	if next != '\\' {
		return ErrBase64
	}
	r, err := c.in.escape()
	if err != nil {
		return err
	}
	if r >= rune(len(alphabet)) || alphabet[r] == 0 {
		return ErrBase64
	}
	c.chars = append(c.chars, byte(r))
	return nil
}

// alphabetRun counts the leading bytes that are of the Base64 alphabet. Eight at a
// time, it costs half of what it does one by one.
func alphabetRun(b []byte) (n int) {
	for ; len(b)-n >= 8; n += 8 {
		w := b[n : n+8 : n+8]
		if alphabet[w[0]]&alphabet[w[1]]&alphabet[w[2]]&alphabet[w[3]]&
			alphabet[w[4]]&alphabet[w[5]]&alphabet[w[6]]&alphabet[w[7]] == 0 {
			break
		}
	}
	for n < len(b) && alphabet[b[n]] != 0 {
		n++
	}
	return n
}

// alphabet is 1 at the characters of RFC 4648 section 4 and of its padding.
var alphabet = func() (is [256]uint8) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") {
		is[c] = 1
	}
	return is
}()
