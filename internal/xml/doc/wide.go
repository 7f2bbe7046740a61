package doc

import (
	"errors"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/transform"
)

// wide decodes UTF-16, and refuses half of a surrogate pair where the decoder of golang.org/x/text
// replaces it.
type wide struct {
	transform.NopResetter
	order byteOrder
}

var errSurrogate = errors.New("half of a surrogate pair")

func (w wide) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		r, n := w.character(src[nSrc:])
		switch {
		case n == 0 && !atEOF:
			return nDst, nSrc, transform.ErrShortSrc
		case n == 0:
			return nDst, nSrc, errSurrogate
		case nDst+utf8.RuneLen(r) > len(dst):
			return nDst, nSrc, transform.ErrShortDst
		}
		nDst += utf8.EncodeRune(dst[nDst:], r)
		nSrc += n
	}
	return nDst, nSrc, nil
}

// character is the first character with its length in bytes; 0 when it is not complete.
func (w wide) character(src []byte) (r rune, n int) {
	if len(src) < 2 {
		return 0, 0
	}
	r = rune(w.order.Uint16(src))
	if !utf16.IsSurrogate(r) {
		return r, 2
	}
	if len(src) < 4 {
		return 0, 0
	}
	if r = utf16.DecodeRune(r, rune(w.order.Uint16(src[2:]))); r == utf8.RuneError {
		return 0, 0
	}
	return r, 4
}
