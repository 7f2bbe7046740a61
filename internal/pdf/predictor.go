package pdf

import (
	"bufio"
	"fmt"
	"io"
)

// maxRowBytes bounds the rows of predictors.
const maxRowBytes = 1 << 20

// predict returns a reader that undoes the predictor (7.4.4.4).
func (p params) predict(r io.Reader) (io.Reader, error) {
	if p.predictor <= 1 {
		return r, nil
	}
	if p.predictor != 2 && (p.predictor < 10 || p.predictor > 15) {
		return nil, fmt.Errorf("%w: predictor %d", ErrUnsupported, p.predictor)
	}
	if p.colors < 1 || p.colors > 64 || p.columns < 1 || p.columns > maxRowBytes || p.bits < 1 || p.bits > 16 {
		return nil, fmt.Errorf("predictor for %d columns of %d colors of %d bits", p.columns, p.colors, p.bits)
	}
	row := (p.columns*p.colors*p.bits + 7) / 8
	if row > maxRowBytes {
		return nil, fmt.Errorf("predictor for rows of %d bytes", row)
	}
	if p.predictor == 2 && p.bits != 8 {
		return nil, fmt.Errorf("%w: TIFF predictor for components of %d bits", ErrUnsupported, p.bits)
	}
	rows := &rowReader{r: bufio.NewReader(r), pixel: int((p.colors*p.bits + 7) / 8), tiff: p.predictor == 2}
	rows.row, rows.above = make([]byte, row), make([]byte, row)
	return rows, nil
}

// rowReader undoes a predictor row by row.
type rowReader struct {
	r          *bufio.Reader
	tiff       bool
	pixel      int // bytes of a pixel, at least 1
	row, above []byte
	left       []byte // of row, not yet returned
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
	algorithm := byte(1) // TIFF predicts each component from the one to its left, as PNG's Sub does
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
	clear(r.row[n:]) // a last row that is cut off counts as far as it goes
	r.left = r.row[:n]
	return r.unfilter(algorithm)
}

// unfilter undoes the algorithms of PNG (ISO/IEC 15948 clause 9).
func (r *rowReader) unfilter(algorithm byte) error {
	if algorithm > 4 {
		return fmt.Errorf("PNG predictor with algorithm %d", algorithm)
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
