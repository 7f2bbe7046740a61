package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// contract has three pages, each with less text than the one before.
var contract = []pdftest.Leaf{{Text: clauses(1)}, {Text: clauses(2)[:35]}, {Text: clauses(3)[:10]}}

// Pictures are for the participant only, of the requested revision only.
func TestPictureIsRefused(t *testing.T) {
	t.Parallel()
	s, v := withDocument(t, pdftest.Book(contract), blank{})
	b := s.browserOf(annas)
	for path, want := range map[string]int{
		"/pages/1/640?revision=0":  http.StatusOK,
		"/pages/3/1440?revision=0": http.StatusOK,
		"/pages/1/640?revision=1":  http.StatusConflict,
		"/pages/1/640":             http.StatusConflict,
		"/pages/1/640?revision=00": http.StatusConflict,
		"/pages/0/640?revision=0":  http.StatusNotFound,
		"/pages/4/640?revision=0":  http.StatusNotFound,
		"/pages/-1/640?revision=0": http.StatusNotFound,
		"/pages/x/640?revision=0":  http.StatusNotFound,
		"/pages/1/641?revision=0":  http.StatusNotFound,
		"/pages/1/9999?revision=0": http.StatusNotFound,
	} {
		b.get(of(v, 0, path)).says(t, want)
	}
	for _, b := range []*browser{s.browserOf(jons), s.newBrowser()} {
		for _, path := range []string{"/pages/1/640?revision=0", "/document"} {
			a := b.get(of(v, 0, path)).lacks(t, "%PDF")
			if a.status == http.StatusOK || strings.HasPrefix(a.header.Get("Content-Type"), "image/") {
				t.Errorf("%s: %d %s", path, a.status, a.header.Get("Content-Type"))
			}
		}
	}
}

// failingRenderer draws nothing.
type failingRenderer struct {
	blank
	err error
}

func (f failingRenderer) Render(context.Context, io.ReaderAt, int64, int, int, int) (*image.RGBA, error) {
	return nil, f.err
}

// The placeholder of a page that cannot be drawn says so in the language of the browser, and what to do.
func TestPlaceholders(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err    error
		status int
		words  string
	}{
		"too much": {context.DeadlineExceeded, http.StatusUnprocessableEntity, "picture.undrawable"},
		"busy":     {stamp.ErrNotReady, http.StatusServiceUnavailable, "picture.busy"},
	} {
		t.Run(name, func(t *testing.T) {
			s, v := withDocument(t, pdftest.Book(contract), failingRenderer{err: test.err})
			for _, lang := range languages {
				a := s.browserOf(annas).get(of(v, 0, "/pages/1/640?revision=0"), "Accept-Language", lang)
				if a.status != test.status || a.header.Get("Content-Type") != "image/svg+xml" || a.header.Get("Content-Security-Policy") != securityHeaders["Content-Security-Policy"] {
					t.Errorf("%d %v", a.status, a.header)
				}
				a.contains(t, words().text(lang, test.words), words().text(lang, test.words+".advice"))
			}
		})
	}
}

// A picture has the requested width and the shape of the page, within maxPixels.
func TestPixelSize(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		page      stamp.Size
		width     int
		wantW     int
		wantH     int
		wantError bool
	}{
		{page: stamp.Size{Width: 595, Height: 842}, width: 640, wantW: 640, wantH: 906},
		{page: stamp.Size{Width: 842, Height: 595}, width: 1440, wantW: 1440, wantH: 1018},
		{page: stamp.Size{Width: 600, Height: 6000}, width: 1440, wantW: 648, wantH: 6472},
		{page: stamp.Size{Width: 1, Height: 1e6}, width: 640, wantW: 2, wantH: 2047843},
		{page: stamp.Size{Width: 1e6, Height: 1e-3}, width: 640, wantW: 640, wantH: 1},
		{page: stamp.Size{}, width: 640, wantError: true},
		{page: stamp.Size{Width: math.NaN(), Height: 1}, width: 640, wantError: true},
	} {
		w, h, err := pixelSize(test.page, test.width)
		if (err != nil) != test.wantError || w*h > maxPixels || w != test.wantW || math.Abs(float64(h-test.wantH)) > 1e-3*float64(h)+1 {
			t.Errorf("%v in %d: %d x %d, %v", test.page, test.width, w, h, err)
		}
	}
}

