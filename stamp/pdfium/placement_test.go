package pdfium_test

import (
	"fmt"
	"os"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
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
	if to := os.Getenv(findingsFile); to != "" {
		findAll(t, to)
		return
	}
	testenv.Program(t, "mutool")
	testenv.Corpus(t, "pdf") // or the process of the findings would skip for want of it
	found := findings(t)
	pages := make([]*judgedPage, len(found.Pages))
	t.Run("pages", func(t *testing.T) {
		for i, page := range found.Pages {
			t.Run(page.Name, func(t *testing.T) {
				t.Parallel()
				pages[i] = judge(t, page)
			})
		}
	})
	all := countPlaces(pages)
	t.Logf("figure: %v", all)
	t.Logf("figure: %v", found)
	if float64(all.clean) < wantClean*float64(all.stamps) || all.stamps == 0 {
		t.Errorf("%d of %d stamps cover nothing", all.clean, all.stamps)
	}
	if float64(all.near) < wantNear*float64(all.roomy) || all.roomy == 0 {
		t.Errorf("%d of %d places with room have a stamp about there", all.near, all.roomy)
	}
	testenv.WriteTable(t, "placement.md", placementTable(pages, found, t.Failed()))
}

// tried are all files, or a sample without pages that take long: the race detector makes
// them take longer than the deadline.
func tried(t *testing.T) (files []testenv.ForeignFile) {
	t.Helper()
	for i, f := range testenv.Expected(t, "pdf") {
		if testenv.Full() || i%32 == 17 {
			files = append(files, f)
		}
	}
	return files
}

// judgedPage is a page and what the judge says of the places found on it.
type judgedPage struct {
	foundPage
	undrawn   error  // by mutool
	otherSize string // that mutool sees
	places    [4]judgement
}

// judgement is about a page as seen from one corner.
type judgement struct {
	covered int  // pixels below the stamp that are marks
	room    bool // the exhaustive search finds any
	first   spot // where
	near    bool // there is a stamp, and about there
}

func judge(t *testing.T, page foundPage) *judgedPage {
	p := &judgedPage{foundPage: page}
	picture, err := draw(t, page.Path, 1)
	if p.undrawn = err; err != nil {
		return p
	}
	if page.Unread == "" && !picture.shows(page.Size) {
		p.otherSize = fmt.Sprintf("%.0f x %.0f, and for mutool %d x %d", page.Size.Width, page.Size.Height, picture.width/perPoint, picture.height/perPoint)
	}
	for c, place := range page.Places {
		j := &p.places[c]
		j.first, j.room = picture.firstFree(stamp.Corner(c), perPoint*int(stamp.StandardSize.Width+2*margin), perPoint*int(stamp.StandardSize.Height+2*margin))
		if p.stamped(c) {
			j.covered = picture.covered(place.Found)
			j.near = spotOf(place.Found, stamp.Corner(c), page.Size).near(j.first)
		}
	}
	return p
}

// stamped reports whether there is a stamp to be judged.
func (p *judgedPage) stamped(c int) bool {
	return p.Places[c].Refused == "" && p.Unread == "" && p.undrawn == nil && p.otherSize == ""
}

// placeCount is how many came out how.
type placeCount struct{ stamps, clean, roomy, near int }

func (n placeCount) String() string {
	return fmt.Sprintf("%d of %d stamps (%.2f %%) cover nothing; %d of %d places with room (%.2f %%) have a stamp about there",
		n.clean, n.stamps, percent(n.clean, n.stamps), n.near, n.roomy, percent(n.near, n.roomy))
}

func percent(part, all int) float64 { return 100 * float64(part) / float64(max(all, 1)) }

// countPlaces counts. A page that cannot be read, or that mutool sees in another size, counts
// as one without a stamp, if mutool sees room.
func countPlaces(pages []*judgedPage) (n placeCount) {
	for _, p := range pages {
		for c, j := range p.places {
			if j.room {
				n.roomy++
			}
			if j.room && j.near {
				n.near++
			}
			if p.stamped(c) {
				n.stamps++
			}
			if p.stamped(c) && j.covered == 0 {
				n.clean++
			}
		}
	}
	return n
}
