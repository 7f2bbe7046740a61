package pdfium_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/stamp"
)

// look is a stamp, and what there is to say against a picture of the place where it is.
type look struct {
	name string
	stamp.Size
	appearance []byte
	// faults judges the pixels of a place, none of which is inked outside of it. The same
	// viewer has drawn the stamp alone.
	faults func(place, alone *picture) []string
}

// allLooks are the standard stamp, and images of either type in each scaling.
func allLooks(t *testing.T) []look {
	t.Helper()
	return append([]look{standardLook(t)}, append(imageLooks(t, stamp.PNG), imageLooks(t, stamp.JPEG)...)...)
}

// standardLook is the standard stamp. Whatever draws it draws it in its place as alone.
func standardLook(t *testing.T) look {
	t.Helper()
	appearance, err := stamp.Standard(stamp.Text{
		Name: "Þórður Ægir Öðinsson", Kennitala: "1203894569", Reason: "Samþykkt",
		Time: time.Date(2026, time.March, 14, 15, 9, 26, 0, time.UTC),
	})
	if err != nil {
		t.Fatal(err)
	}
	return look{"standard", stamp.StandardSize, appearance, func(place, alone *picture) []string {
		faults := apart(place.ink(place.bounds()), alone.ink(alone.bounds()))
		if unlike := place.difference(alone); unlike > maxDifference {
			faults = append(faults, fmt.Sprintf("it is not what it is alone: %.2f", unlike))
		}
		return faults
	}}
}

// maxDifference is how far the stamp on a page may be from that alone. Programs smooth
// what is turned in another way.
const maxDifference = 0.25

// difference is how far apart two pictures of one size are, compared with how much ink is in
// the other: about 0 if they are the same, and above 1 if ink is elsewhere.
func (p *picture) difference(other *picture) float64 {
	if p.bounds() != other.bounds() {
		return 2
	}
	apart, ink := 0, 1
	for i, value := range other.pixels {
		apart += max(int(value)-int(p.pixels[i]), int(p.pixels[i])-int(value))
		ink += 255 - int(value)
	}
	return float64(apart) / float64(ink)
}

// The image has four quarters of different colours, and is larger when it is made to fit.
const imageWidth, imageHeight = 64, 32

var (
	imagePlace = stamp.Size{Width: 96, Height: 60}
	quarters   = [4]color.NRGBA{{200, 0, 0, 255}, {0, 150, 0, 255}, {0, 0, 250, 128}, {40, 40, 40, 255}}
	scalings   = []struct {
		stamp.Scaling
		drawn stamp.Size
	}{
		{stamp.Stretch, imagePlace},
		{stamp.ZoomAndCenter, stamp.Size{Width: 96, Height: 48}},
		{stamp.Center, stamp.Size{Width: imageWidth, Height: imageHeight}},
	}
)

// imageLooks are an image in each scaling. A PNG has a quarter that one sees through.
func imageLooks(t *testing.T, kind stamp.ImageType) (looks []look) {
	t.Helper()
	shown, err := stamp.ReadImage(encoded(t, kind), kind)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scalings {
		appearance, err := shown.Draw(imagePlace, stamp.Drawing{Scaling: s.Scaling})
		if err != nil {
			t.Fatal(err)
		}
		name := strings.ToLower(fmt.Sprintf("%s-%s", kind, s.Scaling))
		looks = append(looks, look{name, imagePlace, appearance, func(place, _ *picture) []string {
			return place.faultsOfImage(s.drawn)
		}})
	}
	return looks
}

func encoded(t *testing.T, kind stamp.ImageType) []byte {
	t.Helper()
	picture := image.NewNRGBA(image.Rect(0, 0, imageWidth, imageHeight))
	for y := range imageHeight {
		for x := range imageWidth {
			q := quarters[2*(2*y/imageHeight)+2*x/imageWidth]
			if kind == stamp.JPEG { // which has no alpha: what is seen is the same
				q = color.NRGBA(onWhite(q))
			}
			picture.SetNRGBA(x, y, q)
		}
	}
	var b bytes.Buffer
	var err error
	if kind == stamp.PNG {
		err = png.Encode(&b, picture)
	} else {
		err = jpeg.Encode(&b, picture, &jpeg.Options{Quality: 95})
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// onWhite is a colour as it is seen on paper.
func onWhite(c color.NRGBA) color.RGBA {
	over := func(v uint8) uint8 { return uint8((int(v)*int(c.A) + 255*(255-int(c.A))) / 255) }
	return color.RGBA{over(c.R), over(c.G), over(c.B), 255}
}

// faultsOfImage wants an image of a size in the middle, its colours where they are in it.
func (p *picture) faultsOfImage(size stamp.Size) []string {
	shown := inPixels(size)
	margin := p.bounds().Size().Sub(shown).Div(2)
	want := image.Rectangle{margin, margin.Add(shown)}
	faults := apart(p.ink(p.bounds()), want)
	for i, q := range quarters {
		at := want.Min.Add(image.Pt((1+i%2*2)*shown.X/4, (1+i/2*2)*shown.Y/4))
		seen, wanted := colour(p.row(at.Y, at.X, at.X+1)), onWhite(q)
		if !seen.like(colour{wanted.R, wanted.G, wanted.B}) {
			faults = append(faults, fmt.Sprintf("quarter %d is %v, want %v", i+1, seen, wanted))
		}
	}
	return faults
}
