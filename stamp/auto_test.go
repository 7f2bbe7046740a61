package stamp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/stamp"
)

var corners = []stamp.Corner{stamp.TopLeft, stamp.TopRight, stamp.BottomLeft, stamp.BottomRight}

// TestCorners checks that Place measures from a corner to the nearest corner of the stamp, and that
// Find places a stamp 8 points away from the edges of a blank page.
func TestCorners(t *testing.T) {
	page := readPage(t, onPage("/MediaBox [0 0 600 800]"))
	for corner, want := range map[stamp.Corner]stamp.Rect{
		stamp.TopLeft:     rect(8, 8, 117, 55),
		stamp.TopRight:    rect(475, 8, 117, 55),
		stamp.BottomLeft:  rect(8, 737, 117, 55),
		stamp.BottomRight: rect(475, 737, 117, 55),
	} {
		placed, err := page.Place(corner, 8, 8, stamp.StandardSize)
		found, findErr := page.Find(t.Context(), blank, corner, stamp.StandardSize)
		if diff := cmp.Diff([]stamp.Rect{want, want}, []stamp.Rect{placed, found}, approximately); diff != "" || err != nil || findErr != nil {
			t.Errorf("corner %v: errors %v and %v, placed and found (-want +got):\n%s", corner, err, findErr, diff)
		}
	}
}

// TestPlaceOutside checks that a place may leave the page by half a point and no more.
func TestPlaceOutside(t *testing.T) {
	page := readPage(t, onPage("/MediaBox [0 0 600 800]"))
	standard := stamp.StandardSize
	for name, test := range map[string]struct {
		x, y float64
		size stamp.Size
		want error
	}{
		"at the corner":               {0, 0, standard, nil},
		"at the opposite corner":      {483, 745, standard, nil},
		"half a point outside":        {483.5, 745.5, standard, nil},
		"too far to the side":         {483.6, 0, standard, stamp.ErrOutside},
		"too far inwards":             {0, 745.6, standard, stamp.ErrOutside},
		"negative to the side":        {-0.1, 0, standard, stamp.ErrOutside},
		"negative inwards":            {0, -0.1, standard, stamp.ErrOutside},
		"distance is not a number":    {math.NaN(), 0, standard, stamp.ErrOutside},
		"infinite distance":           {0, math.Inf(1), standard, stamp.ErrOutside},
		"no width":                    {0, 0, size(0, 10), stamp.ErrOutside},
		"negative height":             {0, 0, size(10, -10), stamp.ErrOutside},
		"infinite width":              {0, 0, size(math.Inf(1), 10), stamp.ErrOutside},
		"width that is not a number":  {0, 0, size(math.NaN(), 10), stamp.ErrOutside},
		"height that is not a number": {0, 0, size(10, math.NaN()), stamp.ErrOutside},
	} {
		for _, corner := range corners {
			if _, err := page.Place(corner, test.x, test.y, test.size); !errors.Is(err, test.want) {
				t.Errorf("%s, corner %v: got error %v, want %v", name, corner, err, test.want)
			}
		}
	}
}

