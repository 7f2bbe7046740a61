package stamp

import (
	"image"
	"math"
)

// grid is a page in squares.
type grid struct {
	page          Size
	width, height int
	perX, perY    float64 // squares per point
}

func newGrid(page Size, size image.Point) grid {
	return grid{page, size.X, size.Y, float64(size.X) / page.Width, float64(size.Y) / page.Height}
}

// fuzz is the part of a square that is put down to calculating.
const fuzz = 1e-3

// squares returns those that a place on the page touches.
func (g grid) squares(r Rect) image.Rectangle {
	return image.Rect(
		int(math.Floor(r.Left*g.perX+fuzz)), int(math.Floor(r.Top*g.perY+fuzz)),
		int(math.Ceil((r.Left+r.Width)*g.perX-fuzz)), int(math.Ceil((r.Top+r.Height)*g.perY-fuzz)),
	).Intersect(image.Rect(0, 0, g.width, g.height))
}

// box returns how many squares a place touches that begins where a square does.
func (g grid) box(size Size) image.Point {
	return image.Pt(int(math.Ceil(size.Width*g.perX-fuzz)), int(math.Ceil(size.Height*g.perY-fuzz)))
}

// covered says of each square, row by row, whether any of some places touches it. How many do is
// counted from their corners, so that many large ones cost no more than small ones.
func (g grid) covered(places []Rect) []bool {
	covered := make([]bool, g.width*g.height)
	if len(places) == 0 {
		return covered
	}
	stride := g.width + 1
	edges := make([]int32, stride*(g.height+1))
	for _, place := range places {
		r := g.squares(place)
		edges[r.Min.Y*stride+r.Min.X]++
		edges[r.Min.Y*stride+r.Max.X]--
		edges[r.Max.Y*stride+r.Min.X]--
		edges[r.Max.Y*stride+r.Max.X]++
	}
	above := make([]int32, g.width) // on each square of the row above
	for y := range g.height {
		sum := int32(0)
		for x, edge := range edges[y*stride:][:g.width] {
			sum += edge
			above[x] += sum
			if above[x] > 0 {
				covered[y*g.width+x] = true
			}
		}
	}
	return covered
}
