package pdf

import (
	"bufio"
	"compress/zlib"
	"encoding/ascii85"
	"errors"
	"fmt"
	"io"
)

// filter is a stage of decoding with its parameters (7.4).
type filter struct {
	name   Name
	params params
}

// params are the parameters of FlateDecode and LZWDecode with their defaults (Table 8).
type params struct {
	predictor, colors, bits, columns, earlyChange Integer
}

// filters returns the filters of a stream in the order in which they decode (7.3.8.2).
func (f *File) filters(dict Dict) ([]filter, error) {
	names, err := f.oneOrMore(dict["Filter"])
	if err != nil {
		return nil, err
	}
	parameters, err := f.oneOrMore(dict["DecodeParms"])
	if err != nil {
		return nil, err
	}
	if len(names) > maxFilters {
		return nil, fmt.Errorf("%w: stream with %d filters", ErrLimit, len(names))
	}
	parameters = append(parameters, make(Array, len(names))...) // null where there are none
	filters := make([]filter, len(names))
	for i := range filters {
		if filters[i].name, err = resolveTo[Name](f, names[i]); err != nil {
			return nil, err
		}
		if filters[i].params, err = f.params(parameters[i]); err != nil {
			return nil, err
		}
	}
	return filters, nil
}

// oneOrMore returns the elements of an array, or the one object that stands for it.
func (f *File) oneOrMore(o Object) (Array, error) {
	o, err := f.resolve(o)
	switch o := o.(type) {
	case nil:
		return nil, err
	case Array:
		return o, nil
	}
	return Array{o}, nil
}

func (f *File) params(o Object) (params, error) {
	p := params{predictor: 1, colors: 1, bits: 8, columns: 1, earlyChange: 1}
	dict, err := resolveTo[Dict](f, o)
	if err != nil {
		return p, err
	}
	fields := map[Name]*Integer{
		"Predictor": &p.predictor, "Colors": &p.colors, "BitsPerComponent": &p.bits,
		"Columns": &p.columns, "EarlyChange": &p.earlyChange,
	}
	for key, field := range fields {
		value, ok := dict[key]
		if !ok {
			continue
		}
		if *field, err = resolveTo[Integer](f, value); err != nil {
			return p, err
		}
	}
	return p, nil
}

// open returns a reader of what r holds, decoded.
func (f filter) open(r io.Reader) (io.Reader, error) {
	switch f.name {
	case "FlateDecode":
		decoded, err := zlib.NewReader(bufio.NewReader(r))
		if err != nil {
			return nil, err
		}
		return f.params.predict(decoded)
	case "LZWDecode":
		return f.params.predict(newLZWReader(bufio.NewReader(r), f.params.earlyChange != 0))
	case "ASCIIHexDecode":
		return &hexReader{r: bufio.NewReader(r)}, nil
	case "ASCII85Decode":
		return ascii85.NewDecoder(&untilTilde{r: bufio.NewReader(r)}), nil
	case "RunLengthDecode":
		return &runLengthReader{r: bufio.NewReader(r)}, nil
	}
	return nil, fmt.Errorf("%w: filter %.32q", ErrUnsupported, f.name)
}

// stage is the output of a filter. It ends with an error when a filter makes far more of
// its input than the next one could need, as with white space in hexadecimal digits.
type stage struct {
	r    io.Reader
	left int64
}

func (s *stage) Read(b []byte) (int, error) {
	if s.left <= 0 {
		return 0, fmt.Errorf("%w: a filter's output is too long", ErrLimit)
	}
	n, err := s.r.Read(b[:min(int64(len(b)), s.left)])
	s.left -= int64(n)
	return n, err
}

// hexReader decodes ASCIIHexDecode (7.4.2).
type hexReader struct {
	r    *bufio.Reader
	done bool
}

func (h *hexReader) Read(b []byte) (n int, err error) {
	for n < len(b) && !h.done {
		high, err := h.digit()
		if err != nil {
			return n, err
		}
		if h.done {
			break
		}
		low, err := h.digit() // 0 at the end: a missing last digit
		if err != nil {
			return n, err
		}
		b[n] = byte(high<<4 | low)
		n++
	}
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// digit returns the next digit; 0 and done at the end of the input.
func (h *hexReader) digit() (int, error) {
	for !h.done {
		c, err := h.r.ReadByte()
		switch {
		case err == io.EOF || c == '>':
			h.done = true
		case err != nil:
			return 0, err
		case hexValue(c) >= 0:
			return hexValue(c), nil
		case !isSpace(c):
			return 0, fmt.Errorf("hexadecimal digit expected instead of %q", c)
		}
	}
	return 0, nil
}

// untilTilde ends at the tilde that ASCII85Decode ends with (7.4.3), which
// encoding/ascii85 does not know.
type untilTilde struct {
	r    *bufio.Reader
	done bool
}

func (u *untilTilde) Read(b []byte) (n int, err error) {
	for n < len(b) && !u.done {
		c, err := u.r.ReadByte()
		if err != nil && err != io.EOF {
			return n, err
		}
		if u.done = err == io.EOF || c == '~'; !u.done {
			b[n] = c
			n++
		}
	}
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// runLengthReader decodes RunLengthDecode (7.4.5).
type runLengthReader struct {
	r      *bufio.Reader
	left   int // bytes left of the run
	repeat bool
	value  byte
}

// runLengthEnd is the length that ends the stream.
const runLengthEnd = 128

func (l *runLengthReader) Read(b []byte) (n int, err error) {
	for n < len(b) {
		if l.left == 0 {
			if err := l.start(); err != nil {
				return n, err
			}
		}
		if b[n], err = l.take(); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func (l *runLengthReader) start() error {
	length, err := l.r.ReadByte()
	if err != nil {
		return err
	}
	if length == runLengthEnd {
		_ = l.r.UnreadByte() // the next call has to end too
		return io.EOF
	}
	l.repeat = length > runLengthEnd
	if !l.repeat {
		l.left = int(length) + 1
		return nil
	}
	l.left = 257 - int(length)
	l.value, err = l.r.ReadByte()
	return cutOff(err)
}

func (l *runLengthReader) take() (byte, error) {
	l.left--
	if l.repeat {
		return l.value, nil
	}
	c, err := l.r.ReadByte()
	return c, cutOff(err)
}

// cutOff turns an end of input in the middle of something into an error.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
