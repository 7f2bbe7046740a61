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
)

// objectCipher encrypts and decrypts the strings or the payload of one object.
type objectCipher struct {
	method cipherMethod
	key    []byte
}

// cipher returns the cipher of an object. Its key is Algorithm 1 (7.6.3.2), but with
// AES-256 it is the file's (Algorithm 1.A).
func (e *encryption) cipher(method cipherMethod, ref Ref) objectCipher {
	if method == identity || method == aes256Cipher {
		return objectCipher{method, e.key}
	}
	hash := md5.New()
	hash.Write(e.key)
	hash.Write([]byte{byte(ref.Num), byte(ref.Num >> 8), byte(ref.Num >> 16), byte(ref.Gen), byte(ref.Gen >> 8)})
	if method == aesCipher {
		hash.Write([]byte("sAlT"))
	}
	return objectCipher{method, hash.Sum(nil)[:min(len(e.key)+5, md5.Size)]}
}

// reader returns a reader of what the next length bytes of r are, decrypted.
func (c objectCipher) reader(r io.Reader, length int64) (io.Reader, error) {
	switch c.method {
	case identity:
		return r, nil
	case rc4Cipher:
		stream, err := rc4.NewCipher(c.key)
		return cipher.StreamReader{S: stream, R: r}, err
	}
	if length == 0 || length == aes.BlockSize { // some writers do not pad what is empty
		return bytes.NewReader(nil), nil
	}
	if length < 0 || length%aes.BlockSize != 0 {
		return nil, fmt.Errorf("AES in %d bytes", length)
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

// cbcReader decrypts AES in CBC mode and takes the padding off the end (RFC 8018 6.1.1).
type cbcReader struct {
	r     io.Reader
	mode  cipher.BlockMode
	left  int64 // encrypted bytes, a multiple of the block size
	plain []byte
	buf   [4096]byte
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
		return errors.New("wrong padding")
	}
	c.plain = blocks[:len(blocks)-n]
	return nil
}

// decrypt decrypts a string.
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

// encrypt encrypts a string or a payload, with AES under a new initialization vector.
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
