package doc

import (
	"bytes"
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// What an ASCII character, or a byte of another character, can be.
const (
	startsName uint8 = 1 << iota
	continuesName
	isSpace
	stopsRun   // does not stand for itself in character data
	stopsValue // does not stand for itself in an attribute's value
)

// Space is white space (XML 1.0 [3]).
const Space = " \t\r\n"

// class is what each byte can be. Bytes of characters outside of ASCII are none of it: what those
// can be has to be asked of the whole character.
var class = [256]uint8{
	'\t': isSpace | stopsValue, '\n': isSpace | stopsValue, '\r': isSpace | stopsRun | stopsValue, ' ': isSpace,
	'&': stopsRun | stopsValue, '<': stopsRun,
	'-': continuesName, '.': continuesName, '_': startsName | continuesName,
	'0': continuesName, '1': continuesName, '2': continuesName, '3': continuesName, '4': continuesName,
	'5': continuesName, '6': continuesName, '7': continuesName, '8': continuesName, '9': continuesName,
	'A': letter, 'B': letter, 'C': letter, 'D': letter, 'E': letter, 'F': letter, 'G': letter, 'H': letter, 'I': letter,
	'J': letter, 'K': letter, 'L': letter, 'M': letter, 'N': letter, 'O': letter, 'P': letter, 'Q': letter, 'R': letter,
	'S': letter, 'T': letter, 'U': letter, 'V': letter, 'W': letter, 'X': letter, 'Y': letter, 'Z': letter,
	'a': letter, 'b': letter, 'c': letter, 'd': letter, 'e': letter, 'f': letter, 'g': letter, 'h': letter, 'i': letter,
	'j': letter, 'k': letter, 'l': letter, 'm': letter, 'n': letter, 'o': letter, 'p': letter, 'q': letter, 'r': letter,
	's': letter, 't': letter, 'u': letter, 'v': letter, 'w': letter, 'x': letter, 'y': letter, 'z': letter,
}

const letter = startsName | continuesName

// nameStarts are the characters outside of ASCII that a name can begin with (XML 1.0 [4]).
var nameStarts = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0xC0, 0xD6, 1}, {0xD8, 0xF6, 1}, {0xF8, 0x2FF, 1}, {0x370, 0x37D, 1}, {0x37F, 0x1FFF, 1},
		{0x200C, 0x200D, 1}, {0x2070, 0x218F, 1}, {0x2C00, 0x2FEF, 1}, {0x3001, 0xD7FF, 1},
		{0xF900, 0xFDCF, 1}, {0xFDF0, 0xFFFD, 1},
	},
	R32: []unicode.Range32{{0x10000, 0xEFFFF, 1}},
}

// nameContinues are those that it can have in other places too ([4a]).
var nameContinues = &unicode.RangeTable{
	R16: []unicode.Range16{{0xB7, 0xB7, 1}, {0x300, 0x36F, 1}, {0x203F, 0x2040, 1}},
}

// ncName is the length of the name without a colon that text begins with; 0 when it begins with
// none (Namespaces in XML 1.0 [4]).
func ncName(text []byte) int {
	for i := 0; i < len(text); {
		b, wanted := text[i], continuesName
		if i == 0 {
			wanted = startsName
		}
		if b < utf8.RuneSelf {
			if class[b]&wanted == 0 {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if !unicode.Is(nameStarts, r) && (i == 0 || !unicode.Is(nameContinues, r)) {
			return i
		}
		i += n
	}
	return len(text)
}

// IsChar says whether a document can have the character (XML 1.0 [2]).
func IsChar(r rune) bool {
	switch {
	case r < ' ':
		return r == '\t' || r == '\n' || r == '\r'
	case r < 0xD800:
		return true
	}
	return 0xDFFF < r && r <= unicode.MaxRune && r != 0xFFFE && r != 0xFFFF
}

// forbidden is where the first character stands that no document can have; -1 when there is none.
// The text is UTF-8, so that only control characters and two noncharacters are looked for.
func forbidden(text []byte) int {
	at := control(text)
	for _, r := range []string{"\uFFFE", "\uFFFF"} {
		if i := bytes.Index(text, []byte(r)); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	return at
}

// control looks at eight bytes at once: white space is rare beside what is none.
func control(text []byte) int {
	const low, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(text); i += 8 {
		word := binary.LittleEndian.Uint64(text[i:])
		if (word-low*' ')&^word&high == 0 {
			continue
		}
		if at := controlIn(text[i : i+8]); at >= 0 {
			return i + at
		}
	}
	if at := controlIn(text[i:]); at >= 0 {
		return i + at
	}
	return -1
}

func controlIn(text []byte) int {
	for i, b := range text {
		if b < ' ' && class[b]&isSpace == 0 {
			return i
		}
	}
	return -1
}
