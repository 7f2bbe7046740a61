package pdfium_test

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/innsigli/innsigli/stamp/pdfium"
)

// What cannot be drawn is an error, and the next page is drawn.
func TestRefused(t *testing.T) {
	r := shared(t)
	good := source{page: page200, content: "100 50 40 20 re f"}.bytes()
	for name, test := range map[string]struct {
		document            []byte
		page, width, height int
	}{
		"empty":             {nil, 1, 200, 100},
		"no PDF":            {[]byte("hello"), 1, 200, 100},
		"no objects":        {[]byte("%PDF-1.7\n" + strings.Repeat("x", 10000)), 1, 200, 100},
		"page 0":            {good, 0, 200, 100},
		"page -1":           {good, -1, 200, 100},
		"page 2":            {good, 2, 200, 100},
		"page 2^32+1":       {good, 1<<32 + 1, 200, 100},
		"no width":          {good, 1, 0, 100},
		"negative":          {good, 1, -200, -100},
		"too large":         {good, 1, 4096, 2048},
		"far too large":     {good, 1, 1 << 40, 1 << 40},
		"another shape":     {good, 1, 200, 104},
		"turned":            {good, 1, 100, 200},
		"page without area": {source{page: "/MediaBox [0 0 100 100] /CropBox [200 200 300 300]"}.bytes(), 1, 200, 100},
	} {
		t.Run(name, func(t *testing.T) {
			picture, err := r.Render(t.Context(), bytes.NewReader(test.document), int64(len(test.document)), test.page, test.width, test.height)
			if err == nil || picture != nil {
				t.Errorf("drawn: %v, %v", picture != nil, err)
			}
			if inked(drawn(t, r, good, 200, 100)).Empty() {
				t.Error("the next page is empty")
			}
		})
	}
	drawn(t, r, good, 200, 101) // rounded
	drawn(t, r, good, 9, 4)
}

// Documents that end, or cannot be read, in the middle.
func TestUnreadable(t *testing.T) {
	r := shared(t)
	good := source{page: page200, content: "100 50 40 20 re f"}.bytes()
	if _, err := r.Render(t.Context(), bytes.NewReader(good[:40]), int64(len(good)), 1, 200, 100); err == nil {
		t.Error("a document of which most is missing is drawn")
	}
	drawn(t, r, good, 200, 100)
}

// counted is a document in memory, which can be told to be there still.
type counted struct{ io.ReaderAt }

// Nothing is kept of a document, whether it was drawn or not.
func TestNothingIsKept(t *testing.T) {
	r := shared(t)
	for name, document := range map[string][]byte{
		"drawn":   source{page: page200}.bytes(),
		"refused": []byte("hello"),
	} {
		t.Run(name, func(t *testing.T) {
			kept := weak.Make(renderOnce(t, r, document))
			for range 100 {
				if runtime.GC(); kept.Value() == nil {
					return
				}
			}
			t.Error("the document is still in memory")
		})
	}
}

func renderOnce(t *testing.T, r *pdfium.Renderer, document []byte) *counted {
	t.Helper()
	c := &counted{bytes.NewReader(document)}
	r.Render(t.Context(), c, int64(len(document)), 1, 200, 100) // either way
	return c
}
