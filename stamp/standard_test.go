package stamp

import (
	"bytes"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"

	"github.com/innsigli/innsigli/internal/pdf"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
)

// names are what people and tests are called.
var names = map[string]string{
	"Icelandic":          "Þórður Ægir Öðinsson",
	"64 characters":      sixtyFourOfName,
	"one long word":      sixtyLetters,
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

func standard(t testing.TB, text Text) []byte {
	t.Helper()
	page, err := Standard(text)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// write writes a stamp to a file.
func write(t *testing.T, text Text) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "stamp.pdf")
	if err := os.WriteFile(path, standard(t, text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

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

// What programs copy from a stamp is what it says, also where the font has no glyph.
func TestTextIsCopied(t *testing.T) {
	for kind, name := range names {
		t.Run(kind, func(t *testing.T) {
			copied := output(t, "pdftotext", write(t, named(name)), "-")
			copied = strings.Map(func(r rune) rune {
				if r == '\u202b' || r == '\u202c' { // put around text from right to left
					return -1
				}
				return r
			}, copied)
			want := []string{norm.NFC.String(name), "Kt. 010130-2989", "22.11.2026 kl. 14:32:07", "Undirritun"}
			if diff := cmp.Diff(letters(strings.Join(want, "")), letters(norm.NFC.String(copied))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// letters is a text without its spaces, for lines may break at them and within words.
func letters(s string) string { return strings.Join(strings.Fields(s), "") }

func TestFontsAreEmbedded(t *testing.T) {
	for kind, name := range names {
		t.Run(kind, func(t *testing.T) {
			lines := strings.Split(strings.TrimSpace(output(t, "pdffonts", write(t, named(name)))), "\n")
			if len(lines) != 4 {
				t.Fatalf("want two fonts under the table's head:\n%s", strings.Join(lines, "\n"))
			}
			for _, line := range lines[2:] {
				font, _, _ := strings.Cut(line, " ")
				tag, _, _ := strings.Cut(font, "+")
				if len(tag) != 6 || strings.Trim(tag, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
					t.Errorf("no tag of a subset in %q", font)
				}
				if !strings.Contains(line, " CID TrueType      Identity-H       yes yes yes ") {
					t.Errorf("want a composite font, embedded, of a subset and with Unicode: %s", line)
				}
			}
		})
	}
}

func TestStandardIsSound(t *testing.T) {
	for kind, name := range names {
		t.Run(kind, func(t *testing.T) {
			path := write(t, named(name))
			if warnings, err := validators.QPDFCheck(t, path); err != nil || len(warnings) > 0 {
				t.Errorf("qpdf: %v %v", warnings, err)
			}
			output(t, "mutool", "clean", "-s", path, filepath.Join(t.TempDir(), "clean.pdf"))
		})
	}
}

// Half a point along the edges is empty, however much there is to say.
func TestStandardLeavesItsEdgesEmpty(t *testing.T) {
	for kind, text := range map[string]Text{
		"usual":      named("Jón Jónsson"),
		"full":       {sixtyFourOfName, "0101302989", signedAt, sixtyFourOfReason},
		"wide":       {strings.Repeat("W", 64), "0101302989", signedAt, strings.Repeat("M", 64)},
		"many marks": {strings.Repeat("Ǻ\u0301\u0323 ", 40), "0101302989", signedAt, strings.Repeat("g\u0323\u0323\u0323", 40)},
		"boxes":      {strings.Repeat("北", 64), "0101302989", signedAt, strings.Repeat("😀", 64)},
	} {
		t.Run(kind, func(t *testing.T) {
			const dpi = 288
			inViewers(t, standard(t, text), dpi, func(t *testing.T, page image.Image) {
				if size := page.Bounds().Size(); size != image.Pt(468, 220) {
					t.Fatalf("drawn %v large", size)
				}
				inner := page.Bounds().Inset(dpi / 72 / 2)
				inked := 0
				for y := range page.Bounds().Max.Y {
					for x := range page.Bounds().Max.X {
						r, g, b, _ := page.At(x, y).RGBA()
						if min(r, g, b) > 0xf000 {
							continue
						}
						inked++
						if !image.Pt(x, y).In(inner) {
							t.Fatalf("ink at %d, %d", x, y)
						}
					}
				}
				if inked < 3000 {
					t.Errorf("%d pixels are inked", inked)
				}
			})
		})
	}
}

func TestStandardIsDeterministic(t *testing.T) {
	for kind, name := range names {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			once := standard(t, named(name))
			if !bytes.Equal(once, standard(t, named(name))) {
				t.Error("the same text made other bytes")
			}
			if !bytes.Equal(once, standard(t, named(norm.NFD.String(name)))) {
				t.Error("the same text in form NFD made other bytes")
			}
			if bytes.Equal(once, standard(t, named(name+"x"))) {
				t.Error("another text made the same bytes")
			}
		})
	}
}

// A stamp that says nothing is its bar, and needs no font.
func TestStandardOfNothing(t *testing.T) {
	page := standard(t, Text{})
	if bytes.Contains(page, []byte("/FontFile2")) {
		t.Error("it has a font")
	}
	checkPage(t, page)
}

// checkPage wants a file of one page of the stamp's size.
func checkPage(t *testing.T, content []byte) {
	t.Helper()
	file, err := pdf.Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	page, err := file.Page(1)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(pdf.Rect{URX: StandardSize.Width, URY: StandardSize.Height}, page.Visible()); diff != "" {
		t.Error(diff)
	}
	if n, err := file.PageCount(); n != 1 || err != nil {
		t.Errorf("%d pages, %v", n, err)
	}
}
