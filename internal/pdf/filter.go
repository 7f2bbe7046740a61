package pdf

import (
	"bufio"
	"compress/zlib"
	"encoding/ascii85"
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

// abbreviatedFilters are names of filters as inline images have them (Table 92). Some files have them in other streams,
// cross-reference streams too, and readers accept them there.
var abbreviatedFilters = map[Name]Name{
	"AHx": "ASCIIHexDecode", "A85": "ASCII85Decode", "LZW": "LZWDecode", "Fl": "FlateDecode", "RL": "RunLengthDecode",
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
		if full, is := abbreviatedFilters[filters[i].name]; is {
			filters[i].name = full
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
		return f.params.predict(&untilDamage{r: decoded})
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