// TestPlaceOverSignature checks that a place may not overlap a visible signature, on pages of any
// rotation, and may overlap any other annotation (ISO 32000-2 12.5.3, 12.7.4.1).
func TestPlaceOverSignature(t *testing.T) {
	const signed = "/FT /Sig /V 101 0 R"
	for name, test := range map[string]struct {
		entries string // of the widget
		want    error
	}{
		"signature":                      {signed, stamp.ErrOverlap},
		"printed signature":              {signed + " /F 132", stamp.ErrOverlap},
		"hidden signature":               {signed + " /F 2", nil},
		"signature with NoView":          {signed + " /F 32", nil},
		"field type from the parent":     {"/V 101 0 R /Parent << /FT /Sig >>", stamp.ErrOverlap},
		"type and value from the parent": {"/Parent 102 0 R", stamp.ErrOverlap},
		"both from the parent's parent":  {"/Parent << /Parent 102 0 R >>", stamp.ErrOverlap},
		"unsigned signature field":       {"/FT /Sig", nil},
		"value is an absent object":      {"/FT /Sig /V 999 0 R", nil},
		"text field":                     {"/FT /Tx /V (text)", nil},
		"widget that is its own parent":  {"/Parent 100 0 R", nil},
		"flags that are not a number":    {signed + " /F (none)", stamp.ErrOverlap},
	} {
		for _, rotate := range []int{0, 90, 180, 270} {
			entries := fmt.Sprintf("/CropBox [50 60 500 700] /UserUnit 1.5 /Rotate %d", rotate)
			place := rect(100, 200, 117, 55)
			page := readPage(t, pdftest.Build(pdftest.Options{
				Page:    entries + " /Annots [null (damaged) << /Rect 7 >> 100 0 R]",
				Objects: []string{widget(readPage(t, onPage(entries)), place, test.entries), "<< /Type /Sig >>", "<< " + signed + " >>"},
			}))
			for at, want := range map[[2]float64]error{
				{100, 200}: test.want, {0, 150}: test.want, {200, 250}: test.want, {110, 210}: test.want,
				{217, 200}: nil, {100, 255}: nil, {100, 145}: nil, // adjacent
			} {
				if _, err := page.Place(stamp.TopLeft, at[0], at[1], stamp.StandardSize); !errors.Is(err, want) {
					t.Errorf("%s, rotated by %d, place at %v: got error %v, want %v", name, rotate, at, err, want)
				}
			}
		}
	}
}

// TestFindOrder checks that Find searches along the horizontal edge first and then inwards, and that
// a place may fill the page but for a margin of 2 points.
func TestFindOrder(t *testing.T) {
	inked := func(left, top, width, height float64) []stamp.Rect {
		return []stamp.Rect{rect(left, top, width, height)}
	}
	at := func(left, top float64) stamp.Rect { return rect(left, top, 117, 55) }
	standard := stamp.StandardSize
	for name, test := range map[string]struct {
		entries string
		inks    []stamp.Rect
		size    stamp.Size
		want    stamp.Rect
		err     error
	}{
		"along the edge":                         {"", inked(0, 0, 50, 200), standard, at(52, 8), nil},
		"inwards":                                {"", inked(100, 0, 100, 20), standard, at(8, 22), nil},
		"along the edge, although farther":       {"", inked(0, 0, 100, 1), standard, at(102, 8), nil},
		"nearer to the edge for lack of space":   {"", inked(0, 64, 300, 1), standard, at(8, 7), nil},
		"hidden annotation":                      {"/Annots [<< /Rect [0 190 50 200] /F 2 >>]", nil, standard, at(52, 8), nil},
		"signature with its margin":              {"/Annots [<< /Rect [0 190 50 200] /FT /Sig /V << >> >>]", nil, standard, at(54, 8), nil},
		"annotations outside and without area":   {"/Annots [<< /Rect [-50 0 0 200] >> << /Rect [10 100 10 200] >>]", nil, standard, at(8, 8), nil},
		"annotation over the whole page":         {"/Annots [<< /Rect [-999 -999 999 999] >>]", nil, standard, stamp.Rect{}, stamp.ErrNoRoom},
		"size of the page without the margin":    {"", nil, size(296, 196), rect(2, 2, 296, 196), nil},
		"wider than the page without the margin": {"", nil, size(296.5, 196), stamp.Rect{}, stamp.ErrNoRoom},
		"width that is not a number":             {"", nil, size(math.NaN(), 10), stamp.Rect{}, stamp.ErrNoRoom},
	} {
		page := readPage(t, onPage("/MediaBox [0 0 300 200] "+test.entries))
		renderer := drawing{size: page.Size, paper: white}
		for _, r := range test.inks {
			renderer.inks = append(renderer.inks, ink{r, black})
		}
		place, err := page.Find(t.Context(), renderer, stamp.TopLeft, test.size)
		if diff := cmp.Diff(test.want, place, approximately); diff != "" || !errors.Is(err, test.err) {
			t.Errorf("%s: got error %v, want %v, place (-want +got):\n%s", name, err, test.err, diff)
		}
	}
}