// Text is encoded without loss, and photos and scans, in colour or not, as a JPEG. A file has no spare capacity.
func TestEncode(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	paint := func(at func(x, y int) color.RGBA) *image.RGBA {
		out := image.NewRGBA(image.Rect(0, 0, 300, 400))
		for y := range 400 {
			for x := range 300 {
				out.SetRGBA(x, y, at(x, y))
			}
		}
		return out
	}
	noise := func(n int) uint8 { return uint8(200 + random.IntN(n)) }
	for name, test := range map[string]struct {
		drawn *image.RGBA
		kind  string
	}{
		"white": {paint(func(int, int) color.RGBA { return color.RGBA{255, 255, 255, 255} }), "image/png"},
		"dense text": {paint(func(x, y int) color.RGBA {
			v := uint8(min(255, x*7%61*y%9*30))
			return color.RGBA{v, v, v, 255}
		}), "image/png"},
		"text in many colours": {paint(func(x, y int) color.RGBA {
			return color.RGBA{uint8(x / 6 * 5), uint8(y / 2), uint8(x / 6), 255}
		}), "image/png"},
		"grey scan": {paint(func(int, int) color.RGBA {
			v := noise(50)
			return color.RGBA{v, v, v, 255}
		}), "image/jpeg"},
		"colour scan": {paint(func(int, int) color.RGBA { return color.RGBA{noise(50), noise(50), noise(50), 255} }), "image/jpeg"},
	} {
		t.Run(name, func(t *testing.T) {
			picture, err := encode(test.drawn)
			if err != nil || picture.mediaType != test.kind {
				t.Fatalf("%s, %v", picture.mediaType, err)
			}
			if most := len(picture.file)*9/8 + 8192; cap(picture.file) > most { // the allocator rounds up
				t.Errorf("a file of %d bytes takes %d", picture.cost(), cap(picture.file))
			}
			if picture.mediaType == "image/jpeg" {
				if got, err := jpeg.Decode(bytes.NewReader(picture.file)); err != nil || got.Bounds() != test.drawn.Rect {
					t.Errorf("%v", err)
				}
				return
			}
			got, err := png.Decode(bytes.NewReader(picture.file))
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i < len(test.drawn.Pix); i += 4 {
				x, y := i/4%300, i/4/300
				if color.RGBAModel.Convert(got.At(x, y)) != test.drawn.RGBAAt(x, y) {
					t.Fatalf("at %d, %d: %v, want %v", x, y, got.At(x, y), test.drawn.RGBAAt(x, y))
				}
			}
		})
	}
}

// Pages of text and scans are drawn and read; other page numbers are not found.
func TestPicturesOfABook(t *testing.T) {
	testenv.Slow(t, "a long document is drawn")
	p := newPictures(newRenderer(t, pdfium.Options{Limit: enoughTime}), nil)
	defer p.close()
	rev, open := docRevision{"an account", "a process", 0}, openingOf(bytes.NewReader(book()), int64(len(book())), 0, nil)
	for n, kind := range map[int]string{1: "image/png", 2: "image/jpeg"} {
		got, err := p.picture(t.Context(), rev, open, n, 640)
		if err != nil || got.mediaType != kind || len(got.file) > 300<<10 {
			t.Fatalf("page %d: %v, %v", n, got, err)
		}
		t.Logf("figure: page %d takes %d bytes as %s", n, len(got.file), kind)
	}
	for n, want := range map[int][]string{1: clauses(1), 2: nil} {
		got, err := p.text(t.Context(), rev, open, n)
		if err != nil || len(got.lines) != len(want) {
			t.Fatalf("page %d: %d lines, %v", n, len(got.lines), err)
		}
		for i, line := range got.lines {
			if line.Text != want[i] {
				t.Errorf("line %d is %q, want %q", i+1, line.Text, want[i])
			}
		}
	}
	for _, n := range []int{-1, 0, 41} {
		if _, err := p.picture(t.Context(), rev, open, n, 640); !errors.Is(err, portal.ErrNotFound) {
			t.Errorf("page %d: %v", n, err)
		}
	}
}

// scanRenderer draws white or noisy pages, and counts them.
type scanRenderer struct {
	blank
	noisy bool // like a scan
	drawn chan struct{}
}

