package pades

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/innsigli/innsigli/internal/pdf"
)

// follow looks into positions until nothing leads on.
func (g *graph) follow() error {
	for turn := 0; turn < len(g.next); turn++ {
		if round := g.next[turn]; len(round) > 0 {
			g.next[turn] = nil
			if err := g.lookInto(round); err != nil {
				return err
			}
			turn = -1
		}
	}
	return nil
}

func (g *graph) lookInto(round []*position) error {
	// Numbers that follow one another are mostly in one object stream.
	slices.SortStableFunc(round, func(a, b *position) int { return cmp.Compare(a.ref.Num, b.ref.Num) })
	for _, p := range round {
		if err := g.ctx.Err(); err != nil {
			return err
		}
		if *g.count > g.most() {
			return fmt.Errorf("%w: objects that are compared", pdf.ErrLimit)
		}
		if p.role.generic() && g.pointsAt(p.ref, p.role) { // as has come out since
			g.forget(p)
			continue
		}
		if err := g.look(p); err != nil {
			return err
		}
	}
	return nil
}

func (g *graph) forget(p *position) {
	g.points[p.ref.Num] = true
	g.known[p.ref] = slices.DeleteFunc(g.known[p.ref], func(known *position) bool { return known == p })
	*g.count--
}

// look reads the object of a position.
func (g *graph) look(p *position) error {
	o, ended, err := g.file.EndedObject(p.ref)
	if err != nil {
		g.unfit[p.ref.Num] = struct{}{}
		if spent := g.file.Spent(); spent != nil {
			return spent
		}
		return notMalformed(err)
	}
	if !ended {
		g.unfit[p.ref.Num] = struct{}{}
	}
	g.children(p, o)
	return nil
}
