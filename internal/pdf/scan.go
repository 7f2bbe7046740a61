package pdf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
)

// cursor parses a file from an offset on, through a window that moves forward.
type cursor struct {
	file   *File
	base   int64 // absolute offset of the window
	window int   // size of the current window, or of the first one
	p      parser
}

// cursor returns a cursor at an absolute offset. It reads window bytes first, and up to
// maxObjectBytes if one step needs them.
func (f *File) cursor(offset int64, window int) *cursor {
	return &cursor{file: f, base: offset, window: window}
}

// offset returns the absolute offset of the cursor.
func (c *cursor) offset() int64 { return c.base + int64(c.p.pos) }

// step parses at the cursor and moves the cursor to the end of the parsed text. step may call parse
// several times, always at the same offset; only the last result counts.
func (c *cursor) step(parse func(*parser) error) error {
	if c.p.buf == nil {
		if err := c.more(); err != nil {
			return err
		}
	}
	for {
		start := c.p.pos
		c.p.needsMore, c.p.duplicateKeys, c.p.depth, c.p.items = false, false, 0, 0
		err := parse(&c.p)
		c.file.spend(int64(c.p.pos - start))
		if !c.p.needsMore {
			return err
		}
		c.p.pos = start
		if err := c.more(); err != nil {
			return err
		}
	}
}

// more moves the window to the cursor. If the window already begins there, more makes it four times
// as large.
func (c *cursor) more() error {
	if c.p.pos == 0 && len(c.p.buf) > 0 {
		c.window *= 4
	}
	if c.window > maxObjectBytes {
		return fmt.Errorf("%w: object of more than %d bytes", ErrLimit, maxObjectBytes)
	}
	c.base = c.offset()
	n := min(int64(c.window), max(c.file.size-c.base, 0))
	buf, err := c.file.read(c.base, int(n))
	if err != nil {
		return err
	}
	c.p = parser{buf: buf, final: c.base+n >= c.file.size}
	return nil
}

// read returns n bytes at an absolute offset. All of them have to be inside the file.
func (f *File) read(offset int64, n int) ([]byte, error) {
	f.spend(int64(n))
	buf := make([]byte, n)
	got, err := f.r.ReadAt(buf, offset)
	if got == n {
		return buf, nil
	}
	return nil, readFault(n, offset, err)
}

// finder finds the next place of a keyword for offsets that only increase.
type finder struct {
	file    *File
	keyword string
	found   int64 // offset of the last place found; the size of the file: there is none
}

func (f *File) newFinder(keyword string) *finder {
	return &finder{file: f, keyword: keyword, found: -1}
}

// next returns the first offset of the keyword at or after from. If there is none, it returns the
// size of the file.
func (s *finder) next(from int64) (int64, error) {
	if s.found >= from {
		return s.found, nil
	}
	var err error
	s.found, err = s.file.index(s.keyword, from)
	return s.found, err
}

// index returns the first offset of keyword at or after from. If there is none, it returns the size
// of the file.
func (f *File) index(keyword string, from int64) (int64, error) {
	const least, most = 1 << 10, 256 << 10
	overlap := int64(len(keyword) - 1)
	for n := int64(least); from < f.size; n = min(2*n, most) {
		if err := f.CheckBudget(); err != nil {
			return 0, err
		}
		window, err := f.read(from, int(min(n, f.size-from)))
		if err != nil {
			return 0, err
		}
		if i := bytes.Index(window, []byte(keyword)); i >= 0 {
			return from + int64(i), nil
		}
		from += max(int64(len(window))-overlap, 1)
	}
	return f.size, nil
}

// isWord reports whether a range of the file is a word of its own: no regular character may stand
// directly before or after it, as one does before the end of "endobj". A digit may stand before it,
// because some writers omit the space before "obj".
func (f *File) isWord(from, to int64) (bool, error) {
	before, err := f.read(max(from-1, 0), int(min(from, 1)))
	if err != nil {
		return false, err
	}
	after, err := f.read(to, int(min(f.size-to, 1)))
	if err != nil {
		return false, err
	}
	joined := len(before) > 0 && isRegular(before[0]) && !isDigit(before[0])
	return !joined && (len(after) == 0 || !isRegular(after[0])), nil
}

// headBefore returns the offset of the object head whose keyword "obj" is at an offset. The head
// begins with the two numbers before the keyword. ok is false if they are missing.
func (f *File) headBefore(at int64) (head int64, ok bool, err error) {
	const most = len("8388607") + len("65535") + 16 // white space and leading zeros
	from := max(at-int64(most), 0)
	window, err := f.read(from, int(at-from))
	if err != nil {
		return 0, false, err
	}
	before, ok := withoutNumber(window)
	if ok {
		before, ok = withoutNumber(before)
	}
	return from + int64(len(before)), ok, nil
}