func (p scanRenderer) Render(_ context.Context, _ io.ReaderAt, _ int64, _, width, height int) (*image.RGBA, error) {
	p.drawn <- struct{}{}
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	noise := rand.New(rand.NewPCG(1, 2))
	for i := range out.Pix {
		shade := 255
		if p.noisy {
			shade = noise.IntN(256)
		}
		if i%4 == 3 {
			shade = 255
		}
		out.Pix[i] = uint8(shade)
	}
	return out, nil
}

// A scan is drawn once, at the greatest width, and scaled down, also for requests while it is being drawn. A page of
// text is drawn at each width.
func TestScansAreDrawnOnce(t *testing.T) {
	testenv.Slow(t, "pages are drawn in their largest size")
	t.Parallel()
	for _, test := range []struct {
		name  string
		noisy bool
		kind  string
		drawn int
	}{{"scan", true, mediaJPEG, 1}, {"text", false, mediaPNG, 2}} {
		t.Run(test.name, func(t *testing.T) {
			p := scanRenderer{noisy: test.noisy, drawn: make(chan struct{}, 10)}
			s, v := withDocument(t, book(), p)
			ctx := t.Context()
			view, err := s.portal.ParticipantView(ctx, v.ID, v.Participants[0].ID)
			s.must(err)
			rev, open := s.page.currentRevision(view)
			wide := make(chan error, 1)
			go func() {
				_, err := s.page.pictures.picture(ctx, rev, open, 1, maxWidth)
				wide <- err
			}()
			<-p.drawn
			small, err := s.page.pictures.picture(ctx, rev, open, 1, defaultWidth)
			s.must(err)
			s.must(<-wide)
			config, _, err := image.DecodeConfig(bytes.NewReader(small.file))
			s.must(err)
			w, h, err := pixelSize(stamp.Size{Width: 595, Height: 842}, defaultWidth)
			s.must(err)
			if small.mediaType != test.kind || config.Width != w || config.Height < h-3 || config.Height > h+3 {
				t.Errorf("%s of %d by %d", small.mediaType, config.Width, config.Height)
			}
			if n := 1 + len(p.drawn); n != test.drawn {
				t.Errorf("drawn %d times", n)
			}
		})
	}
}

// A scaled picture shows the same as the wide one.
func TestScaled(t *testing.T) {
	t.Parallel()
	wide := image.NewRGBA(image.Rect(0, 0, maxWidth, maxWidth))
	for y := range maxWidth {
		for x := range maxWidth {
			shade := uint8(x * 255 / maxWidth)
			copy(wide.Pix[wide.PixOffset(x, y):], []byte{shade, uint8(y * 255 / maxWidth), shade, 255})
		}
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, wide, &jpeg.Options{Quality: jpegQuality}); err != nil {
		t.Fatal(err)
	}
	small, err := newEncodedPicture(mediaJPEG, &file).scaled(640, 640)
	if err != nil {
		t.Fatal(err)
	}
	shown, _, err := image.Decode(bytes.NewReader(small.file))
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []image.Point{{10, 10}, {320, 100}, {600, 630}} {
		r, g, _, _ := shown.At(at.X, at.Y).RGBA()
		if off := max(distance(r, at.X), distance(g, at.Y)); off > 6 {
			t.Errorf("at %v off by %d of 255", at, off)
		}
	}
	if _, err = (&encodedPicture{mediaJPEG, []byte("none")}).scaled(640, 640); err == nil {
		t.Error("an invalid picture was scaled")
	}
}

func distance(got uint32, at int) int {
	off := int(got>>8) - at*255/640
	return max(off, -off)
}

// book is a document of 22 MB and 40 pages. The odd ones are text, and the even ones scans at 300 dpi.
var book = sync.OnceValue(func() []byte {
	paper := scan()
	var leaves []pdftest.Leaf
	for n := range 40 {
		if n%2 == 0 {
			leaves = append(leaves, pdftest.Leaf{Text: clauses(n + 1)})
		} else {
			leaves = append(leaves, pdftest.Leaf{Scan: paper, Width: scanWidth, Height: scanHeight})
		}
	}
	return pdftest.Book(leaves)
})

const scanWidth, scanHeight = 2480, 3508 // A4

// clauses returns a full page of a contract.
func clauses(page int) (lines []string) {
	for n := range 52 {
		lines = append(lines, fmt.Sprintf("%d.%d Samningsaðili greiðir þóknun fyrir veitta þjónustu eigi síðar en á gjalddaga hvers mánaðar.", page, n+1))
	}
	return lines
}

