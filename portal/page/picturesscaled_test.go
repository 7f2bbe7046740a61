package page

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"
	"io"
	"math/rand/v2"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/stamp"
)

// paper draws one picture after the other, and counts them.
type paper struct {
	noLines
	restless bool // as a scan is
	drawn    chan struct{}
}

type noLines struct{}

func (noLines) Lines(context.Context, io.ReaderAt, int64, int) ([]stamp.Line, error) { return nil, nil }

func (p paper) Render(_ context.Context, _ io.ReaderAt, _ int64, _, width, height int) (*image.RGBA, error) {
	p.drawn <- struct{}{}
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	noise := rand.New(rand.NewPCG(1, 2))
	for i := range out.Pix {
		shade := 255
		if p.restless {
			shade = noise.IntN(256)
		}
		if i%4 == 3 {
			shade = 255
		}
		out.Pix[i] = uint8(shade)
	}
	return out, nil
}

// A scan is drawn once, at the widest: the smaller pictures are made of that one, also when they are asked
// for while it is being drawn. A page of text is drawn at each width.
func TestScansAreDrawnOnce(t *testing.T) {
	testenv.Slow(t, "pages are drawn in their largest size")
	t.Parallel()
	for _, test := range []struct {
		name     string
		restless bool
		kind     string
		drawn    int
	}{{"scan", true, mediaJPEG, 1}, {"text", false, mediaPNG, 2}} {
		t.Run(test.name, func(t *testing.T) {
			p := paper{restless: test.restless, drawn: make(chan struct{}, 10)}
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

// A picture that is made smaller shows what the wide one does.
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
		if off := max(away(r, at.X), away(g, at.Y)); off > 6 {
			t.Errorf("at %v off by %d of 255", at, off)
		}
	}
	_, err = (&encodedPicture{mediaJPEG, []byte("none")}).scaled(640, 640)
	if err == nil {
		t.Error("what is no picture was made smaller")
	}
}

func away(got uint32, at int) int {
	off := int(got>>8) - at*255/640
	return max(off, -off)
}
