package pdf

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"crypto/rand"
	"crypto/rc4"
	"errors"
	"fmt"
	"io"
	"slices"
)

// objectCipher encrypts and decrypts the strings or the payload of one object.
type objectCipher struct {
	method cipherMethod
	key    []byte
}

// cbcReader decrypts AES in CBC mode and removes the padding (RFC 8018 6.1.1).
type cbcReader struct {
	r     io.Reader
	mode  cipher.BlockMode
	left  int64 // remaining encrypted bytes, a multiple of the block size
	plain []byte
	buf   [4096]byte
}

// body is the text of an object that an update writes between obj and endobj.
type body struct {
	source  []byte // source text of the object or, for a stream, of its dictionary
	value   Object
	stream  bool
	payload []byte
}

// stringAt is a string and its position in a source text.
type stringAt struct {
	value      String
	start, end int
}

// stringScan finds the strings in a source text.
type stringScan struct {
	p     parser
	found []stringAt
}

// cipher returns the cipher of an object. Its key comes from Algorithm 1 (7.6.3.2). For AES-256 it
// is the file encryption key (Algorithm 1.A).
func (e *encryption) cipher(method cipherMethod, ref Ref) objectCipher {
	if method == identity || method == aes256Cipher {
		return objectCipher{method, e.key}
	}
	hash := md5.New()
	hash.Write(e.key)
	hash.Write([]byte{byte(ref.Num), byte(ref.Num >> 8), byte(ref.Num >> 16), byte(ref.Gen), byte(ref.Gen >> 8)})
	if method == aes128Cipher {
		hash.Write([]byte("sAlT"))
	}
	return objectCipher{method, hash.Sum(nil)[:min(len(e.key)+5, md5.Size)]}
}

// reader returns a reader of the plain text of the next length bytes of r.
func (c objectCipher) reader(r io.Reader, length int64) (io.Reader, error) {
	switch c.method {
	case identity:
		return r, nil
	case rc4Cipher:
		stream, err := rc4.NewCipher(c.key)
		return cipher.StreamReader{S: stream, R: r}, err
	}
	if length == 0 || length == aes.BlockSize { // some writers do not pad an empty text
		return bytes.NewReader(nil), nil
	}
	if length < 0 || length%aes.BlockSize != 0 {
		return nil, fmt.Errorf("the data have %d bytes, which is no multiple of an AES block", length)
	}
	block, err := aes.NewCipher(c.key)
	if err != nil {
		return nil, err
	}
	vector := make([]byte, aes.BlockSize)
	if _, err := io.ReadFull(r, vector); err != nil {
		return nil, err
	}
	return &cbcReader{r: r, mode: cipher.NewCBCDecrypter(block, vector), left: length - aes.BlockSize}, nil
}

