package pdf

import (
	"bytes"
	"errors"
	"strconv"
)

// finder finds a keyword in a file, again and again, ever farther from the start.
type finder struct {
	file    *File
	keyword string
	found   int64 // where the keyword stands next; the file's size when it does not
}

func (f *File) newFinder(keyword string) *finder {
	return &finder{file: f, keyword: keyword, found: -1}
}

// next returns where the keyword stands at or behind an offset, or the file's size.
func (s *finder) next(from int64) (int64, error) {
	if s.found >= from {
		return s.found, nil
	}
	var err error
	s.found, err = s.file.index(s.keyword, from)
	return s.found, err
}

// index returns where keyword stands first at or behind an offset, or the file's size.
func (f *File) index(keyword string, from int64) (int64, error) {
	const least, most = 1 << 10, 256 << 10
	overlap := int64(len(keyword) - 1)
	for n := int64(least); from < f.size; n = min(2*n, most) {
		if err := f.Spent(); err != nil {
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

// isWord reports whether no regular characters stand before and behind a range of the
// file, so that it is a word of its own, unlike the end of "endobj". Before "obj", a digit
// may: writers forget the space.
func (f *File) isWord(from, to int64) (bool, error) {
	before, err := f.read(max(from-1, 0), int(min(from, 1)))
	if err != nil {
		return false, err
	}
	behind, err := f.read(to, int(min(f.size-to, 1)))
	if err != nil {
		return false, err
	}
	joined := len(before) > 0 && isRegular(before[0]) && !isDigit(before[0])
	return !joined && (len(behind) == 0 || !isRegular(behind[0])), nil
}

// headBefore returns where the object head begins whose "obj" stands at an offset: the
// two numbers before it. ok is false where there are none, as in "endobj".
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

// withoutNumber drops white space and the number before it from the end of text.
func withoutNumber(text []byte) (before []byte, ok bool) {
	text = bytes.TrimRight(text, "\x00\t\n\f\r ")
	before = bytes.TrimRight(text, "0123456789")
	_, err := strconv.ParseUint(string(text[len(before):]), 10, 32)
	return before, err == nil
}

// measureStream returns the length of a payload up to the keyword endstream and the end
// of line before it, where Length is of no use.
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

// unreadable says whether an error is about what stands in the file, so that a scan goes
// on behind it.
func unreadable(err error) bool {
	return errors.Is(err, ErrDamaged) || errors.Is(err, ErrUnsupported)
}