// TestPaper checks which colour counts as paper: the light colour that most of the page has, with
// the grain of a scan. Other colours are marks, even faint ones. A page without a light colour has no
// free place.
func TestPaper(t *testing.T) {
	rgb := func(r, g, b uint8) color.RGBA { return color.RGBA{r, g, b, 255} }
	grey := func(level uint8) color.RGBA { return rgb(level, level, level) }
	cream, yellow, night, scan := rgb(250, 240, 215), rgb(255, 255, 0), rgb(10, 15, 60), rgb(239, 240, 241)
	inked := func(left, top, width, height float64, c color.RGBA) []ink {
		return []ink{{rect(left, top, width, height), c}}
	}
	hairline := func(c color.RGBA) []ink { return inked(0, 30, 600, 0.3, c) }
	for name, test := range map[string]struct {
		paper color.RGBA
		inks  []ink
		grain int
		top   float64 // of the place; 0: there is none
	}{
		"black on white":              {white, hairline(black), 0, 33},
		"pale grey on white":          {white, hairline(grey(244)), 0, 33},
		"paler grey on white":         {white, hairline(grey(250)), 0, 8},
		"pale yellow on white":        {white, hairline(rgb(255, 255, 230)), 0, 33},
		"white on cream":              {cream, hairline(white), 0, 33},
		"clean scan":                  {scan, nil, 5, 8},
		"text of a scan":              {scan, hairline(grey(200)), 5, 33},
		"page of recycled paper":      {grey(170), nil, 0, 8},
		"page of middle grey":         {grey(128), nil, 0, 0},
		"red page":                    {rgb(255, 0, 0), nil, 0, 0},
		"dark page with white text":   {night, inked(50, 50, 500, 8, white), 0, 0},
		"dark page, white lower part": {night, inked(0, 300, 600, 500, white), 0, 302},
		"dark page with a white box":  {night, inked(50, 600, 300, 100, white), 0, 602},
		"as much white as yellow":     {yellow, inked(0, 400, 600, 400, white), 0, 402},
		"more yellow than white":      {yellow, inked(0, 500, 600, 300, white), 0, 8},
	} {
		page := readPage(t, onPage("/MediaBox [0 0 600 800]"))
		renderer := drawing{size: page.Size, paper: test.paper, inks: test.inks, grain: test.grain}
		place, err := page.Find(t.Context(), renderer, stamp.TopLeft, stamp.StandardSize)
		if test.top == 0 && !errors.Is(err, stamp.ErrNoRoom) || test.top > 0 && (err != nil || math.Abs(place.Top-test.top) > 6) {
			t.Errorf("%s: got %+v, error %v, want top %v", name, place, err, test.top)
		}
	}
}

// TestFindIsFirst compares Find with a search of every pixel on random pages. The found place is
// free and not before the first free place. It is not after the first free place with spare space
// around it, except for the distance by which a stamp is moved away from the edge. The renderer
// returns a part of a larger picture.
func TestFindIsFirst(t *testing.T) {
	// A place begins and ends with a square, and a pixel and a square are left out at each mark.
	const spare = 3.5 // points
	const inset = 6
	found := 0
	for seed := range uint64(40) {
		p := newRandomPage(t, seed)
		var picture *image.RGBA
		place, err := p.Find(t.Context(), rendererFunc(func(_ io.ReaderAt, width, height int) (*image.RGBA, error) {
			picture = p.renderer.draw(width, height)
			larger := image.NewRGBA(picture.Rect.Inset(-3))
			draw.Draw(larger, picture.Rect, picture, image.Point{}, draw.Src)
			return larger.SubImage(picture.Rect).(*image.RGBA), nil
		}), p.corner, p.stamp)
		box := size(p.stamp.Width+4, p.stamp.Height+4)
		first, exists := firstFree(picture, p.Size, p.corner, box)
		roomy, certain := firstFree(picture, p.Size, p.corner, size(box.Width+2*spare, box.Height+2*spare))
		if err != nil {
			if certain || !errors.Is(err, stamp.ErrNoRoom) {
				t.Errorf("seed %d: got error %v, but %+v from the corner is free", seed, err, roomy)
			}
			continue
		}
		found++
		around := rect(place.Left-2, place.Top-2, box.Width, box.Height)
		if !exists || !isFree(picture, p.Size, around) {
			t.Errorf("seed %d: %+v is not free", seed, place)
		}
		got := fromCorner(p.Size, p.corner, around)
		if got.Top < first.Top-1e-6 {
			t.Errorf("seed %d: got %+v from the corner, before the first free place %+v", seed, got, first)
		}
		if certain && (got.Top > roomy.Top+spare+inset || got.Top > roomy.Top && got.Left > roomy.Left+spare+inset) {
			t.Errorf("seed %d: got %+v from the corner, after the free place %+v", seed, got, roomy)
		}
	}
	if found < 10 || found > 36 {
		t.Errorf("%d of 40 pages have a free place: too few or too many for this test", found)
	}
}