// scan returns a scanned page, on which paper is not quite white and lines are not quite black.
func scan() []byte {
	page, random := image.NewRGBA(image.Rect(0, 0, scanWidth, scanHeight)), rand.New(rand.NewPCG(5, 6))
	for y := range scanHeight {
		for x := range scanWidth {
			shade := 232 + random.IntN(16)
			if ink := x > 250 && x < 2230 && y > 250 && y < 3250 && y%58 < 26; ink && (x/6+y/58*7)%5 < 2 {
				shade = 40 + random.IntN(30)
			}
			page.SetRGBA(x, y, color.RGBA{uint8(shade), uint8(shade), uint8(shade - 8), 255})
		}
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, page, &jpeg.Options{Quality: 73}); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// enoughTime is more than a page takes on a busy machine.
const enoughTime = 5 * time.Minute

// newRenderer returns a renderer that has started.
func newRenderer(t testing.TB, o pdfium.Options) *pdfium.Renderer {
	t.Helper()
	o.Cache = testenv.RendererCache()
	r := pdfium.New(o)
	t.Cleanup(func() { r.Close() })
	if _, err := r.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// The time of the first picture of a long document, and of a cached one, which has to stay within 300 ms: figures for
// docs/signing-page.md, the medians of all rounds.
func BenchmarkFirstPicture(b *testing.B) {
	s, v := withDocument(b, book(), newRenderer(b, pdfium.Options{Limit: enoughTime}))
	c := s.browserOf(annas)
	timed := func(page int) time.Duration {
		began := time.Now()
		if a := c.get(of(v, 0, fmt.Sprintf("/pages/%d/960?revision=0", page))); a.status != http.StatusOK {
			b.Fatalf("page %d: %d", page, a.status)
		}
		return time.Since(began)
	}
	for i, name := range []string{"text", "scan"} {
		page := i + 1
		b.Run(name, func(b *testing.B) {
			var first, again []time.Duration
			for b.Loop() {
				s.page.pictures.clear()
				first = append(first, timed(page))
				again = append(again, timed(page))
			}
			slices.Sort(first)
			slices.Sort(again)
			b.ReportMetric(float64(first[len(first)/2].Microseconds())/1000, "ms/first")
			b.ReportMetric(float64(again[len(again)/2].Microseconds())/1000, "ms/ahead")
			if median := again[len(again)/2]; median > 300*time.Millisecond {
				b.Errorf("a cached picture takes %v", median)
			}
		})
	}
}

// stallingRenderer reads documents from a store that does not answer.
type stallingRenderer struct {
	Renderer
	drawing chan<- struct{} // gets a value for each page
	release <-chan struct{}
}

func (s stallingRenderer) Render(ctx context.Context, _ io.ReaderAt, size int64, page, width, height int) (*image.RGBA, error) {
	return s.Renderer.Render(ctx, stalled(s), size, page, width, height)
}

type stalled stallingRenderer

func (s stalled) ReadAt([]byte, int64) (int, error) {
	select {
	case s.drawing <- struct{}{}:
	default:
	}
	<-s.release
	return 0, io.ErrUnexpectedEOF
}

// However many pictures wait, the renderer finds places for visible signatures, which creating a process requires, also
// with one processor.
func TestPicturesLeaveAnInstanceForPlaceSearches(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	renderer := newRenderer(t, pdfium.Options{Limit: enoughTime, Wait: time.Minute})
	drawing, release := make(chan struct{}, 1), make(chan struct{})
	p := newPictures(stallingRenderer{renderer, drawing, release}, nil)
	var all sync.WaitGroup
	document := pdftest.Book(make([]pdftest.Leaf, 1))
	for n := range 10 {
		all.Go(func() {
			rev := docRevision{"an account", fmt.Sprint("process ", n), 0}
			if _, err := p.picture(t.Context(), rev, openingOf(bytes.NewReader(document), int64(len(document)), 0, nil), 1, 640); err == nil {
				t.Error("a page is drawn of a document that cannot be read")
			}
		})
	}
	<-drawing
	page, err := stamp.ReadPage(bytes.NewReader(document), int64(len(document)), 1)
	if err != nil {
		t.Fatal(err)
	}
	if places, err := page.PlanPlaces(t.Context(), renderer, stamp.BottomRight, stamp.StandardSize, 3); err != nil || len(places) != 3 {
		t.Errorf("places: %v, %v", places, err)
	}
	close(release)
	all.Wait()
	p.close()
}
