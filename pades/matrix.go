package pades

import (
	"fmt"
	"strconv"

	"github.com/innsigli/innsigli/internal/pdf"
)

// maxReal is the largest real number that PDF/A-1 allows in a file (ISO 19005-1 6.1.12).
const maxReal = 32767

// matrix is [a b c d e f] of ISO 32000-2 8.3.3: x' = ax + cy + e, y' = bx + dy + f.
type matrix [6]float64

// then returns the transformation by m and then by n.
func (m matrix) then(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

func translation(x, y float64) matrix { return matrix{1, 0, 0, 1, x, y} }

func scaling(s float64) matrix { return matrix{s, 0, 0, s, 0, 0} }

// box is a rectangle whose lower left corner is the origin.
type box struct{ width, height float64 }

// turned returns the box that this one becomes when it is turned by a multiple of 90 degrees.
func (b box) turned(degrees int) box {
	if degrees%180 != 0 {
		return box{b.height, b.width}
	}
	return b
}

// turn turns the box clockwise by a multiple of 90 degrees and puts its lower left corner
// back to the origin.
func (b box) turn(degrees int) matrix {
	switch degrees % 360 {
	case 90:
		return matrix{0, -1, 1, 0, 0, b.width}
	case 180:
		return matrix{-1, 0, 0, -1, b.width, b.height}
	case 270:
		return matrix{0, 1, -1, 0, b.height, 0}
	}
	return matrix{1, 0, 0, 1, 0, 0}
}

// fit maps the part of a page that is displayed, turned clockwise as it is displayed, into
// the middle of a box, keeping its proportions.
func fit(r pdf.Rect, rotate int, into box) (matrix, error) {
	page := box{r.URX - r.LLX, r.URY - r.LLY}
	if !(page.width >= 1 && page.height >= 1) || min(r.LLX, r.LLY) < -maxReal || max(r.URX, r.URY) > maxReal {
		return matrix{}, fmt.Errorf("its page of %g by %g points is none that can be drawn", page.width, page.height)
	}
	shown := page.turned(rotate)
	scale := min(into.width/shown.width, into.height/shown.height)
	margin := box{into.width - scale*shown.width, into.height - scale*shown.height}
	return translation(-r.LLX, -r.LLY).then(page.turn(rotate)).then(scaling(scale)).
		then(translation(margin.width/2, margin.height/2)), nil
}

// numbers writes real numbers, which have no exponents in PDF (ISO 32000-2 7.3.3).
func numbers(values ...float64) []byte {
	var out []byte
	for i, v := range values {
		if i > 0 {
			out = append(out, ' ')
		}
		rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', 6, 64), 64)
		out = strconv.AppendFloat(out, rounded+0, 'f', -1, 64) // +0: no negative zero
	}
	return out
}
