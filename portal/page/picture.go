package page

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"

	"golang.org/x/image/draw"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/stamp"
)

// servePicture answers with the picture of a document page, or with a placeholder that says why there is none.
func (p *Page) servePicture(w http.ResponseWriter, r *http.Request) error {
	view, _, err := p.authorize(r)
	if err != nil {
		return err
	}
	n, width, err := parsePicturePath(r)
	if err != nil {
		return err
	}
	rev, open := p.currentRevision(view)
	if r.URL.Query().Get("revision") != strconv.Itoa(rev.revision) {
		return showPlaceholder(w, r, portal.ErrChanged)
	}
	picture, err := p.pictures.picture(r.Context(), rev, open, n, width)
	if err == nil || errors.Is(err, errUnreadable) {
		if err := p.noteDrawing(r.Context(), rev, n, err == nil); err != nil {
			p.report(r.Context(), err) // the person gets the picture or its placeholder all the same
		}
	}
	if err != nil {
		return showPlaceholder(w, r, err)
	}
	w.Header().Set("Content-Type", picture.mediaType)
	w.Header().Set("Content-Length", strconv.Itoa(len(picture.file)))
	w.Write(picture.file) // a failed write means that the client is gone
	return nil
}

// parsePicturePath returns the page number and the width in pixels, or errPageNotFound.
func parsePicturePath(r *http.Request) (n, width int, err error) {
	n, err = strconv.Atoi(r.PathValue("n"))
	width, errWidth := strconv.Atoi(r.PathValue("width"))
	if err != nil || errWidth != nil || !slices.Contains(pictureWidths, width) {
		return 0, 0, errPageNotFound
	}
	return n, width, nil
}

// placeholder is the picture shown instead of a document page: the key of its text, and the status.
type placeholder struct {
	key    string
	status int
}

// showPlaceholder answers with the placeholder of an error. Errors without one are returned.
func showPlaceholder(w http.ResponseWriter, r *http.Request, err error) error {
	p := placeholder{}
	switch {
	case errors.Is(err, portal.ErrChanged):
		p = placeholder{"picture.changed", http.StatusConflict}
	case errors.Is(err, errUnreadable):
		p = placeholder{"picture.undrawable", http.StatusUnprocessableEntity}
	case errors.Is(err, errBusy), errors.Is(err, errClosed):
		p = placeholder{"picture.busy", http.StatusServiceUnavailable}
		w.Header().Set("Retry-After", "2")
	default:
		return err
	}
	return p.serve(w, languageOf(r))
}

// serve answers with an SVG of the text. Browsers show it whatever the status is, instead of a broken picture.
func (p placeholder) serve(w http.ResponseWriter, lang string) error {
	var out bytes.Buffer
	fmt.Fprint(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 595 842" width="595" height="842">`+
		`<rect width="595" height="842" fill="#fff"/>`+
		`<g font-family="sans-serif" font-size="22" text-anchor="middle" fill="#1f2933">`)
	for i, key := range []string{p.key, p.key + ".advice"} {
		fmt.Fprintf(&out, `<text x="297" y="%d">`, 380+40*i)
		if err := xml.EscapeText(&out, []byte(words().text(lang, key))); err != nil {
			return err
		}
		fmt.Fprint(&out, `</text>`)
	}
	fmt.Fprint(&out, `</g></svg>`)
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Content-Language", lang)
	w.Header().Add("Vary", "Accept-Language, Cookie")
	w.WriteHeader(p.status)
	out.WriteTo(w) // a failed write means that the client is gone
	return nil
}

// Limits of pictures.
const (
	maxPixels = 4 << 20 // of a picture
	maxPages  = 2000    // of a document are shown; the others can be downloaded
)

// pictureWidths are the offered widths in pixels, smaller for pages that would exceed maxPixels.
var pictureWidths = []int{640, defaultWidth, maxWidth}

// The width for browsers that do not choose, and the largest one.
const (
	defaultWidth = 960
	maxWidth     = 1440
)

