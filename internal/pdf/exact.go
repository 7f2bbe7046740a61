package pdf

import (
	"bytes"
	"strconv"
)

// exact reads text that has to stand to the letter as 7.5.4 and 7.5.5 write it, where
// [parser] takes what can be understood.
type exact struct{ text []byte }

func (e *exact) word(w string) (ok bool) {
	e.text, ok = bytes.CutPrefix(e.text, []byte(w))
	return ok
}

func (e *exact) lineEnd() bool { return e.word("\r\n") || e.word("\n") || e.word("\r") }

func (e *exact) space() { e.text = bytes.TrimLeft(e.text, "\t\n\f\r ") }

// number reads digits without a sign or leading zeros.
func (e *exact) number() (int64, bool) {
	rest := bytes.TrimLeft(e.text, "0123456789")
	digits := string(e.text[:len(e.text)-len(rest)])
	e.text = rest
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == digits
}

// table reads a cross-reference table up to the trailer's dictionary.
func (e *exact) table() bool {
	if !e.word("xref") || !e.lineEnd() {
		return false
	}
	for !e.word("trailer") {
		count, ok := e.subsection()
		if !ok {
			return false
		}
		for range count {
			if !e.entry() {
				return false
			}
		}
	}
	return true
}

func (e *exact) subsection() (count int64, ok bool) {
	if _, ok := e.number(); !ok || !e.word(" ") {
		return 0, false
	}
	count, ok = e.number()
	e.word(" ") // some writers have it
	return count, ok && e.lineEnd()
}

// entry reads one of the 20 bytes that each entry has.
func (e *exact) entry() bool {
	const size = len("0000000000 65535 f" + "\r\n")
	if len(e.text) < size {
		return false
	}
	b := e.text[:size]
	e.text = e.text[size:]
	_, ok1 := fixedDigits(b[:10])
	_, ok2 := fixedDigits(b[11:16])
	end := string(b[18:])
	return ok1 && ok2 && b[10] == ' ' && b[16] == ' ' && (b[17] == 'n' || b[17] == 'f') &&
		(end == "\r\n" || end == " \n" || end == " \r")
}

// streamEnd reads what follows the payload of a stream.
func (e *exact) streamEnd() bool {
	e.space()
	ended := e.word("endstream")
	e.space()
	return ended && e.word("endobj")
}

// startxref reads what ends an update whose section stands at an offset.
func (e *exact) startxref(offset int64) bool {
	if !e.word("startxref") || !e.lineEnd() {
		return false
	}
	n, ok := e.number()
	return ok && n == offset && e.lineEnd() && e.word("%%EOF")
}
