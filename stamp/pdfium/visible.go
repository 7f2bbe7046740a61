package pdfium

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/innsigli/innsigli/stamp"
)

// A character is a character of a page's text. Characters that PDFium adds, such as spaces, have no object.
type character struct {
	code   rune
	object int32      // index of its text object; noObject: none
	loose  stamp.Rect // its place with the height of the font
	tight  stamp.Rect // its place without
}

const noObject = -1

// Bounds of the search for hidden text.
const (
	maxVisiblePixels = 1 << 19 // of the pictures that are compared
	maxScale         = 1.5     // pixels for a point
	maxColours       = 6       // pictures without some of the text
	maxTextObjects   = 50_000
	maxCompared      = 5_000_000 // pairs of characters that are compared
	maxCells         = 16        // squares of the page that a character reaches into
)

// Contrast that text needs in a picture to count as shown, in any of its three colours from 0 to 255. Small characters
// cover their pixels in part only.
const (
	minContrast      = 24
	minSmallContrast = 3
	smallCharacter   = 4 // pixels high
)

// Text render modes that paint nothing (ISO 32000-2 Table 104).
const (
	invisibleText = 3
	clippingText  = 7
)

// hiddenFinder finds the text that a picture of the page does not show: it draws the page with and without text objects,
// and a character is shown if its place then looks different. Whatever hides the text, such as its colour, an image
// above it or a clipping path, hides it in the picture too. Text objects that lie above each other are left out in
// different pictures, because one that is shown would make another one beneath it look shown.
type hiddenFinder struct {
	calls         *calls
	page          uint64
	scale         float64
	width, height int
	objects       []uint64 // handles
	painting      []bool   // of each object: its render mode paints
	indexes       map[uint64]int32
}

// newHiddenFinder returns a finder for a page. The size of its pictures is bounded.
func newHiddenFinder(c *calls, page uint64, shown *stamp.Page) *hiddenFinder {
	f := &hiddenFinder{calls: c, page: page, indexes: make(map[uint64]int32)}
	f.scale = min(maxScale, math.Sqrt(maxVisiblePixels/shown.Width/shown.Height))
	f.width = min(max(1, int(math.Ceil(shown.Width*f.scale))), maxVisiblePixels)
	f.height = min(max(1, int(math.Ceil(shown.Height*f.scale))), max(1, 2*maxVisiblePixels/f.width))
	return f
}

// object returns the index of a text object.
func (f *hiddenFinder) object(handle uint64) int32 {
	if handle == 0 {
		return noObject
	}
	i, ok := f.indexes[handle]
	if !ok && len(f.objects) < maxTextObjects {
		mode := int32(f.calls.do("FPDFTextObj_GetTextRenderMode", handle))
		i = int32(len(f.objects))
		f.indexes[handle] = i
		f.objects = append(f.objects, handle)
		f.painting = append(f.painting, mode != invisibleText && mode != clippingText)
	} else if !ok {
		return noObject
	}
	return i
}

// shown returns for each character whether the picture shows it. Those without an object are not shown.
func (f *hiddenFinder) shown(characters []character) []bool {
	visible := make([]bool, len(characters))
	if len(f.objects) == 0 {
		return visible
	}
	colours := f.colours(characters)
	whole := f.draw()
	for colour := range maxColours {
		any := false
		for i, of := range colours {
			if int(of) == colour {
				any = true
				f.calls.do("FPDFPageObj_SetIsActive", f.objects[i], 0)
			}
		}
		if !any {
			break
		}
		changed := newChanges(whole, f.draw(), f.width, f.height)
		for i, of := range colours {
			if int(of) == colour {
				f.calls.do("FPDFPageObj_SetIsActive", f.objects[i], 1)
			}
		}
		if f.calls.err != nil {
			break
		}
		for n, one := range characters {
			if one.object != noObject && int(colours[one.object]) == colour && f.painting[one.object] {
				visible[n] = changed.in(one.tight, f.scale)
			}
		}
	}
	return visible
}

// draw draws the page as it is now.
func (f *hiddenFinder) draw() []byte {
	c, size := f.calls, f.width*f.height*bytesPerPixel
	paper := c.allocate(size)
	fillWhite(c.memory(paper, size))
	width, height := uint64(f.width), uint64(f.height)
	bitmap := c.doNonZero("FPDFBitmap_CreateEx", width, height, opaqueBitmap, paper, width*bytesPerPixel)
	c.do("FPDF_RenderPageBitmap", bitmap, f.page, 0, 0, width, height, 0, reverseByteOrder)
	picture := append([]byte(nil), c.memory(paper, size)...)
	c.do("FPDFBitmap_Destroy", bitmap)
	c.do("free", paper)
	return picture
}

// colours gives each text object a number, so that objects with overlapping characters have different ones. An object that
// would need maxColours has that number, and its text counts as hidden. So have all if too many characters lie close together
// to compare them.
func (f *hiddenFinder) colours(characters []character) []uint8 {
	neighbours, ok := f.overlaps(characters)
	colours := make([]uint8, len(f.objects))
	for i := range colours {
		if !ok {
			colours[i] = maxColours
			continue
		}
		var taken [maxColours]bool
		for other := range neighbours[i] {
			if other < int32(i) && colours[other] < maxColours {
				taken[colours[other]] = true
			}
		}
		for colours[i] < maxColours && taken[colours[i]] {
			colours[i]++
		}
	}
	return colours
}