// withoutNumber returns text without the number at its end and the white space after the number.
func withoutNumber(text []byte) (before []byte, ok bool) {
	text = bytes.TrimRight(text, "\x00\t\n\f\r ")
	before = bytes.TrimRight(text, "0123456789")
	_, err := strconv.ParseUint(string(text[len(before):]), 10, 32)
	return before, err == nil
}

// measureStream returns the length of a payload by its end: the keyword endstream and the end of
// line before it. It is for streams whose Length is missing or wrong.
func (f *File) measureStream(payload int64) (int64, error) {
	end, err := f.index("endstream", payload)
	if err != nil {
		return 0, err
	}
	if end == f.size {
		return 0, syntaxError("stream without an end")
	}
	from := max(end-2, payload)
	tail, err := f.read(from, int(end-from))
	if err != nil {
		return 0, err
	}
	switch {
	case bytes.HasSuffix(tail, []byte("\r\n")):
		end -= 2
	case bytes.HasSuffix(tail, []byte("\n")), bytes.HasSuffix(tail, []byte("\r")):
		end--
	}
	return end - payload, nil
}

// isUnreadable reports whether an error is about the content of the file, so that a scan continues
// after the unreadable object.
func isUnreadable(err error) bool {
	return errors.Is(err, ErrDamaged) || errors.Is(err, ErrUnsupported)
}

// headScan finds every object head, such as "12 0 obj", in bytes that it gets one by one. It finds
// heads inside streams and comments too, because some readers that rebuild a cross-reference look
// there. Readers differ in what they accept as white space, as a number and as a comment; headScan
// accepts all of it. Its value is a set: each bit is one way to interpret the bytes so far.
type headScan uint16

const (
	inNumber headScan = 1 << iota
	afterNumber
	inComment // in a comment after the number
	inGeneration
	afterGeneration
	inSecondComment
	afterO
	afterB
)

// next returns the set after one more byte, and reports whether an object head ends with this byte.
func (s headScan) next(c byte) (after headScan, found bool) {
	switch {
	case s == 0 && !isNumeric(c):
		return 0, false
	case isNumeric(c):
		after = inNumber | s.moveTo(afterNumber|inGeneration, inGeneration)
	// Some readers take the last three for white space.
	case isSpace(c) || c == '\v' || c == 0x85 || c == 0xa0:
		after = s.moveTo(inNumber|afterNumber, afterNumber) | s.moveTo(inGeneration|afterGeneration, afterGeneration)
	case c == '%':
		after = s.moveTo(inNumber|afterNumber, inComment) | s.moveTo(inGeneration|afterGeneration, inSecondComment)
	case c == 'o':
		after = s.moveTo(inGeneration|afterGeneration, afterO)
	case c == 'b':
		after = s.moveTo(afterO, afterB)
	case c == 'j':
		found = s&afterB != 0
	}
	if c == '\r' || c == '\n' {
		return after | s.moveTo(inComment, afterNumber) | s.moveTo(inSecondComment, afterGeneration), found
	}
	return after | s&(inComment|inSecondComment), found
}

// moveTo returns state if s has one of the states in from, else the empty set.
func (s headScan) moveTo(from, state headScan) headScan {
	if s&from == 0 {
		return 0
	}
	return state
}

// eachHead calls visit with the offset after every object head from an offset on, until visit
// returns false. It reports whether visit never did. The numbers of the first head may lie before
// the offset: the number after startxref can be one, with an end-of-file marker that looks like a
// comment.
func (f *File) eachHead(from int64, visit func(end int64) bool) (bool, error) {
	const window = 256 << 10
	scan := afterNumber | afterGeneration
	for ; from < f.size; from += window {
		if err := f.CheckBudget(); err != nil {
			return false, err
		}
		b, err := f.read(from, int(min(window, f.size-from)))
		if err != nil {
			return false, err
		}
		for i := 0; i < len(b); i++ {
			after, found := scan.next(b[i])
			if found && !visit(from+int64(i)+1) {
				return false, nil
			}
			if after == scan { // long runs of one byte, such as the padding of a signature
				i += repeated(b[i:])
			}
			scan = after
		}
	}
	return true, nil
}

// repeated returns how many times the first byte of b is repeated directly after it.
func repeated(b []byte) int {
	const word = 8
	n, same := 1, uint64(b[0])*0x0101010101010101
	for n+word <= len(b) && binary.LittleEndian.Uint64(b[n:]) == same {
		n += word
	}
	for n < len(b) && b[n] == b[0] {
		n++
	}
	return n - 1
}
