package pdfium_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// What TestPlacement demands. Time and memory are checked by .ci/full only.
const (
	wantClean  = 0.985 // share of the stamps that cover nothing
	wantNear   = 0.92  // share of the corners with a free place near which Find places a stamp
	wantMedian = 15 * time.Millisecond
	want99th   = 1200 * time.Millisecond
	deadline   = 2 * time.Second
	delay      = 2 * time.Second // after the deadline, on a machine with little other load
	maxMemory  = 500 << 20
)

const (
	// margin is the space that Find keeps free around a stamp, in points.
	margin = 2
	// furtherBy is how much further than the first free place a stamp may be, in points.
	furtherBy = 10
	// maxReferenceTime is for mutool to draw a page.
	maxReferenceTime = time.Minute
)

// placedPage is the first page of a file, and the places of a stamp from each corner.
type placedPage struct {
	name, path string
	unreadable error // of ReadPage
	stamp.Size
	notDrawn  error  // of mutool
	otherSize string // of the page as mutool draws it; "": none
	places    [4]placement
}

// placement is the place that Find returns, and the first free place in the picture of mutool.
type placement struct {
	place   stamp.Rect
	refused error // of Find
	took    time.Duration
	covered int      // pixels below the stamp that are not of the background
	exists  bool     // a free place, for mutool
	first   position // if it exists
	near    bool     // the stamp is near the first free place
}

// TestPlacement finds a place on the first page of foreign files from each corner, and compares it with
// an exhaustive search in the picture of another renderer, mutool. With INNSIGLI_FULL=1 it tries all
// files and writes docs/placement.md, otherwise a sample.
func TestPlacement(t *testing.T) {
	mutool := testenv.Program(t, "mutool")
	renderer := shared(t)
	if testenv.Full() {
		renderer = started(t, pdfium.Options{Wait: enough}) // with the limit of a server
	}
	var pages []*placedPage
	debug.FreeOSMemory()
	measured := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) == nil // resets VmHWM, see proc(5)
	for i, f := range testenv.Expected(t, "pdf") {
		if testenv.Full() || i%32 == 17 { // a sample without pages that take long
			pages = append(pages, findPlaces(t, renderer, f))
		}
	}
	memory := peakMemory(t, measured)
	if memory > maxMemory && testenv.Full() {
		t.Errorf("the process took %d MB, want at most %d", memory>>20, maxMemory>>20)
	}
	t.Run("pages", func(t *testing.T) {
		for _, p := range pages {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				p.compare(t, mutool)
			})
		}
	})
	all := countPlaces(pages)
	t.Logf("figure: %d of %d stamps (%.2f %%) cover nothing; %d of %d corners with a free place (%.2f %%) have a stamp near it",
		all.clean, all.stamps, percent(all.clean, all.stamps), all.near, all.free, percent(all.near, all.free))
	if percent(all.clean, all.stamps) < 100*wantClean {
		t.Errorf("%d of %d stamps cover nothing, want %g of them", all.clean, all.stamps, wantClean)
	}
	if percent(all.near, all.free) < 100*wantNear {
		t.Errorf("%d of %d corners with a free place have a stamp near it, want %g of them", all.near, all.free, wantNear)
	}
	testenv.WriteTable(t, "placement.md", placementTable(pages, memory, t.Failed()))
}

func findPlaces(t *testing.T, renderer stamp.Renderer, f testenv.ForeignFile) *placedPage {
	p := &placedPage{name: f.Name, path: f.Path}
	content := testenv.ReadFile(t, f.Path)
	page, err := stamp.ReadPage(bytes.NewReader(content), int64(len(content)), 1)
	if err != nil {
		if p.unreadable = err; !errors.Is(err, stamp.ErrUnreadable) {
			t.Errorf("%s: got error %v, want ErrUnreadable", p.name, err)
		}
		return p
	}
	p.Size = page.Size
	for c := range p.places {
		place := &p.places[c]
		began := time.Now()
		place.place, place.refused = page.Find(t.Context(), renderer, stamp.Corner(c), stamp.StandardSize)
		place.took = time.Since(began) // time: only .ci/full checks it
		if testenv.Full() && place.took > deadline+delay {
			t.Errorf("%s: Find took %v, want at most %v", p.name, place.took, deadline)
		}
		if err := place.refused; err != nil && !errors.Is(err, stamp.ErrNoRoom) && !errors.Is(err, stamp.ErrNotDrawn) {
			t.Errorf("%s: got error %v, want ErrNoRoom or ErrNotDrawn", p.name, err)
		}
	}
	return p
}

