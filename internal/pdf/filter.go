package pdf

import (
	"bufio"
	"compress/zlib"
	"encoding/ascii85"
	"errors"
	"fmt"
	"io"
)

// filter is one filter of a stream with its parameters (7.4).
type filter struct {
	name   Name
	params params
}

// params has the parameters of FlateDecode and LZWDecode; absent ones have their defaults (Table
// 8).
type params struct {
	predictor, colors, bits, columns, earlyChange Integer
}

// abbreviatedFilters has the abbreviated filter names of inline images (Table 92). Some files have
// them in other streams, cross-reference streams too, and readers accept them there.
var abbreviatedFilters = map[Name]Name{
	"AHx": "ASCIIHexDecode", "A85": "ASCII85Decode", "LZW": "LZWDecode", "Fl": "FlateDecode", "RL": "RunLengthDecode",
}

// filters returns the filters of a stream in the order of decoding (7.3.8.2).
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
	// Filters without parameters have null.
	parameters = append(parameters, make(Array, len(names))...)
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

// oneOrMore returns the elements of an array, or a one-element array for any other object.
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

// open returns a reader of the decoded bytes of r.
func (f filter) open(r io.Reader) (io.Reader, error) {
	switch f.name {
	case "FlateDecode":
		decoded, err := zlib.NewReader(bufio.NewReader(r))
		if err != nil {
			return nil, err
		}
		return f.params.predict(&tolerantReader{r: decoded})
	case "LZWDecode":
		return f.params.predict(newLZWReader(bufio.NewReader(r), f.params.earlyChange != 0))
	case "ASCIIHexDecode":
		return &hexReader{r: bufio.NewReader(r)}, nil
	case "ASCII85Decode":
		return ascii85.NewDecoder(&ascii85Payload{r: bufio.NewReader(r)}), nil
	case "RunLengthDecode":
		return &runLengthReader{r: bufio.NewReader(r)}, nil
	}
	return nil, fmt.Errorf("%w: filter %.32q", ErrUnsupported, f.name)
}

// boundedStage limits the output of a filter. It returns [ErrLimit] if a filter returns far more
// bytes than the next one can need, such as much white space between hexadecimal digits.
type boundedStage struct {
	r    io.Reader
	left int64
}

func (s *boundedStage) Read(b []byte) (int, error) {
	if s.left <= 0 {
		return 0, fmt.Errorf("%w: a filter's output is too long", ErrLimit)
	}
	n, err := s.r.Read(b[:min(int64(len(b)), s.left)])
	s.left -= int64(n)
	return n, err
}

// maxRowBytes limits the size of a predictor row.
const maxRowBytes = 1 << 20

// predict returns a reader that reverses the predictor (7.4.4.4).
func (p params) predict(r io.Reader) (io.Reader, error) {
	if p.predictor <= 1 {
		return r, nil
	}
	if p.predictor != 2 && (p.predictor < 10 || p.predictor > 15) {
		return nil, fmt.Errorf("%w: predictor %d", ErrUnsupported, p.predictor)
	}
	if p.colors < 1 || p.colors > 64 || p.columns < 1 || p.columns > maxRowBytes || p.bits < 1 || p.bits > 16 {
		return nil, fmt.Errorf("DecodeParms of a predictor are out of range: %d Columns, %d Colors, %d BitsPerComponent", p.columns, p.colors, p.bits)
	}
	row := (p.columns*p.colors*p.bits + 7) / 8
	if row > maxRowBytes {
		return nil, fmt.Errorf("the rows of a predictor have %d bytes, which are too many", row)
	}
	if p.predictor == 2 && p.bits != 8 {
		return nil, fmt.Errorf("%w: TIFF predictor for components of %d bits", ErrUnsupported, p.bits)
	}
	rows := &rowReader{r: bufio.NewReader(r), pixel: int((p.colors*p.bits + 7) / 8), tiff: p.predictor == 2}
	rows.row, rows.above = make([]byte, row), make([]byte, row)
	return rows, nil
}

// rowReader reverses a predictor row by row.
type rowReader struct {
	r          *bufio.Reader
	tiff       bool
	pixel      int // bytes of a pixel, at least 1
	row, above []byte
	left       []byte // part of row that Read has not yet returned
}

func (r *rowReader) Read(b []byte) (int, error) {
	if len(r.left) == 0 {
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, r.left)
	r.left = r.left[n:]
	return n, nil
}

func (r *rowReader) next() error {
	r.row, r.above = r.above, r.row
	// TIFF predicts each component from the one to its left, as Sub of PNG does.
	algorithm := byte(1)
	var err error
	if !r.tiff {
		if algorithm, err = r.r.ReadByte(); err != nil {
			return err
		}
	}
	n, err := io.ReadFull(r.r, r.row)
	if n == 0 {
		return err
	}
	if err != nil && err != io.ErrUnexpectedEOF {
		return err
	}
	clear(r.row[n:]) // the last row may be cut off; its bytes count
	r.left = r.row[:n]
	return r.unfilter(algorithm)
}

// unfilter reverses the filter types of PNG (ISO/IEC 15948 clause 9).
func (r *rowReader) unfilter(algorithm byte) error {
	if algorithm > 4 {
		return fmt.Errorf("a row of a PNG predictor has the unknown filter type %d", algorithm)
	}
	for i := range r.row {
		var left, corner byte
		if i >= r.pixel {
			left, corner = r.row[i-r.pixel], r.above[i-r.pixel]
		}
		switch up := r.above[i]; algorithm {
		case 1:
			r.row[i] += left
		case 2:
			r.row[i] += up
		case 3:
			r.row[i] += byte((int(left) + int(up)) / 2)
		case 4:
			r.row[i] += paeth(int(left), int(up), int(corner))
		}
	}
	return nil
}

// paeth returns the neighbour that is nearest to left + up - corner.
func paeth(left, up, corner int) byte {
	toLeft, toUp, toCorner := distance(up, corner), distance(left, corner), distance(left+up, 2*corner)
	switch {
	case toLeft <= toUp && toLeft <= toCorner:
		return byte(left)
	case toUp <= toCorner:
		return byte(up)
	}
	return byte(corner)
}

func distance(a, b int) int { return max(a-b, b-a) }

// tolerantReader ends without an error where deflated data is cut off or its checksum is wrong.
// Writers often make these errors, and viewers ignore them. It returns other errors unchanged.
type tolerantReader struct{ r io.Reader }

func (u *tolerantReader) Read(b []byte) (int, error) {
	n, err := u.r.Read(b)
	if errors.Is(err, zlib.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}
