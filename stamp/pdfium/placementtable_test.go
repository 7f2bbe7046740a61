package pdfium_test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/innsigli/innsigli/stamp"
)

// placementTable is docs/placement.md. Its figures are those of the run, even if that failed.
func placementTable(pages []*judgedPage, found foundPlaces, failed bool) []byte {
	all := countPlaces(pages)
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Room for a stamp, found on foreign pages

Written by %[1]s.ci/full%[1]s. The pages are the first ones of the PDFs that pdf.js tests itself with,
many of them broken on purpose; a stamp of %[2]g x %[3]g points is placed on each from each of its four
corners. The judge is mutool, a renderer that %[1]sstamp%[1]s does not use, at %[4]d dpi, with annotations and
form fields. Colours are alike when no channel differs by more than %[5]d.

- A stamp **covers nothing** when every pixel below it is like the commonest colour there, but for
  the outermost pixels.
- A page has **room** when an exhaustive search finds a box of %[6]g x %[7]g points, the stamp and %[8]d points
  on each side, that is all like the page's commonest light colour, on which black has a contrast of 7 to 1.
  Every position is tried, from the corner along the horizontal edge, then inwards.
- It has a stamp **about there** when that is at most %[9]d points further inwards than the first such
  box; and unless it is in an earlier row, at most %[9]d points further along the edge.

| | | | asked for |
|---|---|---|---|
| stamps that cover nothing | %[10]d of %[11]d | %.2[12]f %% | %.1[13]f %% |
| places with room that have a stamp about there | %[14]d of %[15]d | %.2[16]f %% | %.0[17]f %% |

`, "`", stamp.StandardSize.Width, stamp.StandardSize.Height, 72*perPoint, tolerance,
		stamp.StandardSize.Width+2*margin, stamp.StandardSize.Height+2*margin, margin, furtherBy,
		all.clean, all.stamps, percent(all.clean, all.stamps), 100*wantClean,
		all.near, all.roomy, percent(all.near, all.roomy), 100*wantNear)
	if failed {
		b.WriteString("**The run that wrote this failed.**\n\n")
	}
	speedTable(&b, found)
	listPlaces(&b, "Stamps that cover something", pages, func(p *judgedPage, c int) string {
		if p.places[c].covered == 0 {
			return ""
		}
		return fmt.Sprintf("%d pixels, at %s", p.places[c].covered, p.spot(c))
	})
	listPlaces(&b, "Room, and no stamp about there", pages, func(p *judgedPage, c int) string {
		j := p.places[c]
		switch {
		case !j.room || j.near:
			return ""
		case p.Unread != "":
			return p.Unread
		case p.otherSize != "":
			return "page of another size"
		case p.Places[c].Refused != "":
			return fmt.Sprintf("room at %s; %s", j.first, whyRefused(p.Places[c].Refused))
		}
		return fmt.Sprintf("room at %s; stamp at %s", j.first, p.spot(c))
	})
	listPages(&b, "Pages of another size for mutool", "They count as having no stamp.", pages, func(p *judgedPage) string { return p.otherSize })
	listPages(&b, "Pages that mutool does not draw", "They are not judged.", pages, func(p *judgedPage) string {
		if p.undrawn == nil {
			return ""
		}
		return p.undrawn.Error()
	})
	return b.Bytes()
}

// whyRefused is an error of a place without what each error of its kind begins with.
func whyRefused(refused string) string {
	if why, is := strings.CutPrefix(refused, stamp.ErrNotDrawn.Error()); is {
		return "drawing the page" + why
	}
	return strings.TrimPrefix(refused, stamp.ErrNoRoom.Error()+": ")
}

func speedTable(b *bytes.Buffer, found foundPlaces) {
	times := found.times()
	fmt.Fprintf(b, `## Time and memory

%d places looked for in a row by a process of its own.

| | | asked for, at most |
|---|---|---|
| median | %v | %v |
| 99th percentile | %v | %v |
| longest | %v | %v |
| resident memory | %d MB | %d MB |

`, len(times), atMost(times, .5), wantMedian, atMost(times, .99), want99th, atMost(times, 1), deadline, found.Memory>>20, maxMemory>>20)
}

// spot is where the stamp is.
func (p *judgedPage) spot(c int) spot { return spotOf(p.Places[c].Found, stamp.Corner(c), p.Size) }

func (s spot) String() string { return fmt.Sprintf("%.1f along, %.1f inwards", s.along, s.inwards) }

// listPlaces lists the places of which there is something to say, those of a page together
// where the same is to be said of them.
func listPlaces(b *bytes.Buffer, title string, pages []*judgedPage, say func(p *judgedPage, corner int) string) {
	fmt.Fprintf(b, "## %s\n\n| page of | corner | |\n|---|---|---|\n", title)
	for _, p := range pages {
		said := make(map[string][]string)
		var order []string
		for c := range p.places {
			if text := say(p, c); text != "" {
				if said[text] == nil {
					order = append(order, text)
				}
				said[text] = append(said[text], cornerName(stamp.Corner(c)))
			}
		}
		for _, text := range order {
			fmt.Fprintf(b, "| %s | %s | %s |\n", p.Name, strings.Join(said[text], ", "), cell(text))
		}
	}
	b.WriteString("\n")
}

// listPages lists the pages of which there is something to say.
func listPages(b *bytes.Buffer, title, about string, pages []*judgedPage, say func(*judgedPage) string) {
	fmt.Fprintf(b, "## %s\n\n%s\n\n| page of | |\n|---|---|\n", title, about)
	for _, p := range pages {
		if text := say(p); text != "" {
			fmt.Fprintf(b, "| %s | %s |\n", p.Name, cell(text))
		}
	}
	b.WriteString("\n")
}

// cell is a text that fits into one.
func cell(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(text)
}
