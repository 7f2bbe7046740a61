package pdfium_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"maps"
	"math"
	"os/exec"
	"strconv"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/stamp"
)

const (
	// perPoint is how many pixels of the judge's picture a point has: 144 dpi.
	perPoint = 2
	// tolerance is how far apart two colours may be, in any channel, that count as one.
	tolerance = 16
	// maxJudgeTime is for mutool. A page that it draws for longer is not judged.
	maxJudgeTime = time.Minute
)

// colour is red, green and blue.
type colour [3]byte

// light reports whether black has a contrast of 7 to 1 at least with the colour (WCAG 2.1, 1.4.6).
func (c colour) light() bool {
	luminance := 0.05
	for i, part := range []float64{0.2126, 0.7152, 0.0722} {
		luminance += part * math.Pow(max(0, float64(c[i])/255+0.055)/1.055, 2.4)
	}
	return luminance >= 0.35
}

// like reports whether two colours count as one.
func (c colour) like(other colour) bool {
	for i := range c {
		if max(c[i], other[i])-min(c[i], other[i]) > tolerance {
			return false
		}
	}
	return true
}

// picture is a page as mutool draws it, with annotations and form fields: a renderer that
// has nothing in common with the one that places are looked for with.
type picture struct {
	width, height int
	pixels        []byte
	marks         []int32 // of marksAbove, once they are asked for
}

// draw draws a page.
func draw(t *testing.T, path string, page int) (*picture, error) {
	t.Helper()
	program := testenv.Program(t, "mutool")
	ctx, cancel := context.WithTimeout(t.Context(), maxJudgeTime) // time: no page of the sample takes nearly as long
	defer cancel()
	var out bytes.Buffer
	mutool := exec.CommandContext(ctx, program, "draw", "-q", "-r", strconv.Itoa(72*perPoint), "-c", "rgb", "-F", "ppm", "-o", "-", path, strconv.Itoa(page))
	mutool.Stdout, mutool.WaitDelay = &out, time.Minute
	err := mutool.Run()
	if ctx.Err() != nil {
		return nil, errors.New("takes too long")
	}
	if err != nil {
		return nil, err
	}
	return readPicture(out.Bytes())
}

// readPicture reads a picture of format P6.
func readPicture(b []byte) (*picture, error) {
	var p picture
	var most int
	r := bytes.NewReader(b)
	if _, err := fmt.Fscanf(r, "P6\n%d %d\n%d\n", &p.width, &p.height, &most); err != nil {
		return nil, err
	}
	if p.pixels = b[len(b)-r.Len():]; most != 255 || len(p.pixels) != 3*p.width*p.height {
		return nil, fmt.Errorf("%d bytes are no picture of %d by %d", len(p.pixels), p.width, p.height)
	}
	return &p, nil
}

func (p *picture) bounds() image.Rectangle { return image.Rect(0, 0, p.width, p.height) }

// row is the pixels of a row from x0 to x1.
func (p *picture) row(y, x0, x1 int) []byte {
	return p.pixels[3*(y*p.width+x0) : 3*(y*p.width+x1)]
}

// commonest is the commonest colour of an area, of those that are wanted; black, if there is none.
func (p *picture) commonest(area image.Rectangle, wanted func(colour) bool) (most colour) {
	counts := make(map[colour]int)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		row := p.row(y, area.Min.X, area.Max.X)
		for len(row) > 0 {
			c, same := colour(row), 3
			for same < len(row) && colour(row[same:]) == c {
				same += 3
			}
			counts[c] += same
			row = row[same:]
		}
	}
	maps.DeleteFunc(counts, func(c colour, _ int) bool { return !wanted(c) })
	for c, n := range counts {
		if n > counts[most] || n == counts[most] && bytes.Compare(c[:], most[:]) > 0 {
			most = c
		}
	}
	return most
}

// unlike counts the pixels of an area that do not have the background's colour.
func (p *picture) unlike(background colour, area image.Rectangle) (n int) {
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for row := p.row(y, area.Min.X, area.Max.X); len(row) > 0; row = row[3:] {
			if !colour(row).like(background) {
				n++
			}
		}
	}
	return n
}

// covered counts the pixels that a stamp would cover and that are no background, which is the
// commonest colour below the stamp: a coloured band without anything on it is no mark. The
// outermost pixels are ignored.
func (p *picture) covered(r stamp.Rect) int {
	area := pixels(r).Inset(1).Intersect(p.bounds())
	return p.unlike(p.commonest(area, func(colour) bool { return true }), area)
}

// pixels are those that a rectangle touches.
func pixels(r stamp.Rect) image.Rectangle {
	return image.Rect(
		int(math.Floor(perPoint*r.Left)), int(math.Floor(perPoint*r.Top)),
		int(math.Ceil(perPoint*(r.Left+r.Width))), int(math.Ceil(perPoint*(r.Top+r.Height))),
	)
}

// shows reports whether the picture has the size of the page, to a point.
func (p *picture) shows(page stamp.Size) bool {
	return math.Abs(float64(p.width)-perPoint*page.Width) <= perPoint && math.Abs(float64(p.height)-perPoint*page.Height) <= perPoint
}