// TestPlanIsRepeatedFind checks that each signer gets the place that PlanPlaces planned, on the
// document that the signers before have signed.
func TestPlanIsRepeatedFind(t *testing.T) {
	const bleed = 0.5 // points around a picture that viewers may ink
	planned := 0
	for seed := range uint64(20) {
		p := newRandomPage(t, seed)
		plan, err := p.PlanPlaces(t.Context(), p.renderer, p.corner, p.stamp, 6)
		if err != nil {
			t.Fatal(err)
		}
		planned += len(plan)
		widgets := ""
		for n, want := range plan {
			got, err := readPage(t, onPage(p.entries+" /Annots ["+widgets+"]")).Find(t.Context(), p.renderer, p.corner, p.stamp)
			if diff := cmp.Diff(want, got, approximately); diff != "" || err != nil {
				t.Errorf("seed %d, signer %d: error %v (-planned +found):\n%s", seed, n+1, err, diff)
			}
			widgets += widget(p.Page, want, "/FT /Sig /V << >>")
			inked := rect(want.Left-bleed, want.Top-bleed, want.Width+2*bleed, want.Height+2*bleed)
			p.renderer.inks = append(p.renderer.inks, ink{inked, black})
		}
		if len(plan) < 6 {
			got, err := readPage(t, onPage(p.entries+" /Annots ["+widgets+"]")).Find(t.Context(), p.renderer, p.corner, p.stamp)
			if !errors.Is(err, stamp.ErrNoRoom) {
				t.Errorf("seed %d: got %+v, error %v after %d signers, want error %v", seed, got, err, len(plan), stamp.ErrNoRoom)
			}
		}
	}
	if planned < 30 || planned > 100 {
		t.Errorf("%d of 120 places are planned: too few or too many for this test", planned)
	}
}

// TestPlanPlaces checks how many places a page has.
func TestPlanPlaces(t *testing.T) {
	for name, test := range map[string]struct {
		entries     string
		size        stamp.Size
		limit, want int
	}{
		"as many as asked for":   {"", stamp.StandardSize, 6, 6},
		"limit 0":                {"", stamp.StandardSize, 0, 0},
		"negative limit":         {"", stamp.StandardSize, -1, 0},
		"all of A4":              {"", stamp.StandardSize, 1 << 30, 4 * 14},
		"space for one":          {"/MediaBox [0 0 200 100]", stamp.StandardSize, 6, 1},
		"page too small":         {"/MediaBox [0 0 120 100]", stamp.StandardSize, 6, 0},
		"no free place":          {"/Annots [<< /Rect [0 0 999 999] >>]", stamp.StandardSize, 6, 0},
		"hundreds of small ones": {"/MediaBox [0 0 200 100]", size(4, 4), 1 << 30, 24 * 11},
	} {
		for _, corner := range corners {
			page := readPage(t, onPage(test.entries))
			places, err := page.PlanPlaces(t.Context(), blank, corner, test.size, test.limit)
			if err != nil || len(places) != test.want {
				t.Errorf("%s, corner %v: got %d places, error %v, want %d", name, corner, len(places), err, test.want)
			}
		}
	}
}

