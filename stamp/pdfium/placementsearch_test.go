package pdfium_test

import (
	"cmp"
	"image"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/innsigli/innsigli/stamp"
)

var corners = []stamp.Corner{stamp.TopLeft, stamp.TopRight, stamp.BottomLeft, stamp.BottomRight}

func cornerName(c stamp.Corner) string {
	return [...]string{"TopLeft", "TopRight", "BottomLeft", "BottomRight"}[c]
}

const (
	// margin is what Find keeps free around a stamp, in points.
	margin = 2
	// furtherBy is how much further Find may go than the exhaustive search, in points.
	furtherBy = 10
)

// spot is where a box is on the page: how far from the corner along the horizontal edge, and
// how far inwards, in points.
type spot struct{ along, inwards float64 }

// spotOf is where the box of a stamp is, which is the stamp and its margin.
func spotOf(r stamp.Rect, c stamp.Corner, page stamp.Size) spot {
	s := spot{r.Left - margin, r.Top - margin}
	if c == stamp.TopRight || c == stamp.BottomRight {
		s.along = page.Width - r.Left - r.Width - margin
	}
	if c == stamp.BottomLeft || c == stamp.BottomRight {
		s.inwards = page.Height - r.Top - r.Height - margin
	}
	return s
}

// near reports whether s is at most so much further along the search order than the first:
// it may be so much further inwards; and unless it is in an earlier row than the first, so
// much further along the edge.
func (s spot) near(first spot) bool {
	return s.inwards <= first.inwards+furtherBy && (s.inwards < first.inwards || s.along <= first.along+furtherBy)
}

// firstFree is the exhaustive search: every position of a box of w by h pixels, from the corner
// along the horizontal edge, then inwards, until all of it has the page's commonest light colour.
func (p *picture) firstFree(c stamp.Corner, w, h int) (spot, bool) {
	marks, stride := p.marksAbove(), p.width+1
	for inwards := range max(p.height-h+1, 0) {
		for along := range max(p.width-w+1, 0) {
			x, y := along, inwards
			if c == stamp.TopRight || c == stamp.BottomRight {
				x = p.width - w - along
			}
			if c == stamp.BottomLeft || c == stamp.BottomRight {
				y = p.height - h - inwards
			}
			above, below := y*stride+x, (y+h)*stride+x
			if marks[below+w]-marks[below] == marks[above+w]-marks[above] {
				return spot{float64(along) / perPoint, float64(inwards) / perPoint}, true
			}
		}
	}
	return spot{}, false
}

// marksAbove has, for every corner of a pixel, row by row, how many pixels left of and above
// it do not have the page's commonest light colour.
func (p *picture) marksAbove() []int32 {
	if p.marks != nil {
		return p.marks
	}
	background := p.commonest(p.bounds(), colour.light)
	stride := p.width + 1
	p.marks = make([]int32, stride*(p.height+1))
	for y := range p.height {
		inRow := int32(0)
		for x := range p.width {
			if !background.light() || !colour(p.pixels[3*(y*p.width+x):]).like(background) {
				inRow++
			}
			p.marks[(y+1)*stride+x+1] = p.marks[y*stride+x+1] + inRow
		}
	}
	return p.marks
}

// The judge is judged: its search finds what looking at every position pixel by pixel finds.
func TestExhaustiveSearch(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 144))
	background := colour{250, 240, 230}
	const w, h = 5, 3
	found := 0
	for range 300 {
		p := &picture{width: 4 + random.IntN(12), height: 4 + random.IntN(12)}
		p.pixels = slices.Repeat(background[:], p.width*p.height)
		for range random.IntN(8) {
			p.pixels[random.IntN(len(p.pixels))] -= byte(10 + random.IntN(20))
		}
		for _, c := range corners {
			var free []spot
			for y := range p.height - h + 1 {
				for x := range p.width - w + 1 {
					if p.unlike(background, image.Rect(x, y, x+w, y+h)) == 0 {
						free = append(free, spotIn(image.Rect(x, y, x+w, y+h), c, p.bounds()))
					}
				}
			}
			slices.SortFunc(free, func(a, b spot) int {
				return cmp.Or(cmp.Compare(a.inwards, b.inwards), cmp.Compare(a.along, b.along))
			})
			got, ok := p.firstFree(c, w, h)
			if ok != (len(free) > 0) || ok && got != free[0] {
				t.Fatalf("%s of %d by %d: %v, %v; free are %v", cornerName(c), p.width, p.height, got, ok, free)
			}
			found += min(len(free), 1)
		}
	}
	if found < 100 {
		t.Errorf("only %d searches found anything", found)
	}
}

// spotIn is spotOf in pixels.
func spotIn(box image.Rectangle, c stamp.Corner, page image.Rectangle) spot {
	r := stamp.Rect{
		Left: float64(box.Min.X)/perPoint + margin, Width: float64(box.Dx())/perPoint - 2*margin,
		Top: float64(box.Min.Y)/perPoint + margin, Height: float64(box.Dy())/perPoint - 2*margin,
	}
	return spotOf(r, c, stamp.Size{Width: float64(page.Dx()) / perPoint, Height: float64(page.Dy()) / perPoint})
}

func TestNear(t *testing.T) {
	first := spot{100, 50}
	for _, test := range []struct {
		name string
		s    spot
		want bool
	}{
		{"the same", first, true},
		{"an earlier row", spot{400, 49}, true},
		{"moved inwards", spot{108, 58}, true},
		{"nearer, a little later", spot{0, 60}, true},
		{"far along", spot{111, 50}, false},
		{"far along a later row", spot{300, 55}, false},
		{"far inwards", spot{0, 61}, false},
	} {
		if got := test.s.near(first); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
