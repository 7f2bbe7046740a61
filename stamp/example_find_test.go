package stamp_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"io"
	"log"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/stamp"
)

// letterhead draws pages with a grey bar across their upper end. A real renderer, such as
// that of stamp/pdfium, draws what is there.
type letterhead struct{}

func (letterhead) Render(_ context.Context, _ io.ReaderAt, _ int64, _, width, height int) (*image.RGBA, error) {
	page := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(page, page.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(page, image.Rect(0, 0, width, height/12), image.NewUniform(color.Gray{200}), image.Point{}, draw.Src)
	return page, nil
}

// A stamp goes below the letterhead of a page that is displayed turned.
func ExamplePage_Find() {
	document := pdftest.Build(pdftest.Options{Page: "/Rotate 90"})
	page, err := stamp.ReadPage(bytes.NewReader(document), int64(len(document)), 1)
	if err != nil {
		log.Fatal(err)
	}
	place, err := page.Find(context.Background(), letterhead{}, stamp.TopRight, stamp.StandardSize)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v points from the left and %v from the top\n", place.Left, place.Top)
	llx, lly, urx, ury := page.UserSpace(place)
	fmt.Printf("/Rect [%v %v %v %v]\n", llx, lly, urx, ury)
	// Output:
	// 717 points from the left and 52 from the top
	// /Rect [52 717 107 834]
}

// Places for everybody who signs, before the first does.
func ExamplePage_Capacity() {
	document := pdftest.Build(pdftest.Options{})
	page, err := stamp.ReadPage(bytes.NewReader(document), int64(len(document)), 1)
	if err != nil {
		log.Fatal(err)
	}
	places, err := page.Capacity(context.Background(), letterhead{}, stamp.TopLeft, stamp.StandardSize, 5)
	if err != nil {
		log.Fatal(err)
	}
	for _, place := range places {
		fmt.Println(place)
	}
	// Output:
	// {8 72 117 55}
	// {129 72 117 55}
	// {250 72 117 55}
	// {371 72 117 55}
	// {8 131 117 55}
}