// peakMemory returns the peak of the resident memory in bytes, VmHWM of proc(5), or 0 if it is not
// measured.
func peakMemory(t *testing.T, measured bool) (kilobytes int) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if _, after, found := strings.Cut(string(status), "VmHWM:"); found && measured {
		_, err = fmt.Sscan(after, &kilobytes)
	}
	if err != nil || kilobytes == 0 {
		t.Logf("memory is not measured: %v", err)
	}
	return kilobytes << 10
}

// compare draws the page with mutool, with annotations and form fields, and compares the places.
func (p *placedPage) compare(t *testing.T, mutool string) {
	ctx, cancel := context.WithTimeout(t.Context(), maxReferenceTime) // time: no page of the sample takes nearly as long
	defer cancel()
	picture, err := programPicture(ctx, mutool, "draw", "-q", "-r", strconv.Itoa(72*perPoint), "-c", "rgb", "-F", "png", "-o", "-", p.path, "1")
	if ctx.Err() != nil {
		err = errors.New("takes too long")
	}
	if p.notDrawn = err; err != nil {
		return
	}
	size := picture.Rect.Size()
	if p.unreadable == nil && !hasSize(picture, p.Size) {
		p.otherSize = fmt.Sprintf("%.0f x %.0f, and for mutool %d x %d", p.Width, p.Height, size.X/perPoint, size.Y/perPoint)
	}
	marks := newMarkCounts(picture)
	for c := range p.places {
		place := &p.places[c]
		box := image.Pt(perPoint*int(stamp.StandardSize.Width+2*margin), perPoint*int(stamp.StandardSize.Height+2*margin))
		place.first, place.exists = marks.firstFree(stamp.Corner(c), box)
		if p.stamped(c) {
			place.covered = covered(picture, place.place)
			place.near = p.position(c).near(place.first)
		}
	}
}

// stamped reports whether there is a place that can be compared.
func (p *placedPage) stamped(c int) bool {
	return p.unreadable == nil && p.places[c].refused == nil && p.notDrawn == nil && p.otherSize == ""
}

// hasSize reports whether a picture has the size of the page, to a point.
func hasSize(picture *image.RGBA, page stamp.Size) bool {
	size := picture.Rect.Size()
	return math.Abs(float64(size.X)-perPoint*page.Width) <= perPoint && math.Abs(float64(size.Y)-perPoint*page.Height) <= perPoint
}

// covered returns how many pixels a stamp would cover that do not have the commonest colour below the
// stamp, because a coloured band without content is not a mark. The outermost pixels do not count.
func covered(picture *image.RGBA, r stamp.Rect) (n int) {
	area := picture.SubImage(pixels(r).Inset(1)).(*image.RGBA)
	background := commonest(area, func(color.RGBA) bool { return true })
	boundsOf(area, func(x, y int) bool {
		if !alike(area.RGBAAt(x, y), background) {
			n++
		}
		return false
	})
	return n
}

// commonest returns the commonest colour of a picture among those that are wanted, and black if there
// is none.
func commonest(picture *image.RGBA, wanted func(color.RGBA) bool) (most color.RGBA) {
	counts := make(map[color.RGBA]int)
	for y := picture.Rect.Min.Y; y < picture.Rect.Max.Y; y++ {
		for x := picture.Rect.Min.X; x < picture.Rect.Max.X; x++ {
			counts[picture.RGBAAt(x, y)]++
		}
	}
	for c, n := range counts {
		brighter := int(c.R)<<16|int(c.G)<<8|int(c.B) > int(most.R)<<16|int(most.G)<<8|int(most.B)
		if wanted(c) && (n > counts[most] || n == counts[most] && brighter) {
			most = c
		}
	}
	return most
}