// TestFindErrors checks the errors of Find and PlanPlaces if the page cannot be drawn. An error of the
// document's reader is returned even if the renderer ignores it.
func TestFindErrors(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	outOfMemory, diskError := errors.New("out of memory"), errors.New("disk error")
	all := []error{stamp.ErrNotDrawn, stamp.ErrNotReady, outOfMemory, diskError, context.Canceled}
	returns := func(err error) rendererFunc {
		return func(io.ReaderAt, int, int) (*image.RGBA, error) { return nil, err }
	}
	turned := rendererFunc(func(_ io.ReaderAt, width, height int) (*image.RGBA, error) {
		return blank.draw(height, width), nil
	})
	reads := rendererFunc(func(document io.ReaderAt, width, height int) (*image.RGBA, error) {
		document.ReadAt(make([]byte, 8), 0)
		return blank.draw(width, height), nil
	})
	readsAndFails := rendererFunc(func(document io.ReaderAt, _, _ int) (*image.RGBA, error) {
		document.ReadAt(make([]byte, 8), 0)
		return nil, outOfMemory
	})
	for name, test := range map[string]struct {
		ctx      context.Context
		renderer stamp.Renderer
		document error // of reading the document
		want     []error
	}{
		"no renderer":                  {t.Context(), nil, nil, []error{stamp.ErrNotDrawn}},
		"renderer is not ready":        {t.Context(), returns(stamp.ErrNotReady), nil, []error{stamp.ErrNotReady}},
		"renderer fails":               {t.Context(), returns(outOfMemory), nil, []error{stamp.ErrNotDrawn, outOfMemory}},
		"context ends":                 {canceled, returns(outOfMemory), nil, []error{context.Canceled}},
		"picture of another size":      {t.Context(), turned, nil, []error{stamp.ErrNotDrawn}},
		"no picture":                   {t.Context(), returns(nil), nil, []error{stamp.ErrNotDrawn}},
		"reader fails, with a picture": {t.Context(), reads, diskError, []error{diskError}},
		"reader and renderer fail":     {t.Context(), readsAndFails, diskError, []error{diskError}},
	} {
		document := &failingReader{ReaderAt: bytes.NewReader(onPage(""))}
		page, err := stamp.ReadPage(document, int64(len(onPage(""))), 1)
		if err != nil {
			t.Fatal(err)
		}
		document.err = test.document
		_, err = page.Find(test.ctx, test.renderer, stamp.TopLeft, stamp.StandardSize)
		_, planErr := page.PlanPlaces(test.ctx, test.renderer, stamp.TopLeft, stamp.StandardSize, 2)
		for _, e := range all {
			if want := slices.Contains(test.want, e); errors.Is(err, e) != want || errors.Is(planErr, e) != want {
				t.Errorf("%s: got errors %q and %q, want %v", name, err, planErr, test.want)
			}
		}
	}
}

