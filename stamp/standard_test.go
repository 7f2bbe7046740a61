package stamp

import (
	"bytes"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/text/unicode/norm"

	"github.com/innsigli/innsigli/internal/pdf"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
)

const (
	longWord   = "Vaðlaheiðarvegavinnuverkfærageymsluskúrslyklakippuhringurinn"
	longName   = "Aðalheiður Ingibjörg Þorsteinsdóttir Blöndal Guðmundsen Hafstein"
	longReason = "Samþykki ráðningarsamning fyrir hönd stjórnar félagsins með fyr."
)

// names are names of signers, in several scripts.
var names = map[string]string{
	"Icelandic":          "Þórður Ægir Öðinsson",
	"64 characters":      longName,
	"one long word":      longWord,
	"Polish":             "Łukasz Żółć",
	"Greek":              "Ελένη Παπαδοπούλου",
	"Cyrillic":           "Юрий Гагарин",
	"Vietnamese":         "Nguyễn Thị Ánh",
	"Chinese":            "北京",
	"Chinese and Latin":  "Li 北京 Wei",
	"emoji":              "Anna 😀🚀 Ösp",
	"Hebrew":             "דוד לוי",
	"combining accents":  "X\u0301an\u0303a G\u0323",
	"the same character": "北北北",
	"punctuation":        `O'Brien (\) <jón>`,
}

