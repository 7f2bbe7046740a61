package pades

import (
	"slices"

	"github.com/innsigli/innsigli/internal/pdf"
)

// note notes a position that is new.
func (g *graph) note(p *position) {
	if p.ref.Gen != 0 && len(g.known[p.ref]) == 0 {
		g.stale[p.ref.Num] = append(g.stale[p.ref.Num], p.ref)
	}
	g.known[p.ref] = append(g.known[p.ref], p)
	*g.count++
}

// of returns the positions of all objects of a number. References name one generation, and are null
// where another one is in use (ISO 32000-2 7.3.10); some readers do not look at it.
func (g *graph) of(num uint32) []*position {
	all := slices.Clone(g.known[pdf.Ref{Num: num}])
	for _, ref := range g.stale[num] {
		all = append(all, g.known[ref]...)
	}
	return all
}

// leadsTo says whether anything in the graph refers to an object of a number, be it that it only
// points at it.
func (g *graph) leadsTo(num uint32) bool { return g.points[num] || len(g.of(num)) > 0 }

func (g *graph) find(ref pdf.Ref, r role) *position {
	for _, p := range g.known[ref] {
		if p.role == r {
			return p
		}
	}
	return nil
}

// where is the way to a position, from the catalog, or else from the trailer.
func (p *position) where() string {
	const longest = 64
	way := ""
	for range longest {
		if p == nil || p.from == nil && p.role == theCatalog {
			break
		}
		way, p = "/"+p.step+way, p.from
	}
	return way
}
