package env

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ReadFile reads a file.
func ReadFile(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// EncapsulatedValues calls visit with each value of an element, such as "EncapsulatedCRLValue" of XAdES, in the signed XML
// files of the corpus. name is that of the file, and value is decoded and not empty.
func EncapsulatedValues(t testing.TB, element string, visit func(name string, value []byte)) {
	t.Helper()
	pattern := regexp.MustCompile(element + `[^>]*>([^<]+)<`)
	files, err := filepath.Glob(filepath.Join(Corpus(t, "signed/xml"), "*.xml"))
	NoError(t, err)
	for _, path := range files {
		for _, m := range pattern.FindAllSubmatch(ReadFile(t, path), -1) {
			text := strings.Join(strings.Fields(strings.ReplaceAll(string(m[1]), "&#13;", "")), "")
			if value, err := base64.StdEncoding.DecodeString(text); err == nil && len(value) > 0 {
				visit(filepath.Base(path), value)
			}
		}
	}
}

// Blocks returns the blocks of a language in a page of the repository, such as those of "toml" in "docs/production.md".
func Blocks(t testing.TB, page, language string) (blocks []string) {
	t.Helper()
	text := ReadFile(t, filepath.Join(Root(t), filepath.FromSlash(page)))
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllSubmatch(text, -1) {
		blocks = append(blocks, string(m[1]))
	}
	return blocks
}

// Picture returns a small PNG of one colour.
func Picture(t testing.TB, c color.Color) []byte {
	t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, 40, 10))
	draw.Draw(picture, picture.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
	var out bytes.Buffer
	if err := png.Encode(&out, picture); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// SameAsTable compares a table with that of a page of the repository, between the lines "<!-- mark -->" and "<!-- end -->".
// In .ci/full the page is written.
func SameAsTable(t testing.TB, page, mark, table string) {
	t.Helper()
	path := filepath.Join(Root(t), filepath.FromSlash(page))
	text := string(ReadFile(t, path))
	block := regexp.MustCompile(`(?s)(<!-- ` + mark + ` -->\n).*?(<!-- end -->)`)
	if !block.MatchString(text) {
		t.Fatalf("%s has no place for %s", page, mark)
	}
	whole := block.ReplaceAllString(text, "${1}\n"+strings.ReplaceAll(table, "$", "$$")+"\n${2}")
	if Full() {
		if err := os.WriteFile(path, []byte(whole), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(text, "\n"), strings.Split(whole, "\n")); diff != "" {
		t.Errorf("%s is not what the program says; INNSIGLI_FULL=1 go test -run %s writes it (-page +program):\n%s", page, t.Name(), diff)
	}
}