// isLight reports whether black has a contrast of at least 7 to 1 with a colour (WCAG 2.1, 1.4.6).
func isLight(c color.RGBA) bool {
	linear := func(v uint8) float64 { return math.Pow((float64(v)/255+0.055)/1.055, 2.4) }
	return 0.2126*linear(c.R)+0.7152*linear(c.G)+0.0722*linear(c.B)+0.05 >= 0.35
}

// markCounts is a summed-area table: for each corner of a pixel, row by row, the number of pixels to the
// left and above that do not have the commonest light colour of the page.
type markCounts struct {
	size   image.Point
	counts []int32
}

func newMarkCounts(picture *image.RGBA) markCounts {
	background := commonest(picture, isLight)
	m := markCounts{size: picture.Rect.Size()}
	stride := m.size.X + 1
	m.counts = make([]int32, stride*(m.size.Y+1))
	for y := range m.size.Y {
		inRow := int32(0)
		for x := range m.size.X {
			if !isLight(background) || !alike(picture.RGBAAt(x, y), background) {
				inRow++
			}
			m.counts[(y+1)*stride+x+1] = m.counts[y*stride+x+1] + inRow
		}
	}
	return m
}

// firstFree tries every position of a box, from the corner along the horizontal edge and then inwards,
// until all of the box has the commonest light colour of the page.
func (m markCounts) firstFree(c stamp.Corner, box image.Point) (position, bool) {
	stride := m.size.X + 1
	for inwards := range max(m.size.Y-box.Y+1, 0) {
		for along := range max(m.size.X-box.X+1, 0) {
			x, y := along, inwards
			if c == stamp.TopRight || c == stamp.BottomRight {
				x = m.size.X - box.X - along
			}
			if c == stamp.BottomLeft || c == stamp.BottomRight {
				y = m.size.Y - box.Y - inwards
			}
			above, below := y*stride+x, (y+box.Y)*stride+x
			if m.counts[below+box.X]-m.counts[below] == m.counts[above+box.X]-m.counts[above] {
				return position{float64(along) / perPoint, float64(inwards) / perPoint}, true
			}
		}
	}
	return position{}, false
}

// position is how far a box is from a corner along the horizontal edge and inwards, in points.
type position struct{ along, inwards float64 }

func (p position) String() string { return fmt.Sprintf("%.1f along, %.1f inwards", p.along, p.inwards) }

// near reports whether p is at most a little further in the order of the search than the first position:
// inwards, and along the edge unless it is in an earlier row.
func (p position) near(first position) bool {
	return p.inwards <= first.inwards+furtherBy && (p.inwards < first.inwards || p.along <= first.along+furtherBy)
}

// position returns the position of a stamp with its margin.
func (p *placedPage) position(c int) position {
	r := p.places[c].place
	at := position{r.Left - margin, r.Top - margin}
	if stamp.Corner(c) == stamp.TopRight || stamp.Corner(c) == stamp.BottomRight {
		at.along = p.Width - r.Left - r.Width - margin
	}
	if stamp.Corner(c) == stamp.BottomLeft || stamp.Corner(c) == stamp.BottomRight {
		at.inwards = p.Height - r.Top - r.Height - margin
	}
	return at
}

// placeCounts are numbers of places, seen from each corner.
type placeCounts struct{ stamps, clean, free, near int }

// countPlaces counts a page without a comparable stamp as one without a stamp.
func countPlaces(pages []*placedPage) (n placeCounts) {
	add := func(count *int, condition bool) {
		if condition {
			*count++
		}
	}
	for _, p := range pages {
		for c, place := range p.places {
			add(&n.stamps, p.stamped(c))
			add(&n.clean, p.stamped(c) && place.covered == 0)
			add(&n.free, place.exists)
			add(&n.near, place.exists && place.near)
		}
	}
	return n
}

func percent(part, all int) float64 { return 100 * float64(part) / float64(max(all, 1)) }

