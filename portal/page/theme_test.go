package page

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// Whatever colour an operator may choose, all that stands in it or on it can be read (WCAG 2.2, 1.4.3).
func TestEveryColourIsReadable(t *testing.T) {
	testenv.Slow(t, "each of thousands of colours is measured")
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	tried := 0
	for tried < 20000 {
		c := colour{uint8(random.Uint32()), uint8(random.Uint32()), uint8(random.Uint32())}
		if checkColour(c.String()) != nil {
			continue
		}
		tried++
		for _, s := range []scheme{light, dark} {
			brand, onBrand := s.brand(c)
			strong := brand.mix(s.ink, 0.2)
			for _, pair := range [][2]colour{
				{s.link(c), s.ground}, {s.link(c), s.paper}, {s.link(c), s.shade}, {onBrand, brand}, {onBrand, strong},
			} {
				if contrast(pair[0], pair[1]) < minContrast {
					t.Fatalf("%s: %s on %s has a contrast of %.2f", c, pair[0], pair[1], contrast(pair[0], pair[1]))
				}
			}
		}
	}
}

// A colour that can be read as it is stays as it is.
func TestColourIsKept(t *testing.T) {
	t.Parallel()
	if brand, on := light.brand(defaultColour); brand != defaultColour || on != white || light.link(defaultColour) != defaultColour {
		t.Errorf("%s became %s, links %s", defaultColour, brand, light.link(defaultColour))
	}
	pale := colour{0x76, 0x76, 0x76} // 4.54 with white
	if err := checkColour(pale.String()); err != nil {
		t.Error(err)
	}
	if light.link(pale) == pale {
		t.Errorf("%s is not read on %s, and was kept", pale, light.shade)
	}
}

// The examples of contrast that everybody agrees on.
func TestContrast(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		a, b string
		want string
	}{
		{"#000000", "#ffffff", "21.00"}, {"#ffffff", "#ffffff", "1.00"}, {"#777777", "#ffffff", "4.48"},
		{"#767676", "#ffffff", "4.54"}, {"#ff0000", "#ffffff", "4.00"}, {"#0000ff", "#ffffff", "8.59"},
	} {
		a, _ := parseColour(one.a)
		b, _ := parseColour(one.b)
		if got := fmt.Sprintf("%.2f", contrast(a, b)); got != one.want || fmt.Sprintf("%.2f", contrast(b, a)) != one.want {
			t.Errorf("%s and %s: %s, want %s", one.a, one.b, got, one.want)
		}
	}
}

var property = regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6});`)

// properties are the colours of the stylesheet in a scheme, with those of a theme.
func properties(t *testing.T, s scheme) map[string]colour {
	t.Helper()
	base := string(readAssets("style/base.css"))
	parts := strings.SplitN(base, "@media screen and (prefers-color-scheme: dark)", 2)
	if len(parts) != 2 {
		t.Fatal("the stylesheet has no dark part")
	}
	text := parts[0]
	if s == dark {
		text += parts[1]
	}
	all := make(map[string]colour)
	for _, found := range property.FindAllStringSubmatch(text+s.properties(defaultColour), -1) {
		all[found[1]], _ = parseColour(found[2])
	}
	return all
}

// The stylesheet's own colours can be read where they are used, and what can be filled in is seen
// (WCAG 2.2, 1.4.3 and 1.4.11).
func TestStylesheetIsReadable(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]scheme{"light": light, "dark": dark} {
		all := properties(t, s)
		for _, on := range []string{"ground", "paper", "shade", "warning-ground", "good-ground"} {
			demand := map[string]float64{"text": 7}
			switch on {
			case "warning-ground":
				demand["warning"] = minContrast
			case "good-ground":
				demand["good"] = minContrast
			default:
				demand["muted"], demand["danger"], demand["link"], demand["edge"] = minContrast, minContrast, minContrast, 3
			}
			for what, least := range demand {
				a, b := all[what], all[on]
				if a == (colour{}) || b == (colour{}) {
					t.Fatalf("%s: no colour %s or %s", name, what, on)
				}
				if got := contrast(a, b); got < least {
					t.Errorf("%s: %s on %s has a contrast of %.2f, less than %.1f", name, what, on, got, least)
				}
			}
		}
	}
}