// TestPictureSize checks that pages are drawn with three pixels for four points, large ones smaller,
// and small ones larger.
func TestPictureSize(t *testing.T) {
	for name, test := range map[string]struct {
		entries string
		size    stamp.Size
		want    image.Point
	}{
		"A4":                   {"/MediaBox [0 0 595.276 841.89]", stamp.StandardSize, image.Pt(447, 632)},
		"A4, rotated by 90":    {"/MediaBox [0 0 595.276 841.89] /Rotate 90", stamp.StandardSize, image.Pt(632, 447)},
		"A6":                   {"/MediaBox [0 0 300 400]", stamp.StandardSize, image.Pt(338, 450)},
		"A0":                   {"/MediaBox [0 0 2400 3200]", stamp.StandardSize, image.Pt(900, 1200)},
		"place of five points": {"/MediaBox [0 0 2400 3200]", size(5, 5), image.Pt(1152, 1536)},
		"page of 25 m by 25 m": {"/MediaBox [0 0 7200 7200] /UserUnit 10", stamp.StandardSize, image.Pt(1331, 1331)},
	} {
		var got image.Point
		readPage(t, onPage(test.entries)).Find(t.Context(), rendererFunc(func(_ io.ReaderAt, width, height int) (*image.RGBA, error) {
			got = image.Pt(width, height)
			return nil, nil
		}), stamp.TopLeft, test.size)
		if got != test.want {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}

func rect(left, top, width, height float64) stamp.Rect {
	return stamp.Rect{Left: left, Top: top, Width: width, Height: height}
}

func size(width, height float64) stamp.Size { return stamp.Size{Width: width, Height: height} }

// widget returns a widget annotation with the given place and entries.
func widget(page *stamp.Page, r stamp.Rect, entries string) string {
	llx, lly, urx, ury := page.UserSpace(r)
	return fmt.Sprintf("<< /Subtype /Widget /Rect [%f %f %f %f] %s >>", llx, lly, urx, ury, entries)
}

// rendererFunc is a renderer that depends on the document and the picture's size only.
type rendererFunc func(document io.ReaderAt, width, height int) (*image.RGBA, error)

func (f rendererFunc) Render(_ context.Context, document io.ReaderAt, _ int64, _, width, height int) (*image.RGBA, error) {
	return f(document, width, height)
}

var (
	white = color.RGBA{255, 255, 255, 255}
	black = color.RGBA{0, 0, 0, 255}
	blank = drawing{paper: white}
)

// ink is a rectangle of a colour.
type ink struct {
	stamp.Rect
	color.RGBA
}

// drawing is a renderer that draws the same page for every document.
type drawing struct {
	size  stamp.Size // of the page
	paper color.RGBA
	inks  []ink
	grain int // how much the channels of a pixel vary at most
}

func (d drawing) Render(_ context.Context, _ io.ReaderAt, _ int64, _, width, height int) (*image.RGBA, error) {
	return d.draw(width, height), nil
}

func (d drawing) draw(width, height int) *image.RGBA {
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(picture, picture.Rect, image.NewUniform(d.paper), image.Point{}, draw.Src)
	perX, perY := float64(width)/d.size.Width, float64(height)/d.size.Height
	for _, ink := range d.inks {
		touched := image.Rect( // viewers ink each pixel that is touched
			int(math.Floor(ink.Left*perX)), int(math.Floor(ink.Top*perY)),
			int(math.Ceil((ink.Left+ink.Width)*perX)), int(math.Ceil((ink.Top+ink.Height)*perY)),
		)
		draw.Draw(picture, touched, image.NewUniform(ink.RGBA), image.Point{}, draw.Src)
	}
	random := rand.New(rand.NewPCG(8, 1))
	for i := range picture.Pix {
		if d.grain > 0 && i%4 < 3 {
			picture.Pix[i] = uint8(min(255, max(0, int(picture.Pix[i])+random.IntN(2*d.grain+1)-d.grain)))
		}
	}
	return picture
}

// randomPage is a page with random marks, a corner, and the size of a stamp.
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
		stamp:   size(between(40, 90), between(20, 60)),
	}
	p.Page = readPage(t, onPage(p.entries))
	p.renderer = drawing{size: p.Size, paper: white}
	for range random.IntN(120) {
		r := stamp.Rect{Left: between(0, p.Width), Top: between(0, p.Height)}
		r.Width, r.Height = min(between(0, 40), p.Width-r.Left), min(between(0, 10), p.Height-r.Top)
		p.renderer.inks = append(p.renderer.inks, ink{r, black})
	}
	return p
}

// fromCorner converts a rectangle between coordinates from the upper left corner of the page and
// coordinates from the corner c, in both directions.
func fromCorner(page stamp.Size, c stamp.Corner, r stamp.Rect) stamp.Rect {
	if c == stamp.TopRight || c == stamp.BottomRight {
		r.Left = page.Width - r.Left - r.Width
	}
	if c == stamp.BottomLeft || c == stamp.BottomRight {
		r.Top = page.Height - r.Top - r.Height
	}
	return r
}

// firstFree returns the first free place, in coordinates from the corner. It tries every place that
// begins with a pixel, along the horizontal edge and then inwards.
func firstFree(picture *image.RGBA, page stamp.Size, corner stamp.Corner, size stamp.Size) (stamp.Rect, bool) {
	pixels := picture.Rect.Size()
	for j := range pixels.Y {
		for i := range pixels.X {
			r := rect(float64(i)/float64(pixels.X)*page.Width, float64(j)/float64(pixels.Y)*page.Height, size.Width, size.Height)
			onPage := r.Left+r.Width <= page.Width+1e-6 && r.Top+r.Height <= page.Height+1e-6
			if onPage && isFree(picture, page, fromCorner(page, corner, r)) {
				return r, true
			}
		}
	}
	return stamp.Rect{}, false
}

// isFree reports whether every pixel that a place touches is white.
func isFree(picture *image.RGBA, page stamp.Size, r stamp.Rect) bool {
	perX, perY := float64(picture.Rect.Dx())/page.Width, float64(picture.Rect.Dy())/page.Height
	const rounding = 1e-6
	for y := int(r.Top*perY + rounding); float64(y) < (r.Top+r.Height)*perY-rounding; y++ {
		for x := int(r.Left*perX + rounding); float64(x) < (r.Left+r.Width)*perX-rounding; x++ {
			if picture.Pix[picture.PixOffset(x, y)] != white.R {
				return false
			}
		}
	}
	return true
}