// overlaps returns for each text object the others with which it has overlapping characters. It reports false if there are
// too many characters close together.
func (f *hiddenFinder) overlaps(characters []character) (neighbours []map[int32]bool, ok bool) {
	type cell struct{ x, y int }
	side := cellSide(characters)
	cells := make(map[cell][]int32) // characters by the cells that they reach into
	var large []int32               // characters that reach into too many
	neighbours = make([]map[int32]bool, len(f.objects))
	compared := 0
	compare := func(n int, with []int32) {
		compared += len(with)
		for _, other := range with {
			a, b := characters[n], characters[other]
			if a.object != b.object && overlap(a.tight, b.tight) {
				connect(neighbours, a.object, b.object)
			}
		}
	}
	var all []int32
	for n, one := range characters {
		if one.object == noObject || !f.painting[one.object] {
			continue
		}
		r := one.tight
		left, top := int(r.Left/side), int(r.Top/side)
		right, bottom := int((r.Left+r.Width)/side), int((r.Top+r.Height)/side)
		compare(n, large)
		if (right-left+1)*(bottom-top+1) > maxCells || right-left > maxCells || bottom-top > maxCells {
			compare(n, all)
			large = append(large, int32(n))
		} else {
			for x := left; x <= right; x++ {
				for y := top; y <= bottom; y++ {
					compare(n, cells[cell{x, y}])
					cells[cell{x, y}] = append(cells[cell{x, y}], int32(n))
				}
			}
		}
		all = append(all, int32(n))
		if compared > maxCompared {
			return neighbours, false
		}
	}
	return neighbours, true
}

// cellSide returns the side of a square that is about as large as most characters, in points.
func cellSide(characters []character) float64 {
	var sizes []float64
	for _, one := range characters {
		if one.object != noObject {
			sizes = append(sizes, max(one.tight.Width, one.tight.Height))
		}
	}
	if len(sizes) == 0 {
		return 1
	}
	slices.Sort(sizes)
	return max(0.1, sizes[len(sizes)/2])
}

func connect(neighbours []map[int32]bool, a, b int32) {
	for _, pair := range [2][2]int32{{a, b}, {b, a}} {
		if neighbours[pair[0]] == nil {
			neighbours[pair[0]] = make(map[int32]bool)
		}
		neighbours[pair[0]][pair[1]] = true
	}
}

// overlap reports whether two characters have more than a tenth of the smaller one's place in common.
func overlap(a, b stamp.Rect) bool {
	width := min(a.Left+a.Width, b.Left+b.Width) - max(a.Left, b.Left)
	height := min(a.Top+a.Height, b.Top+b.Height) - max(a.Top, b.Top)
	return width > 0 && height > 0 && width*height > 0.1*min(a.Width*a.Height, b.Width*b.Height)
}

// pixelsOf returns the pixels of a place that are in a picture, the last ones included.
func pixelsOf(r stamp.Rect, scale float64, width, height int) (left, top, right, bottom int) {
	pixel := func(v float64, size int) int { return int(max(0, min(v*scale, float64(size-1)))) }
	return pixel(r.Left, width), pixel(r.Top, height), pixel(r.Left+r.Width, width), pixel(r.Top+r.Height, height)
}

// changes are the differences of two pictures: how many pixels above and to the left of each one differ by minContrast, and
// by minSmallContrast.
type changes struct {
	width, height int
	clear, slight []int32
}

func newChanges(a, b []byte, width, height int) *changes {
	c := &changes{width: width, height: height}
	if len(a) != width*height*bytesPerPixel || len(b) != len(a) {
		return c
	}
	c.clear, c.slight = make([]int32, (width+1)*(height+1)), make([]int32, (width+1)*(height+1))
	for y := range height {
		var clear, slight int32
		for x := range width {
			i := (y*width + x) * bytesPerPixel
			contrast := 0
			if binary.LittleEndian.Uint32(a[i:]) != binary.LittleEndian.Uint32(b[i:]) {
				for k := range 3 {
					contrast = max(contrast, int(a[i+k])-int(b[i+k]), int(b[i+k])-int(a[i+k]))
				}
			}
			if contrast >= minContrast {
				clear++
			}
			if contrast >= minSmallContrast {
				slight++
			}
			at := (y+1)*(width+1) + x + 1
			c.clear[at] = c.clear[at-width-1] + clear
			c.slight[at] = c.slight[at-width-1] + slight
		}
	}
	return c
}

// in reports whether the pictures differ in a place.
func (c *changes) in(r stamp.Rect, scale float64) bool {
	if c.clear == nil || !(r.Width > 0 || r.Height > 0) || !onPage(r, stamp.Size{Width: float64(c.width) / scale, Height: float64(c.height) / scale}) {
		return false
	}
	left, top, right, bottom := pixelsOf(r, scale, c.width, c.height)
	counts := c.clear
	if r.Height*scale < smallCharacter || r.Width*scale < 1 {
		counts = c.slight
	}
	at := func(x, y int) int32 { return counts[y*(c.width+1)+x] }
	return at(right+1, bottom+1)-at(left, bottom+1)-at(right+1, top)+at(left, top) > 0
}
