package pdfium_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/innsigli/innsigli/internal/testenv"
	"github.com/innsigli/innsigli/stamp"
)

const (
	// wantClean is the part of the stamps that have to cover nothing.
	wantClean = 0.985
	// wantNear is the part of the pages with room, seen from each corner, that have to get a
	// stamp, and about where an exhaustive search has it.
	wantNear = 0.92
)

// TestPlacement finds room for a stamp on the first page of foreign files, from each corner,
// and has the places judged by another renderer and by an exhaustive search of what that
// draws. INNSIGLI_FULL=1 tries all files and writes the table, else a fixed sample is tried.
func TestPlacement(t *testing.T) {
	if to := os.Getenv(speedFile); to != "" {
		measure(t, to)
		return
	}
	testenv.Program(t, "mutool")
	speed := measured(t)
	renderer := shared(t)
	var pages []*judgedPage
	for _, f := range tried(t) {
		pages = append(pages, &judgedPage{name: f.Name, path: f.Path})
	}
	t.Run("pages", func(t *testing.T) {
		for _, p := range pages {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				p.judge(t, renderer)
			})
		}
	})
	all := countPlaces(pages)
	t.Logf("figure: %v", all)
	t.Logf("figure: %v", speed)
	if float64(all.clean) < wantClean*float64(all.stamps) || all.stamps == 0 {
		t.Errorf("%d of %d stamps cover nothing", all.clean, all.stamps)
	}
	if float64(all.near) < wantNear*float64(all.roomy) || all.roomy == 0 {
		t.Errorf("%d of %d places with room are found", all.near, all.roomy)
	}
	testenv.WriteTable(t, "placement.md", placementTable(pages, speed, t.Failed()))
}

// tried are all files, or the sample.
func tried(t *testing.T) (files []testenv.ForeignFile) {
	t.Helper()
	for i, f := range testenv.Expected(t, "pdf") {
		if testenv.Full() || i%16 == 0 {
			files = append(files, f)
		}
	}
	return files
}

// judgedPage is the first page of a file and what became of it.
type judgedPage struct {
	name, path string
	size       stamp.Size
	unread     error // by stamp
	undrawn    error // by mutool
	otherSize  string
	places     []judgedPlace // one for each corner; none unless mutool draws the page
}

// judgedPlace is what became of a page from one corner.
type judgedPlace struct {
	corner  stamp.Corner
	found   stamp.Rect
	refused error // by Find
	covered int   // pixels below the stamp that are marks
	room    bool  // the exhaustive search finds any
	first   spot  // where
	near    bool  // there is a stamp, and about there
}

func (p *judgedPage) judge(t *testing.T, renderer stamp.Renderer) {
	picture, err := draw(t, p.path, 1)
	if p.undrawn = err; err != nil {
		return
	}
	file, size := open(t, p.path)
	page, err := stamp.ReadPage(file, size, 1)
	if p.unread = err; err == nil {
		p.size = page.Size
		if !picture.shows(p.size) {
			p.otherSize = fmt.Sprintf("%.0f x %.0f, and for mutool %d x %d", p.size.Width, p.size.Height, picture.width/perPoint, picture.height/perPoint)
		}
	} else if !errors.Is(err, stamp.ErrUnreadable) {
		t.Error(err)
	}
	for _, c := range corners {
		place := judgedPlace{corner: c, refused: p.unread}
		if page != nil {
			place.found, place.refused = page.Find(t.Context(), renderer, c, stamp.StandardSize)
		}
		if place.refused != nil && p.unread == nil && !errors.Is(place.refused, stamp.ErrNoRoom) {
			t.Errorf("%s: %v", cornerName(c), place.refused)
		}
		place.first, place.room = picture.firstFree(c, perPoint*(117+2*margin), perPoint*(55+2*margin))
		if place.refused == nil && p.otherSize == "" {
			place.covered = picture.covered(place.found)
			place.near = spotOf(place.found, c, p.size).near(place.first)
		}
		p.places = append(p.places, place)
	}
}

func open(t *testing.T, path string) (*os.File, int64) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	stat, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return file, stat.Size()
}

// placeCount is how many came out how.
type placeCount struct{ pages, stamps, clean, roomy, near, otherSize, undrawn int }

func (n placeCount) String() string {
	return fmt.Sprintf("%d of %d stamps (%.2f %%) cover nothing; %d of %d places with room (%.2f %%) have a stamp about there",
		n.clean, n.stamps, percent(n.clean, n.stamps), n.near, n.roomy, percent(n.near, n.roomy))
}

func percent(part, all int) float64 { return 100 * float64(part) / float64(max(all, 1)) }

// countPlaces counts. A page that mutool sees in another size counts as one that has room
// and no stamp, if mutool sees room.
func countPlaces(pages []*judgedPage) (n placeCount) {
	for _, p := range pages {
		n.pages++
		if p.undrawn != nil {
			n.undrawn++
		}
		if p.otherSize != "" {
			n.otherSize++
		}
		for _, place := range p.places {
			if place.room {
				n.roomy++
				if place.near {
					n.near++
				}
			}
			if place.refused == nil && p.otherSize == "" {
				n.stamps++
				if place.covered == 0 {
					n.clean++
				}
			}
		}
	}
	return n
}