// TestLayout checks lines, font sizes and baselines.
func TestLayout(t *testing.T) {
	type placed struct {
		Text    string
		Weight  weight
		Size, Y float64
	}
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
		"longer name is smaller": {Text{Name: "Guðrún Sigríður Jónsdóttir", Time: signedAt}, []placed{
			{"Guðrún Sigríður Jónsdóttir", semiBold, 8.5, 29.715},
			{"22.11.2026 kl. 14:32:07", regular, 7.5, 19.215},
		}},
		"long name takes two lines": {named("Aðalheiður Ingibjörg Þorsteinsdóttir Blöndal"), []placed{
			{"Aðalheiður Ingibjörg", semiBold, 8, 43.694},
			{"Þorsteinsdóttir Blöndal", semiBold, 8, 34.094},
			{"Kt. 010130-2989", regular, 7.5, 23.594},
			{"22.11.2026 kl. 14:32:07", regular, 7.5, 14.594},
			{"Undirritun", regular, 7.5, 5.594},
		}},
		"name and reason of 64 characters": {Text{longName, "0101302989", signedAt, longReason}, []placed{
			{"Aðalheiður Ingibjörg Þorsteinsdóttir", semiBold, 6, 44.108},
			{"Blöndal Guðmundsen Hafstein", semiBold, 6, 36.908},
			{"Kt. 010130-2989", regular, 6, 28.208},
			{"22.11.2026 kl. 14:32:07", regular, 6, 21.008},
			{"Samþykki ráðningarsamning fyrir hönd", regular, 6, 13.808},
			{"stjórnar félagsins með fyr.", regular, 6, 6.608},
		}},
		"words of 64 wide characters are truncated": {Text{strings.Repeat("W", 64), "", time.Time{}, strings.Repeat("M", 64)}, []placed{
			{strings.Repeat("W", 19), semiBold, 6, 36.908},
			{strings.Repeat("W", 18) + "…", semiBold, 6, 29.708},
			{strings.Repeat("M", 20), regular, 6, 21.008},
			{strings.Repeat("M", 19) + "…", regular, 6, 13.808},
		}},
		"long word is divided, and nothing is larger": {Text{Name: longWord, Kennitala: "0101302989"}, []placed{
			{"Vaðlaheiðarvegavinnuverkfæragey", semiBold, 6.5, 33.730},
			{"msluskúrslyklakippuhringurinn", semiBold, 6.5, 25.930},
			{"Kt. 010130-2989", regular, 6.5, 16.630},
		}},
		"reason alone": {Text{Reason: "Undirritun"}, []placed{{"Undirritun", regular, 7.5, 24.823}}},
		"no text":      {Text{Name: "\u200b"}, nil},
	} {
		var got []placed
		for _, l := range layOut(t, test.text) {
			got = append(got, placed{l.text, l.weight, l.size, l.y})
		}
		if diff := cmp.Diff(test.want, got, cmpopts.EquateApprox(0, 0.001)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestStandard checks that qpdf finds no fault in a stamp, that its fonts are embedded
// subsets with Unicode, and that its text can be copied, even if the font lacks the characters. The
// same text gives the same bytes, in form NFD too, and another text gives others.
func TestStandard(t *testing.T) {
	for kind, name := range names {
		t.Run(kind, func(t *testing.T) {
			content, path := standard(t, named(name)), filepath.Join(t.TempDir(), "stamp.pdf")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(content, standard(t, named(norm.NFD.String(name)))) || bytes.Equal(content, standard(t, named(name+"x"))) {
				t.Error("the same text gives other bytes, or another text the same")
			}
			t.Run("qpdf", func(t *testing.T) {
				if warnings, err := validators.QPDFCheck(t, path); err != nil || len(warnings) > 0 {
					t.Errorf("got warnings %v, error %v", warnings, err)
				}
			})
			t.Run("pdffonts", func(t *testing.T) {
				lines := strings.Split(strings.TrimSpace(output(t, "pdffonts", path)), "\n")
				if len(lines) != 4 {
					t.Fatalf("got %q, want two fonts below two lines of headings", lines)
				}
				for _, line := range lines[2:] {
					tag, _, found := strings.Cut(line, "+")
					if !found || len(tag) != 6 || strings.Trim(tag, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" ||
						!strings.Contains(line, " CID TrueType      Identity-H       yes yes yes ") {
						t.Errorf("got %q, want a tag and a composite font, embedded, a subset, with Unicode", line)
					}
				}
			})
			t.Run("pdftotext", func(t *testing.T) {
				// Lines may break at spaces and within words. pdftotext encloses text from right to left.
				squeeze := strings.NewReplacer(" ", "", "\n", "", "\f", "", "\u202b", "", "\u202c", "").Replace
				want := squeeze(norm.NFC.String(name) + "Kt. 010130-2989" + "22.11.2026 kl. 14:32:07" + "Undirritun")
				if got := squeeze(norm.NFC.String(output(t, "pdftotext", path, "-"))); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			})
		})
	}
}

// output returns the output of a program, which must not print an error.
func output(t *testing.T, program string, arguments ...string) string {
	t.Helper()
	command := exec.Command(testenv.Program(t, program), arguments...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil || stderr.Len() > 0 {
		t.Errorf("%s: %v\n%s", program, err, stderr.String())
	}
	return string(out)
}

// TestStandardLeavesItsEdgesEmpty checks that half a point along the edges of a stamp has no ink.
func TestStandardLeavesItsEdgesEmpty(t *testing.T) {
	const dpi = 288
	for kind, text := range map[string]Text{
		"long":       {longName, "0101302989", signedAt, longReason},
		"wide":       {strings.Repeat("W", 64), "0101302989", signedAt, strings.Repeat("M", 64)},
		"many marks": {strings.Repeat("Ǻ\u0301\u0323 ", 40), "0101302989", signedAt, strings.Repeat("g\u0323\u0323\u0323", 40)},
		"boxes":      {strings.Repeat("北", 64), "0101302989", signedAt, strings.Repeat("😀", 64)},
	} {
		t.Run(kind, func(t *testing.T) {
			inViewers(t, standard(t, text), dpi, func(t *testing.T, page image.Image) {
				if size := page.Bounds().Size(); size != image.Pt(468, 220) {
					t.Fatalf("got a picture of %v, want 468 by 220", size)
				}
				inner := page.Bounds().Inset(dpi / 72 / 2)
				inked := 0
				for y := range page.Bounds().Max.Y {
					for x := range page.Bounds().Max.X {
						if r, g, b, _ := page.At(x, y).RGBA(); min(r, g, b) <= 0xf000 {
							inked++
							if !image.Pt(x, y).In(inner) {
								t.Fatalf("ink at %d, %d", x, y)
							}
						}
					}
				}
				if inked < 3000 {
					t.Errorf("got %d pixels of ink, want at least 3000", inked)
				}
			})
		})
	}
}

// TestStandardWithoutText checks that a stamp without text has no font.
func TestStandardWithoutText(t *testing.T) {
	page := standard(t, Text{})
	if bytes.Contains(page, []byte("/FontFile2")) {
		t.Error("the stamp has a font")
	}
	checkPage(t, page, StandardSize)
}

// FuzzStandard checks that any text gives a file of one page with every character inside the stamp
// and large enough to read. The seeds include texts of every length.
func FuzzStandard(f *testing.F) {
	for _, name := range names {
		f.Add(name, "0101302989", "Undirritun", signedAt.Unix())
	}
	f.Add("\u0301\u0301i\u0302 א\u0301ב \u202e-\xff\x00", "٠-", strings.Repeat("g\u0323", 600), int64(-1<<62))
	f.Add("O\u0308 \u202e\xff", "", "", int64(0))
	long := []string{
		"", longName, strings.Repeat("W", 64), strings.Repeat("Ǻ\u0301 ", 40), strings.Repeat("g\u0323\u0323", 40),
		strings.Repeat("北", 64), strings.Repeat("a-", 64), "o" + strings.Repeat("\u0302", 300),
	}
	for _, name := range long {
		for _, reason := range long {
			f.Add(name, "0101302989", reason, signedAt.Unix())
		}
	}
	f.Fuzz(func(t *testing.T, name, kennitala, reason string, at int64) {
		for _, s := range []string{name, kennitala, reason} {
			checkDisplayText(t, s)
		}
		text := Text{name, kennitala, time.Unix(at, 0), reason}
		checkPage(t, standard(t, text), StandardSize)
		checkInside(t, layOut(t, text))
	})
}

// checkInside checks that lines do not leave the stamp, and the size of their font.
func checkInside(t *testing.T, lines []line) {
	t.Helper()
	for _, l := range lines {
		if l.size < 6 || l.size > 11 {
			t.Errorf("%q has a font of %g points, want 6 to 11", l.text, l.size)
		}
		if top, bottom := l.y+l.size*highestMark/em, l.y+l.size*lowestMark/em; top > StandardSize.Height-0.5 || bottom < 0.5 {
			t.Errorf("%q is from %g to %g, outside the stamp", l.text, bottom, top)
		}
		for _, g := range l.glyphs {
			left, right := l.x+l.size*float64(g.x)/em, l.x+l.size*float64(g.x+g.advance)/em
			if left < textLeft || right > textLeft+textWidth+0.1 {
				t.Errorf("%q has a character from %g to %g, outside the stamp", l.text, left, right)
			}
		}
	}
}

// checkPage checks that a file has one page, of the given size.
func checkPage(t *testing.T, content []byte, want Size) {
	t.Helper()
	file, err := pdf.Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	page, err := file.Page(1)
	if err != nil {
		t.Fatal(err)
	}
	n, err := file.PageCount()
	if got := page.Visible(); got != (pdf.Rect{URX: want.Width, URY: want.Height}) || n != 1 || err != nil {
		t.Errorf("got %d pages of %v, error %v, want one of %v", n, got, err, want)
	}
}

func BenchmarkStandard(b *testing.B) {
	for b.Loop() {
		if _, err := Standard(named("Þórður Ægir Öðinsson")); err != nil {
			b.Fatal(err)
		}
	}
}

var signedAt = time.Date(2026, 11, 22, 14, 32, 7, 0, time.UTC)

// named returns the text of a stamp for a signer.
func named(name string) Text {
	return Text{Name: name, Kennitala: "0101302989", Time: signedAt, Reason: "Undirritun"}
}

func standard(t testing.TB, text Text) []byte {
	t.Helper()
	page, err := Standard(text)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func layOut(t testing.TB, text Text) []line {
	t.Helper()
	faces, err := readFaces()
	if err != nil {
		t.Fatal(err)
	}
	return faces.layOut(text)
}
