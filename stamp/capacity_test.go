package stamp_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/stamp"
)

// A plan comes true: each signer's place on the document that those before have signed is the
// one planned at first.
func TestCapacityIsRepeatedFind(t *testing.T) {
	planned := 0
	for seed := range uint64(20) {
		p := newRandomPage(t, seed)
		plan, err := p.Capacity(t.Context(), p.renderer, p.corner, p.stamp, 6)
		if err != nil {
			t.Fatal(err)
		}
		planned += len(plan)
		for n := range 6 {
			got, err := signedPage(t, p, plan[:min(n, len(plan))]).Find(t.Context(), p.renderer, p.corner, p.stamp)
			if n >= len(plan) {
				if !errors.Is(err, stamp.ErrNoRoom) {
					t.Errorf("seed %d: there is room at %+v for more than %d: %v", seed, got, len(plan), err)
				}
				break
			}
			if diff := cmp.Diff(plan[n], got, approximately); diff != "" || err != nil {
				t.Errorf("seed %d, signer %d: %v %s", seed, n+1, err, diff)
			}
			p.renderer.inks = append(p.renderer.inks, ink{bled(plan[n]), black})
		}
	}
	if planned < 30 || planned > 100 {
		t.Errorf("%d places of 120: they test little", planned)
	}
}

// signedPage is the page with signatures on it.
func signedPage(t *testing.T, p randomPage, signatures []stamp.Rect) *stamp.Page {
	var widgets strings.Builder
	for _, r := range signatures {
		widgets.WriteString(widget(p.Page, r, "/FT /Sig /V << >>"))
	}
	return readPage(t, onPage(p.entries+" /Annots ["+widgets.String()+"]"))
}

// bled is what viewers may ink of a picture in a place.
func bled(r stamp.Rect) stamp.Rect {
	const pixel = 0.5
	return stamp.Rect{Left: r.Left - pixel, Top: r.Top - pixel, Width: r.Width + 2*pixel, Height: r.Height + 2*pixel}
}

// A page has room for so many, and no places in one another.
func TestCapacity(t *testing.T) {
	for name, test := range map[string]struct {
		entries string
		size    stamp.Size
		most    int
		want    int
	}{
		"as many as asked for":    {"", stamp.StandardSize, 6, 6},
		"none":                    {"", stamp.StandardSize, 0, 0},
		"fewer than none":         {"", stamp.StandardSize, -1, 0},
		"all of A4":               {"", stamp.StandardSize, 1 << 30, 4 * 14},
		"one":                     {"/MediaBox [0 0 200 100]", stamp.StandardSize, 6, 1},
		"too small":               {"/MediaBox [0 0 120 100]", stamp.StandardSize, 6, 0},
		"nothing free":            {"/Annots [<< /Rect [0 0 999 999] >>]", stamp.StandardSize, 6, 0},
		"a great number of small": {"/MediaBox [0 0 200 100]", stamp.Size{Width: 4, Height: 4}, 1 << 30, 24 * 11},
	} {
		for _, corner := range corners {
			page := readPage(t, onPage(test.entries))
			places, err := page.Capacity(t.Context(), blank{}, corner, test.size, test.most)
			if err != nil || len(places) != test.want {
				t.Errorf("%s, %v: %d places, %v", name, corner, len(places), err)
			}
			checkApart(t, page, places)
		}
	}
}

func checkApart(t *testing.T, page *stamp.Page, places []stamp.Rect) {
	t.Helper()
	for i, a := range places {
		if a.Left < 2 || a.Top < 2 || a.Left+a.Width > page.Width-2 || a.Top+a.Height > page.Height-2 {
			t.Errorf("%+v is too near to the edge", a)
		}
		for _, b := range places[:i] {
			if a.Left < b.Left+b.Width && b.Left < a.Left+a.Width && a.Top < b.Top+b.Height && b.Top < a.Top+a.Height {
				t.Errorf("%+v and %+v overlap", a, b)
			}
		}
	}
}
