package stamp_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/draw"
	"io"
	"testing"

	"github.com/innsigli/innsigli/stamp"
)

// rendererFunc is a renderer that is a function of the picture's size.
type rendererFunc func(ctx context.Context, width, height int) (*image.RGBA, error)

func (f rendererFunc) Render(ctx context.Context, _ io.ReaderAt, _ int64, _, width, height int) (*image.RGBA, error) {
	return f(ctx, width, height)
}

func TestFindWithoutPicture(t *testing.T) {
	page := readPage(t, onPage(""))
	trap := errors.New("out of memory")
	fails := func(err error) rendererFunc {
		return func(context.Context, int, int) (*image.RGBA, error) { return nil, err }
	}
	for name, test := range map[string]struct {
		renderer stamp.Renderer
		want     []error
	}{
		"no renderer":        {nil, []error{stamp.ErrNotDrawn}},
		"a renderer yet":     {fails(stamp.ErrNotReady), []error{stamp.ErrNotReady}},
		"no page":            {fails(trap), []error{stamp.ErrNotDrawn, trap}},
		"no time of its own": {fails(context.DeadlineExceeded), []error{stamp.ErrNotDrawn, context.DeadlineExceeded}},
		"another size": {rendererFunc(func(_ context.Context, width, height int) (*image.RGBA, error) {
			return image.NewRGBA(image.Rect(0, 0, height, width)), nil
		}), []error{stamp.ErrNotDrawn}},
		"no picture": {fails(nil), []error{stamp.ErrNotDrawn}},
	} {
		_, err := page.Find(t.Context(), test.renderer, stamp.TopLeft, stamp.StandardSize)
		_, capacityErr := page.Capacity(t.Context(), test.renderer, stamp.TopLeft, stamp.StandardSize, 2)
		for _, want := range test.want {
			if !errors.Is(err, want) || !errors.Is(capacityErr, want) {
				t.Errorf("%s: %v; %v", name, err, capacityErr)
			}
		}
	}
}

// A picture may be part of a larger one.
func TestFindInPartOfPicture(t *testing.T) {
	page := readPage(t, onPage(""))
	place, err := page.Find(t.Context(), rendererFunc(func(_ context.Context, width, height int) (*image.RGBA, error) {
		all := drawing{size: page.Size, paper: black}.draw(width+20, height+20)
		part := all.SubImage(image.Rect(10, 10, 10+width, 10+height)).(*image.RGBA)
		draw.Draw(part, part.Rect, image.White, image.Point{}, draw.Src)
		return part, nil
	}), stamp.TopLeft, stamp.StandardSize)
	if want := (stamp.Rect{Left: 8, Top: 8, Width: 117, Height: 55}); place != want || err != nil {
		t.Errorf("%+v, %v", place, err)
	}
}

// What cannot be read while the page is drawn is no lack of room, and no page without marks.
func TestFindInADocumentThatGoesAway(t *testing.T) {
	away := errors.New("the store is away")
	content := onPage("")
	for name, renderer := range map[string]rendererFunc{
		"no picture": func(context.Context, int, int) (*image.RGBA, error) { return nil, errors.New("no page") },
		"a picture": func(_ context.Context, width, height int) (*image.RGBA, error) {
			return image.NewRGBA(image.Rect(0, 0, width, height)), nil
		},
	} {
		r := &goesAway{ReaderAt: bytes.NewReader(content)}
		page, err := stamp.ReadPage(r, int64(len(content)), 1)
		if err != nil {
			t.Fatal(err)
		}
		r.err = away
		if _, err := page.Find(t.Context(), reading{renderer}, stamp.TopLeft, stamp.StandardSize); !errors.Is(err, away) || errors.Is(err, stamp.ErrNotDrawn) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// goesAway is a document that cannot be read once there is an error.
type goesAway struct {
	io.ReaderAt
	err error
}

func (g *goesAway) ReadAt(p []byte, offset int64) (int, error) {
	if g.err != nil {
		return 0, g.err
	}
	return g.ReaderAt.ReadAt(p, offset)
}

// reading is a renderer that reads the document.
type reading struct{ rendererFunc }

func (r reading) Render(ctx context.Context, document io.ReaderAt, size int64, page, width, height int) (*image.RGBA, error) {
	document.ReadAt(make([]byte, 8), 0) // as renderers do, that go on without
	return r.rendererFunc(ctx, width, height)
}

// Pages are drawn with three pixels to four points, large ones smaller, and small ones larger.
func TestPictureSize(t *testing.T) {
	for name, test := range map[string]struct {
		entries string
		size    stamp.Size
		want    image.Point
	}{
		"A4":                    {"/MediaBox [0 0 595.276 841.89]", stamp.StandardSize, image.Pt(447, 632)},
		"A4 on its side":        {"/MediaBox [0 0 595.276 841.89] /Rotate 90", stamp.StandardSize, image.Pt(632, 447)},
		"A6":                    {"/MediaBox [0 0 300 400]", stamp.StandardSize, image.Pt(338, 450)},
		"A0":                    {"/MediaBox [0 0 2400 3200]", stamp.StandardSize, image.Pt(900, 1200)},
		"stamp of five points":  {"/MediaBox [0 0 2400 3200]", stamp.Size{Width: 5, Height: 5}, image.Pt(1152, 1536)},
		"a field of 25 by 25 m": {"/MediaBox [0 0 7200 7200] /UserUnit 10", stamp.StandardSize, image.Pt(1331, 1331)},
	} {
		page := readPage(t, onPage(test.entries))
		var got image.Point
		page.Find(t.Context(), rendererFunc(func(_ context.Context, width, height int) (*image.RGBA, error) {
			got = image.Pt(width, height)
			return nil, nil
		}), stamp.TopLeft, test.size)
		if got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