// pageSizes are the sizes of the pages of a document.
type pageSizes struct {
	pages []stamp.Size // the first maxPages
	total int          // number of all pages
}

func (s *pageSizes) cost() int { return 16 * len(s.pages) }

// sizes returns the page sizes of a document. Errors are those of get.
func (p *pictures) sizes(ctx context.Context, rev docRevision, open openFunc) (*pageSizes, error) {
	value, err := p.get(ctx, cacheKey{docRevision: rev}, open, func(_ context.Context, file io.ReaderAt, size int64) (cacheValue, error) {
		pages, all, err := stamp.Sizes(file, size, maxPages)
		return &pageSizes{pages, all}, err
	})
	if err != nil {
		return nil, err
	}
	return value.(*pageSizes), nil
}

// pageText is the text of a page.
type pageText struct{ lines []stamp.Line }

func (t *pageText) cost() int {
	n := 0
	for _, line := range t.lines {
		n += 64 + len(line.Text)
	}
	return n
}

// text returns the text of a page. Errors are those of get.
func (p *pictures) text(ctx context.Context, rev docRevision, open openFunc, page int) (*pageText, error) {
	value, err := p.get(ctx, cacheKey{docRevision: rev, page: page}, open, func(ctx context.Context, file io.ReaderAt, size int64) (cacheValue, error) {
		lines, err := p.renderer.Lines(ctx, file, size, page)
		return &pageText{lines}, err
	})
	if err != nil {
		return nil, err
	}
	return value.(*pageText), nil
}

// picture returns a picture of a page. [portal.ErrNotFound]: there is no such page. Other errors are those of
// get.
func (p *pictures) picture(ctx context.Context, rev docRevision, open openFunc, page, width int) (*encodedPicture, error) {
	sizes, err := p.sizes(ctx, rev, open)
	if err != nil {
		return nil, err
	}
	if page < 1 || page > len(sizes.pages) {
		return nil, portal.ErrNotFound
	}
	p.awaitWidest(ctx, cacheKey{rev, page, width})
	value, err := p.get(ctx, cacheKey{rev, page, width}, open, func(ctx context.Context, file io.ReaderAt, size int64) (cacheValue, error) {
		w, h, err := pixelSize(sizes.pages[page-1], width)
		if err != nil {
			return nil, err
		}
		if wide := p.widestScan(cacheKey{rev, page, width}); wide != nil {
			return wide.scaled(w, h)
		}
		drawn, err := p.renderer.Render(ctx, file, size, page, w, h)
		if err != nil {
			return nil, err
		}
		return encode(drawn)
	})
	if err != nil {
		return nil, err
	}
	return value.(*encodedPicture), nil
}

// pixelSize returns the size of a picture with a width, or a smaller one if that has more than maxPixels.
func pixelSize(page stamp.Size, width int) (w, h int, err error) {
	if !(page.Width > 0 && page.Height > 0) {
		return 0, 0, fmt.Errorf("a page of %g by %g points", page.Width, page.Height)
	}
	scale := min(float64(width)/page.Width, math.Sqrt(maxPixels/page.Width/page.Height))
	w = max(1, int(math.Round(page.Width*scale)))
	h = max(1, min(int(math.Round(page.Height*scale)), maxPixels/w))
	return w, h, nil
}

// widestScan returns the widest picture of a page if it is cached and a scan. Drawing a scan takes a second or
// more, and scaling it down a tenth of that, so a scan is drawn once. It returns nil if the key itself is that
// of the widest picture.
func (p *pictures) widestScan(k cacheKey) *encodedPicture {
	if k.width == maxWidth {
		return nil
	}
	k.width = maxWidth
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, ok := p.cache.get(k, cacheTime()).(*encodedPicture); ok && e.mediaType == mediaJPEG {
		return e
	}
	return nil
}

