package pdfium_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// A renderer finds the first free place for a stamp.
func Example() {
	renderer := pdfium.New(pdfium.Options{Cache: testenv.RendererCache()}) // a folder of your own
	defer renderer.Close()
	if _, err := renderer.Warm(context.Background()); err != nil {
		log.Fatal(err)
	}

	document := pdftest.Build(pdftest.Options{})
	page, err := stamp.ReadPage(bytes.NewReader(document), int64(len(document)), 1)
	if err != nil {
		log.Fatal(err)
	}
	place, err := page.Find(context.Background(), renderer, stamp.BottomRight, stamp.StandardSize)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.0f x %.0f points\n", place.Width, place.Height)
	// Output: 117 x 55 points
}
