package pades_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/pades"
)

// Rectangles that nobody sees or that not every file can say, and what is said of them.
func TestVisibleRect(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	in := func(r pades.Rect) pades.Options {
		v := at(1, 0, 0)
		v.Rect = r
		return pades.Options{Visible: v}
	}
	for name, test := range map[string]struct {
		rect pades.Rect
		says string
	}{
		"zero":              {pades.Rect{}, "from (0, 0) to (0, 0)"},
		"no width":          {pades.Rect{100, 100, 100, 200}, "from (100, 100) to (100, 200)"},
		"no height":         {pades.Rect{100, 100, 200, 100.001}, "from (100, 100)"},
		"corners exchanged": {pades.Rect{200, 200, 100, 100}, "from (200, 200)"},
		"left beyond right": {pades.Rect{200, 100, 100, 200}, "from (200, 100)"},
		"no number":         {pades.Rect{math.NaN(), 100, 200, 200}, "from (NaN"},
		"no number above":   {pades.Rect{100, 100, 200, math.NaN()}, "NaN)"},
		"without end":       {pades.Rect{100, 100, math.Inf(1), 200}, "+Inf"},
		"far below":         {pades.Rect{100, -32768, 200, 200}, "-32768"},
		"too wide":          {pades.Rect{-20000, 100, 20000, 200}, "from (-20000"},
		"far to the right":  {pades.Rect{100, 100, 32767.5, 200}, "32767.5"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := prepare(t, form(), p.signer, in(test.rect))
			if !errors.Is(err, pades.ErrRect) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want %q", err, test.says)
			}
		})
	}
	sign(t, form(), p, in(pades.Rect{-32767, 0, 0, 32767}))
	sign(t, form(), p, in(pades.Rect{0, 0, 0.01, 0.01}))
}
