package stamp_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/stamp"
)

// The sizes of all pages are those that the pages have one by one; there is one for each page, also for
// one that cannot be read, and there are no more than asked for.
func TestSizes(t *testing.T) {
	document := pdftest.Build(pdftest.Options{
		Pages: 5,
		Page:  "/MediaBox [0 0 600 800] /CropBox [100 50 400 650] /Rotate 90 /UserUnit 2",
	})
	damaged := bytes.Replace(document, []byte("/CropBox [100 50 400 650]"), []byte("/CropBox [(a) 50 400 650]"), 1)
	a4, turned := stamp.Size{Width: 595, Height: 842}, stamp.Size{Width: 1200, Height: 600}
	for name, test := range map[string]struct {
		document []byte
		most     int
		want     []stamp.Size
	}{
		"all":     {document, 100, []stamp.Size{turned, a4, a4, a4, a4}},
		"two":     {document, 2, []stamp.Size{turned, a4}},
		"none":    {document, 0, nil},
		"damaged": {damaged, 2, []stamp.Size{{}, a4}},
	} {
		t.Run(name, func(t *testing.T) {
			got, pages, err := stamp.Sizes(bytes.NewReader(test.document), int64(len(test.document)), test.most)
			if diff := cmp.Diff(test.want, got, approximately); diff != "" || pages != 5 || err != nil {
				t.Errorf("%d pages, %v %s", pages, err, diff)
			}
		})
	}
	if got, _, err := stamp.Sizes(bytes.NewReader([]byte("hello")), 5, 10); !errors.Is(err, stamp.ErrUnreadable) || got != nil {
		t.Errorf("no PDF: %v, %v", got, err)
	}
	if page := readPage(t, document); page.Size != turned {
		t.Errorf("the first page alone is %v", page.Size)
	}
}

// Displayed is the reverse of UserSpace, however the page is turned.
func TestDisplayedIsTheReverse(t *testing.T) {
	for _, rotate := range []string{"0", "90", "180", "270"} {
		page := readPage(t, onPage("/MediaBox [0 0 600 800] /CropBox [100 50 400 650] /UserUnit 2 /Rotate "+rotate))
		want := stamp.Rect{Left: 10, Top: 20, Width: 30, Height: 40}
		if diff := cmp.Diff(want, page.Displayed(page.UserSpace(want)), approximately); diff != "" {
			t.Errorf("turned by %s: %s", rotate, diff)
		}
	}
}
