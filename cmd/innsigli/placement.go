package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/innsigli/innsigli/stamp"
)

// placement is where a stamp is to stand on a page.
type placement struct {
	page   int
	corner stamp.Corner
	manual bool    // else in the first free spot from the corner
	x, y   float64 // from the corner inwards, in points
}

// parsePlacement reads a --stamp.
func parsePlacement(text string) (placement, error) {
	p := placement{page: 1}
	place, page, paged := strings.Cut(text, "@")
	corner, offset, manual := strings.Cut(place, ":")
	x, y, two := strings.Cut(offset, ",")
	p.manual = manual

	var ok bool
	if p.corner, ok = parseCorner(corner); !ok {
		return p, placementError("%q is no corner", corner)
	}
	if manual {
		var okX, okY bool
		p.x, okX = parsePoints(x)
		p.y, okY = parsePoints(y)
		if !two || !okX || !okY {
			return p, placementError("%q is not two numbers of points, 0 or more", offset)
		}
	}
	if paged {
		n, err := strconv.Atoi(page)
		if err != nil || n < 1 {
			return p, placementError("%q is no number of a page, counted from 1", page)
		}
		p.page = n
	}
	return p, nil
}

func placementError(format string, args ...any) error {
	return fmt.Errorf("%w: --stamp is CORNER[:X,Y][@PAGE] with TopLeft, TopRight, BottomLeft or BottomRight: "+format, append([]any{errUsage}, args...)...)
}

// parseCorner reads the name that a corner has in the API (service.md 2.1), in any case.
func parseCorner(name string) (stamp.Corner, bool) {
	switch strings.ToLower(name) {
	case "topleft":
		return stamp.TopLeft, true
	case "topright":
		return stamp.TopRight, true
	case "bottomleft":
		return stamp.BottomLeft, true
	case "bottomright":
		return stamp.BottomRight, true
	}
	return 0, false
}

func parsePoints(text string) (float64, bool) {
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && n >= 0 && !math.IsInf(n, 1)
}