func (c *cbcReader) Read(b []byte) (int, error) {
	for len(c.plain) == 0 {
		if c.left == 0 {
			return 0, io.EOF
		}
		if err := c.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(b, c.plain)
	c.plain = c.plain[n:]
	return n, nil
}

func (c *cbcReader) fill() error {
	blocks := c.buf[:min(int64(len(c.buf)), c.left)]
	if _, err := io.ReadFull(c.r, blocks); err != nil {
		return err
	}
	c.mode.CryptBlocks(blocks, blocks)
	c.plain = blocks
	if c.left -= int64(len(blocks)); c.left > 0 {
		return nil
	}
	n := int(blocks[len(blocks)-1])
	if n < 1 || n > aes.BlockSize || bytes.Count(blocks[len(blocks)-n:], blocks[len(blocks)-1:]) != n {
		return errors.New("the padding after AES decryption is wrong")
	}
	c.plain = blocks[:len(blocks)-n]
	return nil
}

func (c objectCipher) decrypt(b []byte) ([]byte, error) {
	r, err := c.reader(bytes.NewReader(b), int64(len(b)))
	if err == nil {
		b, err = io.ReadAll(r)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: encrypted string: %w", ErrDamaged, err)
	}
	return b, nil
}

// encrypt encrypts a string or a payload. For AES it makes a new initialization vector.
func (c objectCipher) encrypt(b []byte) ([]byte, error) {
	switch c.method {
	case identity:
		return b, nil
	case rc4Cipher:
		return rc4Bytes(c.key, b)
	}
	block, err := aes.NewCipher(c.key)
	if err != nil {
		return nil, err
	}
	padding := aes.BlockSize - len(b)%aes.BlockSize
	out := make([]byte, aes.BlockSize, aes.BlockSize+len(b)+padding)
	if _, err := rand.Read(out); err != nil {
		return nil, err
	}
	vector := bytes.Clone(out)
	out = append(append(out, b...), bytes.Repeat([]byte{byte(padding)}, padding)...)
	cipher.NewCBCEncrypter(block, vector).CryptBlocks(out[aes.BlockSize:], out[aes.BlockSize:])
	return out, nil
}

// decryptObject decrypts the strings of an object outside of object streams. An object stream is
// encrypted as a whole, so the strings in it are not encrypted again (7.6.2).
func (e *encryption) decryptObject(o *indirect) error {
	if e == nil || e.strings == identity || e.isExempt(o.ref, o.value, o.stream) {
		return nil
	}
	c := e.cipher(e.strings, o.ref)
	e.file.spend(2 * int64(len(o.source)))
	source, err := replaceStrings(o.source, func(s String) ([]byte, error) {
		e.file.spend(stringWork)
		plain, err := c.decrypt([]byte(s))
		return stringToken(plain), err
	})
	if err != nil {
		return err
	}
	o.source = source
	o.value, err = (&parser{buf: source, final: true}).object()
	return err
}

// encryptObject returns the body of an object with its strings and its payload encrypted.
func (e *encryption) encryptObject(ref Ref, body []byte) ([]byte, error) {
	if e == nil {
		return body, nil
	}
	b, err := parseBody(body)
	if err != nil || e.isExempt(ref, b.value, b.stream) {
		return body, err
	}
	if b.stream {
		if err := e.encryptPayload(ref, &b); err != nil {
			return nil, err
		}
	}
	if e.strings != identity {
		c := e.cipher(e.strings, ref)
		b.source, err = replaceStrings(b.source, func(s String) ([]byte, error) {
			encrypted, err := c.encrypt([]byte(s))
			return HexString(encrypted), err
		})
	}
	return b.text(), err
}

func (e *encryption) encryptPayload(ref Ref, b *body) error {
	dict := b.value.(Dict)
	method, err := e.streamMethod(dict)
	if err != nil {
		return err
	}
	if b.payload, err = e.cipher(method, ref).encrypt(b.payload); err != nil {
		return err
	}
	b.source, err = SetKey(b.source, "Length", fmt.Appendf(nil, "%d", len(b.payload)))
	return err
}

// parseBody splits the text of an object into its parts. The Length of a stream has to be direct.
func parseBody(text []byte) (b body, err error) {
	p := &parser{buf: text, final: true}
	if b.value, err = p.object(); err != nil {
		return b, err
	}
	end := p.pos
	dict, ok := b.value.(Dict)
	if b.stream = ok && p.keyword("stream"); !b.stream {
		b.source = text
		return b, p.end()
	}
	p.skipLineEnd()
	b.source = text[:end]
	length, ok := dict["Length"].(Integer)
	if !ok || length < 0 || int64(length) > int64(len(text)-p.pos) {
		return b, fmt.Errorf("%w: Length of a new stream is not the length of its payload", ErrDamaged)
	}
	b.payload = text[p.pos : p.pos+int(length)]
	if p.pos += int(length); !p.keyword("endstream") {
		return b, fmt.Errorf("%w: no endstream after the payload of a new stream", ErrDamaged)
	}
	return b, p.end()
}

// text returns the text of the object from its parts.
func (b body) text() []byte {
	if !b.stream {
		return b.source
	}
	return slices.Concat(b.source, []byte("\nstream\n"), b.payload, []byte("\nendstream"))
}

// isExempt reports whether an object is never encrypted: the encryption dictionary (7.6.2) and
// cross-reference streams (7.5.8.2).
func (e *encryption) isExempt(ref Ref, value Object, stream bool) bool {
	dict, _ := value.(Dict)
	return e.dictRef.Num > 0 && ref == e.dictRef || stream && dict["Type"] == Name("XRef")
}

// stringToken returns the source text of a string: a literal string for ASCII text, else
// hexadecimal.
func stringToken(b []byte) []byte {
	if isASCIIText(string(b)) {
		return literalString(string(b))
	}
	return HexString(b)
}

// replaceStrings returns a source text in which token has replaced the strings. All other bytes
// stay unchanged, and so does Contents of a signature dictionary, which is never encrypted (7.6.2).
func replaceStrings(source []byte, token func(String) ([]byte, error)) ([]byte, error) {
	s := stringScan{p: parser{buf: source, final: true}}
	if err := s.object(); err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(source))
	at := 0
	for _, found := range s.found {
		replacement, err := token(found.value)
		if err != nil {
			return nil, err
		}
		out = append(append(out, source[at:found.start]...), replacement...)
		at = found.end
	}
	return append(out, source[at:]...), nil
}

func (s *stringScan) object() error {
	s.p.skipSpace()
	start := s.p.pos
	switch rest := s.p.buf[start:]; {
	case len(rest) > 1 && rest[0] == '<' && rest[1] == '<':
		return s.dict()
	case len(rest) > 0 && rest[0] == '[':
		return s.array()
	}
	o, err := s.p.object()
	if value, ok := o.(String); ok {
		s.found = append(s.found, stringAt{value, start, s.p.pos})
	}
	return err
}

func (s *stringScan) array() error {
	if err := s.p.enter(); err != nil {
		return err
	}
	defer s.p.leave()
	for s.p.pos++; ; {
		s.p.skipSpace()
		if c, ok := s.p.peek(); ok && c == ']' {
			s.p.pos++
			return nil
		}
		if err := s.object(); err != nil {
			return err
		}
	}
}

// dict finds the strings of a dictionary. A dictionary with a ByteRange counts as a signature
// dictionary, because Type is optional there (Table 255).
func (s *stringScan) dict() error {
	if err := s.p.enter(); err != nil {
		return err
	}
	defer s.p.leave()
	signature := false
	var contentsStart, contentsEnd int // range of the strings of Contents in found
	for s.p.pos += len("<<"); ; {
		s.p.skipSpace()
		if c, ok := s.p.peek(); !ok || c != '/' {
			break
		}
		key, before := s.p.name(), len(s.found)
		if err := s.object(); err != nil {
			return err
		}
		signature = signature || key == "ByteRange"
		if key == "Contents" {
			contentsStart, contentsEnd = before, len(s.found)
		}
	}
	if signature {
		s.found = slices.Delete(s.found, contentsStart, contentsEnd)
	}
	_, err := s.p.closeDict()
	return err
}
