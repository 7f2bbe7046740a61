package stamp

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const (
	sixtyLetters      = "Vaðlaheiðarvegavinnuverkfærageymsluskúrslyklakippuhringurinn"
	sixtyFourOfName   = "Aðalheiður Ingibjörg Þorsteinsdóttir Blöndal Guðmundsen Hafstein"
	sixtyFourOfReason = "Samþykki ráðningarsamning fyrir hönd stjórnar félagsins með fyr."
)

var signedAt = time.Date(2026, 11, 22, 14, 32, 7, 0, time.UTC)

// named is what a stamp says for somebody.
func named(name string) Text {
	return Text{Name: name, Kennitala: "0101302989", Time: signedAt, Reason: "Undirritun"}
}

func layOut(t testing.TB, text Text) []line {
	t.Helper()
	faces, err := readFaces()
	if err != nil {
		t.Fatal(err)
	}
	return faces.layOut(text)
}

// placed is a line without its glyphs.
type placed struct {
	Text    string
	Weight  weight
	Size, Y float64
}

func TestLayout(t *testing.T) {
	for name, test := range map[string]struct {
		text Text
		want []placed
	}{
		"usual": {named("Jón Jónsson"), []placed{
			{"Jón Jónsson", semiBold, 11, 37.823},
			{"Kt. 010130-2989", regular, 7.5, 27.323},
			{"22.11.2026 kl. 14:32:07", regular, 7.5, 18.323},
			{"Undirritun", regular, 7.5, 9.323},
		}},
		"a longer name is smaller": {named("Guðrún Sigríður Jónsdóttir"), []placed{
			{"Guðrún Sigríður Jónsdóttir", semiBold, 8.5, 38.715},
			{"Kt. 010130-2989", regular, 7.5, 28.215},
			{"22.11.2026 kl. 14:32:07", regular, 7.5, 19.215},
			{"Undirritun", regular, 7.5, 10.215},
		}},
		"a long one takes two lines": {named("Aðalheiður Ingibjörg Þorsteinsdóttir Blöndal"), []placed{
			{"Aðalheiður Ingibjörg", semiBold, 8, 43.694},
			{"Þorsteinsdóttir Blöndal", semiBold, 8, 34.094},
			{"Kt. 010130-2989", regular, 7.5, 23.594},
			{"22.11.2026 kl. 14:32:07", regular, 7.5, 14.594},
			{"Undirritun", regular, 7.5, 5.594},
		}},
		"64 characters each": {Text{sixtyFourOfName, "0101302989", signedAt, sixtyFourOfReason}, []placed{
			{"Aðalheiður Ingibjörg Þorsteinsdóttir", semiBold, 6, 44.108},
			{"Blöndal Guðmundsen Hafstein", semiBold, 6, 36.908},
			{"Kt. 010130-2989", regular, 6, 28.208},
			{"22.11.2026 kl. 14:32:07", regular, 6, 21.008},
			{"Samþykki ráðningarsamning fyrir hönd", regular, 6, 13.808},
			{"stjórnar félagsins með fyr.", regular, 6, 6.608},
		}},
		"64 wide characters each": {Text{strings.Repeat("W", 64), "0101302989", signedAt, strings.Repeat("M", 64)}, []placed{
			{strings.Repeat("W", 19), semiBold, 6, 44.108},
			{strings.Repeat("W", 18) + "…", semiBold, 6, 36.908},
			{"Kt. 010130-2989", regular, 6, 28.208},
			{"22.11.2026 kl. 14:32:07", regular, 6, 21.008},
			{strings.Repeat("M", 20), regular, 6, 13.808},
			{strings.Repeat("M", 19) + "…", regular, 6, 6.608},
		}},
		"one word of 60 letters": {named(sixtyLetters), []placed{
			{"Vaðlaheiðarvegavinnuverkfæragey", semiBold, 6.5, 41.530},
			{"msluskúrslyklakippuhringurinn", semiBold, 6.5, 33.730},
			{"Kt. 010130-2989", regular, 6.5, 24.430},
			{"22.11.2026 kl. 14:32:07", regular, 6.5, 16.630},
			{"Undirritun", regular, 6.5, 8.830},
		}},
		"a name and a time": {Text{Name: "Jón Jónsson", Time: signedAt}, []placed{
			{"Jón Jónsson", semiBold, 11, 28.823},
			{"22.11.2026 kl. 14:32:07", regular, 7.5, 18.323},
		}},
		"a reason": {Text{Reason: "Undirritun"}, []placed{{"Undirritun", regular, 7.5, 24.823}}},
		"nothing":  {Text{Name: "\u200b"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []placed
			for _, l := range layOut(t, test.text) {
				got = append(got, placed{l.text, l.weight, l.size, l.y})
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateApprox(0, 0.001)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever the text is, nothing leaves the stamp, and nothing is too small to read.
func TestLayoutStaysInside(t *testing.T) {
	long := []string{
		"", "Jón", sixtyFourOfName, sixtyLetters, strings.Repeat("W", 64), strings.Repeat("Ǻ́ ", 40),
		strings.Repeat("g̣̣", 40), strings.Repeat("北", 64), strings.Repeat("a-", 64), "o" + strings.Repeat("\u0302", 300),
	}
	for _, name := range long {
		for _, reason := range long {
			lines := layOut(t, Text{name, "0101302989", signedAt, reason})
			checkInside(t, lines)
			if t.Failed() {
				t.Fatalf("name %q, reason %q", name, reason)
			}
		}
	}
}

func checkInside(t *testing.T, lines []line) {
	t.Helper()
	for _, l := range lines {
		if l.size < 6 || l.size > 11 {
			t.Errorf("%q is set in %g points", l.text, l.size)
		}
		if top, bottom := l.y+l.size*highestMark/em, l.y+l.size*lowestMark/em; top > StandardSize.Height-0.5 || bottom < 0.5 {
			t.Errorf("%q reaches from %g to %g", l.text, bottom, top)
		}
		for _, g := range l.glyphs {
			left, right := l.x+l.size*float64(g.x)/em, l.x+l.size*float64(g.x+g.advance)/em
			if left < textLeft || right > textLeft+textWidth+0.1 {
				t.Errorf("%q has a character from %g to %g", l.text, left, right)
			}
		}
	}
}
