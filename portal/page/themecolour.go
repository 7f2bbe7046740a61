package page

import (
	"encoding/hex"
	"fmt"
	"math"
)

// colour is one of sRGB.
type colour struct{ r, g, b uint8 }

var (
	white  = colour{0xff, 0xff, 0xff}
	black  = colour{}
	own, _ = parseColour(OwnColour)
)

// readable is the least contrast of words with what they stand on (WCAG 2.2, 1.4.3).
const readable = 4.5

func (c colour) String() string { return fmt.Sprintf("#%02x%02x%02x", c.r, c.g, c.b) }

// parseColour reads "#rrggbb".
func parseColour(s string) (colour, bool) {
	if len(s) != 7 || s[0] != '#' {
		return colour{}, false
	}
	rgb, err := hex.DecodeString(s[1:])
	if err != nil {
		return colour{}, false
	}
	return colour{rgb[0], rgb[1], rgb[2]}, true
}

// luminance is relative luminance as WCAG 2.2 defines it, from 0 to 1.
func (c colour) luminance() float64 {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.r) + 0.7152*linear(c.g) + 0.0722*linear(c.b)
}

// contrast is the contrast ratio as WCAG 2.2 defines it, from 1 to 21.
func contrast(a, b colour) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// mix is the colour with a part, from 0 to 1, of another one.
func (c colour) mix(other colour, part float64) colour {
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a)*(1-part) + float64(b)*part)) }
	return colour{mix(c.r, other.r), mix(c.g, other.g), mix(c.b, other.b)}
}

// until is the colour with as little of the ink as it takes to reach a contrast on a surface.
func (c colour) until(ratio float64, surface, ink colour) colour {
	const steps = 100
	for step := range steps {
		if mixed := c.mix(ink, float64(step)/steps); contrast(mixed, surface) >= ratio {
			return mixed
		}
	}
	return ink
}
