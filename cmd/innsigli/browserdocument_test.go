package main

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"testing"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

const (
	bigPages = 40
	bigSize  = 22_000_000 // bytes, at least
)

// bigDocument is one of 40 pages and 22 MB: pages of text, and between them scans of A4 at 300 dpi.
// It begins with a page of text, or with the scan.
func bigDocument(t *testing.T, scan []byte, scanFirst bool) []byte {
	t.Helper()
	leaves := make([]pdftest.Leaf, bigPages)
	for i := range leaves {
		if (i%2 == 0) == scanFirst {
			leaves[i] = pdftest.Leaf{Scan: scan, Width: scanWidth, Height: scanHeight}
			continue
		}
		for line := range 45 {
			leaves[i].Text = append(leaves[i].Text, fmt.Sprintf("%d.%d. Leigan greiðist fyrsta dag hvers mánaðar. The rent is due on the first day.", i+1, line+1))
		}
	}
	whole := pdftest.Book(leaves)
	if len(whole) < bigSize {
		t.Fatalf("the document is of %d bytes", len(whole))
	}
	return whole
}

const scanWidth, scanHeight = 2480, 3508 // A4 at 300 dpi

// scannedPage is a picture of a twentieth of the document: lines on paper that is not quite white.
func scannedPage(t *testing.T) []byte {
	t.Helper()
	page := image.NewYCbCr(image.Rect(0, 0, scanWidth, scanHeight), image.YCbCrSubsampleRatio420)
	for i := range page.Cb {
		page.Cb[i], page.Cr[i] = 128, 128
	}
	noise := rand.New(rand.NewPCG(1, 2))
	for i := range page.Y {
		shade := 225 + noise.IntN(30)
		if x, y := i%scanWidth, i/scanWidth; y%60 < 24 && x > 200 && x < 2200 && (x/18+y/60)%5 > 0 {
			shade -= 180
		}
		page.Y[i] = uint8(shade)
	}
	var out bytes.Buffer
	for quality := 40; out.Len() < bigSize*2/bigPages; quality++ {
		out.Reset()
		if err := jpeg.Encode(&out, page, &jpeg.Options{Quality: quality}); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}
