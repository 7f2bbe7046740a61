package pdfium_test

import (
	"fmt"
	"image"
	"slices"
	"testing"

	"github.com/innsigli/innsigli/stamp"
)

// apartBy is how far a stamp may be from where Place says, in pixels: a point.
const apartBy = perPoint

// apart compares where something is with where it should be.
func apart(got, want image.Rectangle) []string {
	far := func(a, b int) bool { return max(a-b, b-a) > apartBy }
	if far(got.Min.X, want.Min.X) || far(got.Min.Y, want.Min.Y) || far(got.Max.X, want.Max.X) || far(got.Max.Y, want.Max.Y) {
		return []string{fmt.Sprintf("at %v, want %v", got, want)}
	}
	return nil
}

// A stamp is where Place says and upright, however its page is displayed, for every viewer; and
// PDFium draws it as it did when somebody looked.
func TestUpright(t *testing.T) {
	looks, views, who := allLooks(t), viewers(t), newSigner(t)
	goldens, alone := make(map[string]*picture), make(map[string]*picture)
	for _, l := range looks {
		goldens[l.name] = l.golden(t, who, views["PDFium"])
		for name, view := range views {
			alone[l.name+name] = view(t, l.appearance, l.Size)
		}
	}
	try := func(p pose, looks []look) {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for _, l := range looks {
				signed, places := who.inCorners(t, p.document, l.Size, l.appearance)
				for name, view := range views {
					page := view(t, signed, p.Size)
					faults := l.judge(page, p.Size, places, alone[l.name+name])
					if name == "PDFium" && !p.scaled {
						faults = append(faults, page.unlikeGolden(goldens[l.name].part(p.onSheet()))...)
					}
					for _, fault := range faults {
						t.Errorf("%s, %s: %s", l.name, name, fault)
					}
				}
			}
		})
	}
	for _, unit := range []float64{1, 2.5} {
		for _, p := range slices.Concat(sheet(false, unit), sheet(true, unit)) {
			try(p, looks)
		}
	}
	for _, p := range rarePoses() {
		try(p, looks[:2])
	}
}

// judge looks at a page that has a stamp in each quarter, and nothing else.
func (l look) judge(page *picture, size stamp.Size, places []stamp.Rect, alone *picture) (faults []string) {
	if !page.shows(size) {
		return []string{fmt.Sprintf("a page of %v", page.bounds().Size())}
	}
	middle := page.bounds().Size().Div(2)
	for i, place := range places {
		quarter := image.Rectangle{Max: middle}.Add(image.Pt(i%2*middle.X, i/2*middle.Y))
		ink, area := page.ink(quarter), pixels(place)
		if !ink.In(area.Inset(-apartBy)) {
			faults = append(faults, fmt.Sprintf("%s: ink at %v, outside of %v", cornerName(corners[i]), ink, area))
			continue
		}
		for _, fault := range l.faults(page.part(area), alone) {
			faults = append(faults, fmt.Sprintf("%s: %s", cornerName(corners[i]), fault))
		}
	}
	return faults
}

// The judge is judged: it has nothing to say against stamps as they are, and does not take them
// mirrored, upside down or moved.
func TestUprightIsSeen(t *testing.T) {
	view, p, who := ours(shared(t)), sheet(false, 1)[0], newSigner(t)
	for _, l := range allLooks(t) {
		signed, places := who.inCorners(t, p.document, l.Size, l.appearance)
		page, alone := view(t, signed, p.Size), view(t, l.appearance, l.Size)
		area := pixels(places[0])
		for _, test := range []struct {
			name  string
			place *picture
			sound bool
		}{
			{"as it is", page.part(area), true},
			{"to the left", page.part(area.Add(image.Pt(apartBy+1, 0))), false},
			{"up", page.part(area.Add(image.Pt(0, apartBy+1))), false},
			{"mirrored", page.part(area).mirrored(), false},
			{"upside down", page.part(area).mirrored().flipped(), false},
			{"in a mirror below", page.part(area).flipped(), false},
		} {
			if faults := l.faults(test.place, alone); (faults == nil) != test.sound {
				t.Errorf("%s, %s: %q", l.name, test.name, faults)
			}
		}
	}
}

func (p *picture) mirrored() *picture {
	out := newPicture(p.width, p.height)
	for i := range p.width * p.height {
		row := i / p.width * p.width
		copy(out.pixels[3*i:3*i+3], p.pixels[3*(row+p.width-1-(i-row)):])
	}
	return out
}

func (p *picture) flipped() *picture {
	out := newPicture(p.width, p.height)
	for y := range p.height {
		copy(out.row(y, 0, p.width), p.row(p.height-1-y, 0, p.width))
	}
	return out
}