// awaitWidest waits while the widest picture of a page is being drawn, whether that succeeds or not.
func (p *pictures) awaitWidest(ctx context.Context, k cacheKey) {
	if k.width == maxWidth {
		return
	}
	k.width = maxWidth
	p.mu.Lock()
	f := p.inflight[k]
	p.mu.Unlock()
	if f == nil {
		return
	}
	select {
	case <-f.done:
	case <-ctx.Done():
	}
}

// scaled returns the picture of a scan in another size.
func (e *encodedPicture) scaled(width, height int) (*encodedPicture, error) {
	wide, err := jpeg.Decode(bytes.NewReader(e.file))
	if err != nil {
		return nil, err
	}
	small := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.CatmullRom.Scale(small, small.Rect, wide, wide.Bounds(), draw.Src, nil)
	return encode(small)
}

// A picture of a scan or a photo is encoded as a JPEG: a PNG would be several times larger, and the loss is not
// visible. Text is smaller and sharper as a PNG.
const (
	noisyPercent     = 50 // per cent of the pixels that differ from their left neighbour, with too many colours for a palette
	minPixelsPerByte = 3  // a PNG with a palette has at most one byte for so many pixels
	jpegQuality      = 85
)

// Media types of pictures.
const (
	mediaPNG  = "image/png"
	mediaJPEG = "image/jpeg"
)

// encodedPicture is an encoded picture.
type encodedPicture struct {
	mediaType string
	file      []byte
}

func (e *encodedPicture) cost() int { return len(e.file) }

// encode encodes a picture: text as a PNG without loss, anything else as a JPEG.
func encode(drawn *image.RGBA) (*encodedPicture, error) {
	small, changes := palettize(drawn)
	pixels := len(drawn.Pix) / 4
	_, few := small.(*image.Paletted)
	if few || changes < pixels*noisyPercent/100 {
		var out bytes.Buffer
		encoder := png.Encoder{CompressionLevel: png.BestSpeed}
		if err := encoder.Encode(&out, small); err != nil || !few || out.Len() < pixels/minPixelsPerByte {
			return newEncodedPicture(mediaPNG, &out), err
		}
	}
	var out bytes.Buffer
	err := jpeg.Encode(&out, drawn, &jpeg.Options{Quality: jpegQuality})
	return newEncodedPicture(mediaJPEG, &out), err
}

// newEncodedPicture copies the encoder's buffer, whose spare capacity would stay in the cache.
func newEncodedPicture(mediaType string, out *bytes.Buffer) *encodedPicture {
	return &encodedPicture{mediaType, bytes.Clone(out.Bytes())}
}

// palettize returns the picture with a palette if it has few enough colours, and the number of pixels that
// differ from their left neighbour.
func palettize(drawn *image.RGBA) (small image.Image, changes int) {
	out := &image.Paletted{Pix: make([]uint8, len(drawn.Pix)/4), Stride: drawn.Rect.Dx(), Rect: drawn.Rect}
	indexes := make(map[uint32]uint8)
	var last uint32
	var index uint8
	fits := true
	for i := range out.Pix {
		pixel := binary.LittleEndian.Uint32(drawn.Pix[4*i:])
		if pixel != last || i == 0 {
			last = pixel
			changes++
			if fits {
				index, fits = paletteIndex(pixel, indexes, out)
			}
		}
		out.Pix[i] = index
	}
	if !fits {
		return drawn, changes
	}
	return out, changes
}

// paletteIndex returns the index of a colour, which it adds to the palette if there is space.
func paletteIndex(pixel uint32, indexes map[uint32]uint8, p *image.Paletted) (uint8, bool) {
	index, ok := indexes[pixel]
	switch {
	case ok:
		return index, true
	case len(p.Palette) == 256:
		return 0, false
	}
	index = uint8(len(p.Palette))
	indexes[pixel] = index
	p.Palette = append(p.Palette, color.RGBA{uint8(pixel), uint8(pixel >> 8), uint8(pixel >> 16), uint8(pixel >> 24)})
	return index, true
}
