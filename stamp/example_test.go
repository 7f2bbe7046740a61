package stamp_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"log"
	"os"
	"time"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/stamp"
)

// letterhead is a renderer that draws a grey bar at the top of each page. The renderer of
// stamp/pdfium draws the page of the document.
type letterhead struct{}

func (letterhead) Render(_ context.Context, _ io.ReaderAt, _ int64, _, width, height int) (*image.RGBA, error) {
	page := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(page, page.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(page, image.Rect(0, 0, width, height/12), image.NewUniform(color.Gray{200}), image.Point{}, draw.Src)
	return page, nil
}

// The stamp is placed below the letterhead of a rotated page.
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

// The places of five signers are planned before the first of them signs.
func ExamplePage_PlanPlaces() {
	document := pdftest.Build(pdftest.Options{})
	page, err := stamp.ReadPage(bytes.NewReader(document), int64(len(document)), 1)
	if err != nil {
		log.Fatal(err)
	}
	places, err := page.PlanPlaces(context.Background(), letterhead{}, stamp.TopLeft, stamp.StandardSize, 5)
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

func ExampleImage_Draw() {
	var logo bytes.Buffer // from a file, say
	if err := png.Encode(&logo, image.NewGray(image.Rect(0, 0, 300, 100))); err != nil {
		log.Fatal(err)
	}
	i, err := stamp.ReadImage(logo.Bytes(), stamp.PNG)
	if err != nil {
		log.Fatal(err)
	}
	appearance, err := i.Draw(stamp.Size{Width: 120, Height: 60}, stamp.Drawing{Scaling: stamp.ZoomAndCenter})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", appearance[:8])
	// Output: %PDF-1.4
}

// Package pades accepts the stamp as the appearance of a signature.
func ExampleStandard() {
	page, err := stamp.Standard(stamp.Text{
		Name:      "Þórður Ægir Öðinsson",
		Kennitala: "0101302989",
		Time:      time.Now(),
		Reason:    "Undirritun",
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.DevNull, page, 0o600); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, %g by %g points\n", page[:8], stamp.StandardSize.Width, stamp.StandardSize.Height)
	// Output: %PDF-1.4, 117 by 55 points
}
