package jsonbody

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
)

// contentValue parses the member with the document.
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

// stream passes the content to the sink and reads to its closing quote.
func (p *parser) stream() error {
	if err := p.advance(1); err != nil {
		return err
	}
	p.inContent = true
	defer func() { p.inContent = false }()

	decoded := newContentReader(&p.lexer)
	sinkErr := p.runSink(decoded)
	invalid := decoded.err == ErrBase64
	switch {
	case decoded.err != nil && decoded.err != io.EOF && !invalid:
		return decoded.err // takes precedence over the sink's error
	case sinkErr != nil && !(invalid && errors.Is(sinkErr, ErrBase64)):
		return sinkErr
	case invalid:
		p.faults.add(strings.Join(p.content, "."), msgBase64)
	}
	return p.restOfString(io.Discard)
}

// runSink calls the sink, and reads the content that the sink did not read.
func (p *parser) runSink(decoded *contentReader) error {
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

// contentReader decodes the Base64 of a JSON string, up to its closing quote. It decodes in blocks, since decoding
// small pieces costs several times as much.
type contentReader struct {
	in       *lexer
	chars    []byte // not decoded yet
	block    []byte
	decoded  []byte // part of block, not read yet
	nonEmpty bool   // some content was decoded
	padded   bool   // padding was decoded, so nothing may follow
	err      error
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

// fill decodes the next block. It returns io.EOF with the last block.
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
	c.nonEmpty = c.nonEmpty || n > 0
	c.padded = c.padded || n < base64.StdEncoding.DecodedLen(whole)
	c.decoded = c.block[:n]
	c.chars = append(c.chars[:0], c.chars[whole:]...)
	if !ended {
		return nil
	}
	if len(c.chars) > 0 || !c.nonEmpty {
		c.decoded = nil
		return ErrBase64
	}
	return io.EOF
}

// gather fills chars with characters of the alphabet, so that the decoder gets no line breaks, which it would
// ignore. It reports whether the string ended.
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

// run appends leading characters of ready to chars, up to its capacity, and returns how many bytes of ready it
// read. It decodes \/ itself: in bodies of writers that escape slashes, it occurs about every 64 characters.
func (c *contentReader) run(ready []byte) (n int) {
	for {
		limit := min(len(ready)-n, cap(c.chars)-len(c.chars))
		plain := alphabetRun(ready[n : n+limit])
		c.chars = append(c.chars, ready[n:n+plain]...)
		n += plain
		if len(c.chars) == cap(c.chars) || len(ready)-n < 2 || ready[n] != '\\' || ready[n+1] != '/' {
			return n
		}
		c.chars = append(c.chars, '/')
		n += 2
	}
}

// escaped appends an escaped character to chars. For any other character, which is not of the alphabet, it returns
// ErrBase64 without consuming it, so that the rest of the string is checked as JSON.
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

// alphabetRun returns how many leading bytes are of the Base64 alphabet. Testing eight bytes at a time takes half
// the time of testing single bytes.
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

// alphabet is 1 for the characters of RFC 4648 section 4 and the padding.
var alphabet = func() (is [256]uint8) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") {
		is[c] = 1
	}
	return is
}()

// Base64Len returns the length of the Base64 of n bytes.
func Base64Len(n int64) int64 {
	return (n + 2) / 3 * 4
}

// WriteBase64 writes prefix, the Base64 (RFC 4648 section 4, padded) of the first size bytes of r, and suffix, such
// as
//
//	{"signedFileB64":"…"}
//
// with len(prefix)+Base64Len(size)+len(suffix) bytes in total. If r is shorter than size, the error wraps
// io.ErrUnexpectedEOF; errors of r and w are wrapped too.
func WriteBase64(w io.Writer, prefix string, r io.ReaderAt, size int64, suffix string) error {
	if _, err := io.WriteString(w, prefix); err != nil {
		return writeError(err)
	}
	if err := encode(w, io.NewSectionReader(r, 0, size), size); err != nil {
		return err
	}
	if _, err := io.WriteString(w, suffix); err != nil {
		return writeError(err)
	}
	return nil
}

// encode encodes blocks whose length is a multiple of three bytes, so that only the last block has padding.
func encode(w io.Writer, r io.Reader, size int64) error {
	const maxBlock = blockBuffer / 4 * 3
	block := make([]byte, min(size, maxBlock))
	chars := make([]byte, Base64Len(int64(len(block))))
	for size > 0 {
		block = block[:min(size, maxBlock)]
		if _, err := io.ReadFull(r, block); err != nil {
			return documentError(err)
		}
		size -= int64(len(block))
		base64.StdEncoding.Encode(chars, block)
		if _, err := w.Write(chars[:Base64Len(int64(len(block)))]); err != nil {
			return writeError(err)
		}
	}
	return nil
}

func documentError(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("jsonbody: read document: %w", err)
}

func writeError(err error) error {
	return fmt.Errorf("jsonbody: write: %w", err)
}