// placementTable returns docs/placement.md.
func placementTable(pages []*placedPage, memory int, failed bool) []byte {
	all := countPlaces(pages)
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Free places for a stamp on foreign pages

Written by %[1]s.ci/full%[1]s. The pages are the first ones of the PDFs with which pdf.js tests itself,
many of them broken on purpose. A stamp of %[2]g x %[3]g points is placed on each from each of its four
corners. The reference is mutool, a renderer that %[1]sstamp%[1]s does not use, at %[4]d dpi, with annotations
and form fields. Colours are alike when no channel differs by more than %[5]d.

- A stamp **covers nothing** when every pixel below it is like the commonest colour there, except for
  the outermost pixels.
- A page has a **free place** when an exhaustive search finds a box of %[6]g x %[7]g points, the stamp and %[8]d points
  on each side, that is all like the page's commonest light colour, on which black has a contrast of 7 to 1.
  Every position is tried, from the corner along the horizontal edge, then inwards.
- A stamp is **near** the first free place when it is at most %[9]d points further inwards than the first
  such box, and at most %[9]d points further along the edge unless it is in an earlier row.

| | | | required |
|---|---|---|---|
| stamps that cover nothing | %[10]d of %[11]d | %.2[12]f %% | %.1[13]f %% |
| corners with a free place that have a stamp near it | %[14]d of %[15]d | %.2[16]f %% | %.0[17]f %% |

`, "`", stamp.StandardSize.Width, stamp.StandardSize.Height, 72*perPoint, tolerance,
		stamp.StandardSize.Width+2*margin, stamp.StandardSize.Height+2*margin, margin, furtherBy,
		all.clean, all.stamps, percent(all.clean, all.stamps), 100*wantClean,
		all.near, all.free, percent(all.near, all.free), 100*wantNear)
	if failed {
		b.WriteString("**The run that wrote this failed.**\n\n")
	}
	var times []time.Duration
	var covers, notNear, otherSizes, notDrawn []string
	for _, p := range pages {
		for c, place := range p.places {
			row := fmt.Sprintf("%s | %s | ", p.name, cornerName(stamp.Corner(c)))
			if p.unreadable == nil {
				times = append(times, place.took)
			}
			if place.covered > 0 {
				covers = append(covers, row+fmt.Sprintf("%d pixels, at %v", place.covered, p.position(c)))
			}
			if why := p.whyNotNear(c); place.exists && !place.near {
				notNear = append(notNear, row+why)
			}
		}
		if p.otherSize != "" {
			otherSizes = append(otherSizes, p.name+" | "+p.otherSize)
		}
		if p.notDrawn != nil {
			notDrawn = append(notDrawn, p.name+" | "+cell(p.notDrawn.Error()))
		}
	}
	slices.Sort(times)
	atMost := func(share float64) time.Duration {
		return times[int(share*float64(len(times)-1))].Round(100 * time.Microsecond)
	}
	fmt.Fprintf(&b, `## Time and memory

%d places searched one after another.

| | | required, at most |
|---|---|---|
| median | %v | %v |
| 99th percentile | %v | %v |
| longest | %v | %v |
| resident memory | %d MB | %d MB |
`, len(times), atMost(.5), wantMedian, atMost(.99), want99th, atMost(1), deadline, memory>>20, maxMemory>>20)
	for _, list := range []struct {
		heading string
		rows    []string
	}{
		{"## Stamps that cover something\n\n| page of | corner | |\n|---|---|---|", covers},
		{"## A free place, and no stamp near it\n\n| page of | corner | |\n|---|---|---|", notNear},
		{"## Pages of another size for mutool\n\nThey count as having no stamp.\n\n| page of | |\n|---|---|", otherSizes},
		{"## Pages that mutool does not draw\n\nThey are not compared.\n\n| page of | |\n|---|---|", notDrawn},
	} {
		fmt.Fprintf(&b, "\n%s\n", list.heading)
		for _, row := range list.rows {
			fmt.Fprintf(&b, "| %s |\n", row)
		}
	}
	return b.Bytes()
}

// whyNotNear returns why there is no stamp near the first free place, for the table.
func (p *placedPage) whyNotNear(c int) string {
	place := p.places[c]
	switch {
	case p.unreadable != nil:
		return cell(p.unreadable.Error())
	case p.otherSize != "":
		return "page of another size"
	case place.refused != nil:
		return fmt.Sprintf("free place at %v; %s", place.first, cell(place.refused.Error()))
	}
	return fmt.Sprintf("free place at %v; stamp at %v", place.first, p.position(c))
}

// cell returns a text in the form of a cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(strings.Join(strings.Fields(text), " "))
}
