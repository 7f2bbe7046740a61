package stamp_test

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/stamp"
)

var black = color.RGBA{0, 0, 0, 255}

// A stamp is eight points away from the edges of a page with nothing on it.
func TestFindOnBlankPage(t *testing.T) {
	page := readPage(t, onPage("/MediaBox [0 0 600 800]"))
	for corner, want := range map[stamp.Corner]stamp.Rect{
		stamp.TopLeft:     {Left: 8, Top: 8, Width: 117, Height: 55},
		stamp.TopRight:    {Left: 475, Top: 8, Width: 117, Height: 55},
		stamp.BottomLeft:  {Left: 8, Top: 737, Width: 117, Height: 55},
		stamp.BottomRight: {Left: 475, Top: 737, Width: 117, Height: 55},
	} {
		place, err := page.Find(t.Context(), blank{}, corner, stamp.StandardSize)
		if diff := cmp.Diff(want, place, approximately); diff != "" || err != nil {
			t.Errorf("%v: %v %s", corner, err, diff)
		}
	}
}

// Along the edge comes before inwards, and a page may be just large enough.
func TestFindOrder(t *testing.T) {
	for name, test := range map[string]struct {
		entries string
		inks    []stamp.Rect
		size    stamp.Size
		want    stamp.Rect
		err     error
	}{
		"along the edge": {inks: []stamp.Rect{{Left: 0, Top: 0, Width: 50, Height: 200}}, want: stamp.Rect{Left: 52, Top: 8, Width: 117, Height: 55}},
		"inwards":        {inks: []stamp.Rect{{Left: 100, Top: 0, Width: 100, Height: 20}}, want: stamp.Rect{Left: 8, Top: 22, Width: 117, Height: 55}},
		"along the edge although inwards is nearer": {
			inks: []stamp.Rect{{Left: 0, Top: 0, Width: 100, Height: 1}}, want: stamp.Rect{Left: 102, Top: 8, Width: 117, Height: 55},
		},
		"less room to the edge": {inks: []stamp.Rect{{Left: 0, Top: 64, Width: 300, Height: 1}}, want: stamp.Rect{Left: 8, Top: 7, Width: 117, Height: 55}},
		"behind an annotation": {
			entries: "/Annots [<< /Rect [0 190 50 200] /F 2 >>]", want: stamp.Rect{Left: 52, Top: 8, Width: 117, Height: 55},
		},
		"behind a signature": {
			entries: "/Annots [<< /Rect [0 190 50 200] /FT /Sig /V << >> >>]", want: stamp.Rect{Left: 54, Top: 8, Width: 117, Height: 55},
		},
		"annotation beside the page": {
			entries: "/Annots [<< /Rect [-50 0 0 200] >> << /Rect [10 100 10 200] >>]", want: stamp.Rect{Left: 8, Top: 8, Width: 117, Height: 55},
		},
		"annotation on all of the page": {entries: "/Annots [<< /Rect [-999 -999 999 999] >>]", err: stamp.ErrNoRoom},
		"all of the page":               {size: stamp.Size{Width: 296, Height: 196}, want: stamp.Rect{Left: 2, Top: 2, Width: 296, Height: 196}},
		"more than the page":            {size: stamp.Size{Width: 296.5, Height: 196}, err: stamp.ErrNoRoom},
		"no width":                      {size: stamp.Size{Height: 10}, err: stamp.ErrNoRoom},
		"no number":                     {size: stamp.Size{Width: math.NaN(), Height: 10}, err: stamp.ErrNoRoom},
		"next to nothing":               {size: stamp.Size{Width: 1e-9, Height: 1e-9}, want: stamp.Rect{Left: 8, Top: 8, Width: 1e-9, Height: 1e-9}},
	} {
		page := readPage(t, onPage("/MediaBox [0 0 300 200] "+test.entries))
		renderer := drawing{size: page.Size, paper: white}
		for _, r := range test.inks {
			renderer.inks = append(renderer.inks, ink{r, black})
		}
		if test.size == (stamp.Size{}) {
			test.size = stamp.StandardSize
		}
		place, err := page.Find(t.Context(), renderer, stamp.TopLeft, test.size)
		if diff := cmp.Diff(test.want, place, approximately); diff != "" || !errors.Is(err, test.err) {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}

// Paper has any light colour and grain; what is printed on it may be faint.
func TestMarks(t *testing.T) {
	cream, grey := color.RGBA{250, 240, 215, 255}, color.RGBA{239, 240, 241, 255}
	random := rand.New(rand.NewPCG(8, 1))
	grain := func() int { return random.IntN(11) - 5 }
	for name, test := range map[string]struct {
		paper, ink color.RGBA
		grain      func() int
		free       bool
	}{
		"black on white":      {white, black, nil, false},
		"pale grey on white":  {white, color.RGBA{244, 244, 244, 255}, nil, false},
		"paler grey":          {white, color.RGBA{250, 250, 250, 255}, nil, true},
		"yellow on white":     {white, color.RGBA{255, 255, 230, 255}, nil, false},
		"white on cream":      {cream, white, nil, false},
		"clean scan":          {grey, grey, grain, true},
		"text of a scan":      {grey, color.RGBA{200, 200, 200, 255}, grain, false},
		"clean scan on cream": {cream, cream, grain, true},
	} {
		page := readPage(t, onPage("/MediaBox [0 0 300 200]"))
		line := ink{stamp.Rect{Left: 0, Top: 30, Width: 300, Height: 0.3}, test.ink}
		renderer := drawing{size: page.Size, paper: test.paper, inks: []ink{line}, grain: test.grain}
		place, err := page.Find(t.Context(), renderer, stamp.TopLeft, stamp.StandardSize)
		if free := place.Top == 8; err != nil || free != test.free {
			t.Errorf("%s: %+v, %v", name, place, err)
		}
	}
}

// A page of one colour is free if black text can be read on it, and else page content all over. Where most of a page is
// dark, or as much of it is white as of a colour, what is left of it is the paper.
func TestFindOnColour(t *testing.T) {
	night := color.RGBA{10, 15, 60, 255}
	below := ink{stamp.Rect{Left: 0, Top: 300, Width: 600, Height: 500}, white}
	half := ink{stamp.Rect{Left: 0, Top: 400, Width: 600, Height: 400}, white}
	for name, test := range map[string]struct {
		paper color.RGBA
		inks  []ink
		top   float64 // of the place; 0: there is none
	}{
		"white":                        {white, nil, 8},
		"light grey":                   {color.RGBA{230, 230, 230, 255}, nil, 8},
		"the grey of recycled paper":   {color.RGBA{170, 170, 170, 255}, nil, 8},
		"yellow":                       {color.RGBA{255, 255, 0, 255}, nil, 8},
		"middle grey":                  {color.RGBA{128, 128, 128, 255}, nil, 0},
		"red":                          {color.RGBA{255, 0, 0, 255}, nil, 0},
		"blue":                         {color.RGBA{0, 0, 255, 255}, nil, 0},
		"night":                        {night, nil, 0},
		"black":                        {black, nil, 0},
		"night with white text":        {night, []ink{{stamp.Rect{Left: 50, Top: 50, Width: 500, Height: 8}, white}}, 0},
		"night, and white below":       {night, []ink{below}, 302},
		"night, and a white box":       {night, []ink{{stamp.Rect{Left: 50, Top: 600, Width: 300, Height: 100}, white}}, 602},
		"yellow, and as much white":    {color.RGBA{255, 255, 0, 255}, []ink{half}, 402},
		"yellow, and less of it white": {color.RGBA{255, 255, 0, 255}, []ink{{stamp.Rect{Left: 0, Top: 500, Width: 600, Height: 300}, white}}, 8},
	} {
		page := readPage(t, onPage("/MediaBox [0 0 600 800]"))
		place, err := page.Find(t.Context(), drawing{size: page.Size, paper: test.paper, inks: test.inks}, stamp.TopLeft, stamp.StandardSize)
		if test.top == 0 && !errors.Is(err, stamp.ErrNoRoom) || test.top > 0 && (err != nil || math.Abs(place.Top-test.top) > 6) {
			t.Errorf("%s: %+v, %v, want one at %v", name, place, err, test.top)
		}
	}
}

// spare is what a place may need to be seen: a pixel and a square are left out on each side where
// a mark touches them, and a place begins and ends with a square. In points.
const spare = 3.5

// Wherever marks are, the place found is free, not before the first that is, and no further than
// the first with room to spare but for what a stamp is moved away from the edge; no place is
// found where none is.
func TestFindIsFirst(t *testing.T) {
	found := 0
	for seed := range uint64(40) {
		p := newRandomPage(t, seed)
		place, err := p.Find(t.Context(), p.renderer, p.corner, p.stamp)
		picture := *p.renderer.last
		box := stamp.Size{Width: p.stamp.Width + 4, Height: p.stamp.Height + 4}
		first, ok := firstFree(picture, p.Size, p.corner, box)
		roomy, certain := firstFree(picture, p.Size, p.corner, stamp.Size{Width: box.Width + 2*spare, Height: box.Height + 2*spare})
		if err != nil {
			if certain || !errors.Is(err, stamp.ErrNoRoom) {
				t.Errorf("seed %d: %v, but %+v is free", seed, err, roomy)
			}
			continue
		}
		found++
		around := stamp.Rect{Left: place.Left - 2, Top: place.Top - 2, Width: box.Width, Height: box.Height}
		if !ok || !isFree(picture, p.Size, around) {
			t.Errorf("seed %d: %+v is not free", seed, place)
		}
		x, y := distance(p.Page, p.corner, around)
		if _, firstY := distance(p.Page, p.corner, first); y < firstY-1e-6 {
			t.Errorf("seed %d: %v from the edge, before the first row of %v", seed, y, firstY)
		}
		roomyX, roomyY := distance(p.Page, p.corner, roomy)
		if certain && (y > roomyY+spare+6 || y > roomyY && x > roomyX+spare+6) {
			t.Errorf("seed %d: %v, %v from the corner, and room to spare at %v, %v", seed, x, y, roomyX, roomyY)
		}
	}
	if found < 10 || found > 36 {
		t.Errorf("%d of 40 pages have room: they test little", found)
	}
}

// randomPage is a page with marks, and what is looked for on it.
type randomPage struct {
	*stamp.Page
	entries  string
	renderer drawing
	corner   stamp.Corner
	stamp    stamp.Size
}

func newRandomPage(t *testing.T, seed uint64) randomPage {
	random := rand.New(rand.NewPCG(seed, 8))
	between := func(low, high float64) float64 { return low + random.Float64()*(high-low) }
	p := randomPage{
		entries: fmt.Sprintf("/MediaBox [0 0 600.7 120.3] /CropBox [10 0 600 120] /Rotate %d", 90*random.IntN(4)),
		corner:  corners[random.IntN(len(corners))],
		stamp:   stamp.Size{Width: between(40, 90), Height: between(20, 60)},
	}
	p.Page = readPage(t, onPage(p.entries))
	p.renderer = drawing{size: p.Size, paper: white, last: new(*image.RGBA)}
	for range random.IntN(120) {
		r := stamp.Rect{Left: between(0, p.Width), Top: between(0, p.Height)}
		r.Width, r.Height = min(between(0, 40), p.Width-r.Left), min(between(0, 10), p.Height-r.Top)
		p.renderer.inks = append(p.renderer.inks, ink{r, black})
	}
	return p
}

// distance returns how far a place is from a corner of the page.
func distance(page *stamp.Page, corner stamp.Corner, r stamp.Rect) (x, y float64) {
	x, y = r.Left, r.Top
	if corner == stamp.TopRight || corner == stamp.BottomRight {
		x = page.Width - r.Left - r.Width
	}
	if corner == stamp.BottomLeft || corner == stamp.BottomRight {
		y = page.Height - r.Top - r.Height
	}
	return x, y
}

// firstFree tries every place that begins with a pixel, in the order that is promised.
func firstFree(picture *image.RGBA, page stamp.Size, corner stamp.Corner, size stamp.Size) (stamp.Rect, bool) {
	pixels := picture.Rect.Size()
	for j := range pixels.Y {
		for i := range pixels.X {
			r := stamp.Rect{
				Left: float64(i) / float64(pixels.X) * page.Width, Top: float64(j) / float64(pixels.Y) * page.Height,
				Width: size.Width, Height: size.Height,
			}
			if r.Left+r.Width > page.Width+1e-6 || r.Top+r.Height > page.Height+1e-6 {
				continue
			}
			if corner == stamp.TopRight || corner == stamp.BottomRight {
				r.Left = page.Width - r.Left - r.Width
			}
			if corner == stamp.BottomLeft || corner == stamp.BottomRight {
				r.Top = page.Height - r.Top - r.Height
			}
			if isFree(picture, page, r) {
				return r, true
			}
		}
	}
	return stamp.Rect{}, false
}

// isFree looks at every pixel that a place touches.
func isFree(picture *image.RGBA, page stamp.Size, r stamp.Rect) bool {
	perX, perY := float64(picture.Rect.Dx())/page.Width, float64(picture.Rect.Dy())/page.Height
	const rounded = 1e-6
	for y := int(r.Top*perY + rounded); float64(y) < (r.Top+r.Height)*perY-rounded; y++ {
		for x := int(r.Left*perX + rounded); float64(x) < (r.Left+r.Width)*perX-rounded; x++ {
			if picture.Pix[picture.PixOffset(x, y)] != white.R {
				return false
			}
		}
	}
	return true
}
