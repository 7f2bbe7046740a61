package page

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// book is a document of 22 MB and 40 pages, of which the odd ones are text, and the even ones scans at
// 300 dots to the inch.
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

// clauses are a full page of a contract.
func clauses(page int) (lines []string) {
	for n := range 52 {
		lines = append(lines, fmt.Sprintf("%d.%d Samningsaðili greiðir þóknun fyrir veitta þjónustu eigi síðar en á gjalddaga hvers mánaðar.", page, n+1))
	}
	return lines
}

// scan is a scanned page: paper is never quite white, and lines are never quite black.
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

// enoughTime is more than a page takes on a machine that does other things as well.
const enoughTime = 5 * time.Minute

// newRenderer is one that is warm.
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
